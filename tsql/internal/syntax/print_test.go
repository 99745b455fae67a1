package syntax

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// sexpr prints any part of the tree on one line: (Type field=value …). Spans and zero fields are left out, the fields
// X, Y and Op stand without their names, and leaves are printed as they are written.
func sexpr(n any) string {
	var out strings.Builder
	printValue(&out, reflect.ValueOf(n))
	return out.String()
}

func printValue(out *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid:
		out.WriteString("nil")
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			out.WriteString("nil")
			return
		}
		printValue(out, v.Elem())
	case reflect.Slice:
		out.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				out.WriteByte(' ')
			}
			printValue(out, v.Index(i))
		}
		out.WriteByte(']')
	case reflect.String:
		if s := v.String(); s == "" || strings.ContainsAny(s, " ()[]\n") {
			fmt.Fprintf(out, "%q", s)
		} else {
			out.WriteString(s)
		}
	case reflect.Struct:
		if leaf, ok := printLeaf(v.Interface()); ok {
			out.WriteString(leaf)
			return
		}
		printStruct(out, v)
	default:
		fmt.Fprint(out, v.Interface())
	}
}

func printStruct(out *strings.Builder, v reflect.Value) {
	fmt.Fprintf(out, "(%s", v.Type().Name())
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Type == reflect.TypeFor[diag.Span]() || v.Field(i).IsZero() {
			continue
		}
		switch {
		case field.Type.Kind() == reflect.Bool:
			fmt.Fprintf(out, " %s", field.Name)
			continue
		case field.Name == "X" || field.Name == "Y" || field.Name == "Op":
			out.WriteByte(' ')
		default:
			fmt.Fprintf(out, " %s=", field.Name)
		}
		printValue(out, v.Field(i))
	}
	out.WriteByte(')')
}

// printLeaf prints what has a spelling of its own.
func printLeaf(n any) (string, bool) {
	switch n := n.(type) {
	case Ident:
		if n.Quoted {
			return "[" + n.Value + "]", true
		}
		return n.Value, true
	case ObjectName:
		return dotted(n.Parts), true
	case ColumnRef:
		return dotted(n.Parts), true
	case Star:
		return strings.TrimPrefix(dotted(n.Qualifier)+".*", "."), true
	case Variable:
		return n.Name, true
	case SystemVariable:
		return n.Name, true
	case TypeName:
		if n.Collection != nil {
			return "type:" + dotted(n.Name.Parts) + "(" + dotted(n.Collection.Parts) + ")", true
		}
		if len(n.Args) == 0 {
			return "type:" + dotted(n.Name.Parts), true
		}
		args := make([]string, len(n.Args))
		for i, a := range n.Args {
			args[i] = a.Value
		}
		return "type:" + dotted(n.Name.Parts) + "(" + strings.Join(args, ",") + ")", true
	case Literal:
		switch n.Kind {
		case StringLiteral:
			return "'" + n.Value + "'", true
		case NStringLiteral:
			return "N'" + n.Value + "'", true
		case FloatLiteral:
			return "float:" + n.Value, true
		case DecimalLiteral:
			return "dec:" + n.Value, true
		default:
			return strings.ToUpper(n.Value), true
		}
	default:
		return "", false
	}
}

func dotted(parts []Ident) string {
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i], _ = printLeaf(p)
	}
	return strings.Join(words, ".")
}

// parseWith runs one production over a whole text and returns its result, or nil, with the findings.
func parseWith[T any](text string, production func(*parser) T) (result T, found diag.List) {
	file := diag.NewFile("t.sql", text)
	p := &parser{file: file}
	p.tokens, p.comments = lex(file, &p.found)
	func() {
		defer func() {
			if r := recover(); r != nil && r != (syntaxError{}) {
				panic(r)
			}
		}()
		result = production(p)
		if p.peek().kind != tokenEOF {
			p.failExpected("the end")
		}
	}()
	p.found.Sort()
	return result, p.found
}

// errorsOf prints findings as line:column: message, without the name of the file and the rule.
func errorsOf(found diag.List) string {
	lines := make([]string, len(found))
	for i, d := range found {
		line, column := d.File.Position(d.Span.From)
		lines[i] = fmt.Sprintf("%d:%d: %s", line, column, d.Message)
	}
	return strings.Join(lines, "\n")
}

// A parseCase is a text with the tree it yields, or the errors.
type parseCase struct {
	text string
	want string
}

// runCases checks texts that parse.
func runCases[T any](t *testing.T, production func(*parser) T, cases []parseCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			got, found := parseWith(c.text, production)
			if len(found) > 0 {
				t.Fatalf("%s\n%s", c.text, found.Format())
			}
			if s := sexpr(got); s != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.text, s, c.want)
			}
		})
	}
}

// runErrors checks texts that don't parse.
func runErrors[T any](t *testing.T, production func(*parser) T, cases []parseCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			got, found := parseWith(c.text, production)
			if s := errorsOf(found); s != c.want {
				t.Errorf("%s\n got %s\nwant %s\ntree %s", c.text, s, c.want, sexpr(got))
			}
		})
	}
}
