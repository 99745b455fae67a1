package worker

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// documented are the comments of all options that are numbers or times, and their names in order.
func documented(t *testing.T) (names []string, comments map[string]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "options.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string]*ast.StructType{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			groups[spec.Name.Name], _ = spec.Type.(*ast.StructType)
		}
		return true
	})
	comments = map[string]string{}
	var walk func(group, prefix string)
	walk = func(group, prefix string) {
		for _, field := range groups[group].Fields.List {
			name := prefix + field.Names[0].Name
			if kind, ok := field.Type.(*ast.Ident); ok && groups[kind.Name] != nil {
				walk(kind.Name, name+".")
				continue
			}
			switch fieldOf(t, &Options{}, name).Interface().(type) {
			case int, time.Duration:
				names = append(names, name)
				comments[name] = strings.Join(strings.Fields(field.Doc.Text()), " ")
			}
		}
	}
	walk("Options", "")
	return names, comments
}

// fieldOf is the option of a name.
func fieldOf(t *testing.T, o *Options, name string) reflect.Value {
	t.Helper()
	value := reflect.ValueOf(o).Elem()
	for part := range strings.SplitSeq(name, ".") {
		if value = value.FieldByName(part); !value.IsValid() {
			t.Fatalf("there is no option %s", name)
		}
	}
	return value
}

// inWords writes a value as comments do.
func inWords(t *testing.T, name string, value int64) string {
	t.Helper()
	if fieldOf(t, &Options{}, name).Type() == reflect.TypeFor[time.Duration]() && value != 0 {
		for _, unit := range []struct {
			is, from time.Duration
			name     string
		}{{time.Minute, 2 * time.Minute, "min"}, {time.Second, time.Second, "s"}, {time.Millisecond, 0, "ms"}} {
			if time.Duration(value) >= unit.from && time.Duration(value)%unit.is == 0 {
				return fmt.Sprintf("%d %s", time.Duration(value)/unit.is, unit.name)
			}
		}
		t.Fatalf("%s: no words for %v", name, time.Duration(value))
	}
	if value >= 1<<20 && value%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", value>>20)
	}
	if value >= 1000 {
		return fmt.Sprintf("%d,%03d", value/1000, value%1000)
	}
	return fmt.Sprint(value)
}

// The table has each option that is a number or a time, in the order of Options, and the option's comment says the
// same of it: the default, the least and the most, and the constant that switches it off.
func TestOptionsAreDocumented(t *testing.T) {
	t.Parallel()
	names, comments := documented(t)
	var inTable []string
	constants := regexp.MustCompile(`\[(None|Unlimited|Never|Forever|AtOnce)\]`)
	for _, n := range new(settings).numbers(&Options{}) {
		inTable = append(inTable, n.name)
		comment := comments[n.name]
		says := func(pattern string, value int64) {
			t.Helper()
			words := inWords(t, n.name, value)
			if !regexp.MustCompile(pattern + " " + words + `\b`).MatchString(comment) {
				t.Errorf("%s: the comment does not say %s %s: %s", n.name, pattern, words, comment)
			}
		}
		says("[Dd]efault", n.standard)
		if n.least > 0 {
			says("at least", n.least)
		}
		if n.most > 0 && n.most < math.MaxInt32 {
			says("at most", n.most)
		}
		off := ""
		if match := constants.FindStringSubmatch(comment); match != nil {
			off = match[1]
		}
		if off != n.off {
			t.Errorf("%s: the comment names the constant %q, the table %q", n.name, off, n.off)
		}
	}
	if diff := cmp.Diff(names, inTable); diff != "" {
		t.Errorf("options (-in options.go +in the table):\n%s", diff)
	}
}

// Each option changes one setting, which no other option changes.
func TestOptionsBecomeSettings(t *testing.T) {
	t.Parallel()
	resolved := func(change func(*Options)) reflect.Value {
		var o Options
		change(&o)
		s := settings{}
		for _, n := range s.numbers(&o) {
			if err := n.resolve(); err != nil {
				t.Fatal(err)
			}
		}
		return reflect.ValueOf(s)
	}
	normal := resolved(func(*Options) {})
	by := map[string]string{}
	for _, n := range new(settings).numbers(&Options{}) {
		value := max(n.least, 77) + 1
		got := resolved(func(o *Options) { fieldOf(t, o, n.name).SetInt(value) })
		var changed []string
		for i := range got.NumField() {
			if !reflect.DeepEqual(got.Field(i).Interface(), normal.Field(i).Interface()) {
				changed = append(changed, got.Type().Field(i).Name)
			}
		}
		if len(changed) != 1 || by[changed[0]] != "" || fmt.Sprint(got.FieldByName(changed[0])) != n.text(value) {
			t.Errorf("%s changed %v, and %v was changed by others", n.name, changed, by)
			continue
		}
		by[changed[0]] = n.name
	}
}

// Negative values are refused but for the constant that the option takes, and so are values beyond its bounds. The
// error names the option as it is written in a program.
func TestOptionsAreBounded(t *testing.T) {
	t.Parallel()
	for _, n := range new(settings).numbers(&Options{}) {
		refused := map[int64]string{-2: n.name + " is negative"}
		if n.off == "" {
			refused[-1] = n.name + " is negative"
		} else {
			refused[-2] += " (" + n.text(-2) + "); the only negative value that it takes is worker." + n.off
		}
		if n.least > 1 {
			refused[n.least-1] = n.name + " is " + n.text(n.least-1) + "; the least is " + n.text(n.least)
		}
		if n.most > 0 {
			refused[n.most+1] = n.name + " is " + n.text(n.most+1) + "; the most is " + n.text(n.most)
		}
		for value, want := range refused {
			var o Options
			fieldOf(t, &o, n.name).SetInt(value)
			if _, err := o.resolve(); !errors.Is(err, ErrInvalidOptions) || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v; want %q", err, want)
			}
		}
		if n.off != "" {
			var o Options
			fieldOf(t, &o, n.name).SetInt(-1)
			if _, err := o.resolve(); err != nil {
				t.Errorf("%s is worker.%s: %v", n.name, n.off, err)
			}
		}
	}
}
