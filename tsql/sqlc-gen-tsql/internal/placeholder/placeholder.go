// Package placeholder gives the placeholders of installers and tools their values: {name} of installers such as DNN's,
// $(name) of sqlcmd, and <name, type, default> of SQL Server Management Studio's templates. Servers never see them, and
// the parser doesn't know them. What is found in the text with its values is reported at its place in the text as it is
// written.
//
// Reading order: placeholder.go has the values and what is said of those that are missing; scan.go finds placeholders
// in a text; sqlcmd.go reads the lines that sqlcmd takes for itself.
package placeholder

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// rule marks the findings of this package.
const rule = "placeholder"

// A Filler holds the values of placeholders while one script after another is read.
type Filler struct {
	values    map[string]setting // of the configuration, by folded name
	variables map[string]string  // of :setvar, by folded name; they hold until the last script, as in sqlcmd
	written   map[string]string  // the names that the scripts have, as they are written first
	missing   map[string]*missing
}

// A setting is a value of the configuration with the name as it is written there.
type setting struct{ name, value string }

// missing is a placeholder without a value.
type missing struct {
	file   *diag.File
	at     diag.Span // its first place, in the text with the values
	text   string    // as it is written there
	name   string
	places int
}

// New returns a filler with the values of a configuration. Case doesn't count in names, as in sqlcmd.
func New(values map[string]string) *Filler {
	f := &Filler{
		values:    map[string]setting{},
		variables: map[string]string{},
		written:   map[string]string{},
		missing:   map[string]*missing{},
	}
	for name, value := range values {
		f.values[fold(name)] = setting{name, value}
	}
	return f
}

func fold(name string) string { return strings.ToLower(name) }

// File returns a script with the values in the place of its placeholders, and where in its text some have none. Their
// names stand there, so that the rest of the script can be read.
func (f *Filler) File(name, text string) (*diag.File, []diag.Span) {
	s := scanner{filler: f, text: strings.TrimPrefix(text, "\ufeff")}
	s.scan()
	edits := make([]diag.Edit, len(s.edits))
	for i, e := range s.edits {
		edits[i] = e.Edit
	}
	file, places := diag.NewEditedFile(name, s.text, edits)
	var gaps []diag.Span
	for i, e := range s.edits {
		if e.missing {
			gaps = append(gaps, places[i])
			f.miss(file, places[i], e)
		}
	}
	return file, gaps
}

// miss records a place of a placeholder without a value.
func (f *Filler) miss(file *diag.File, at diag.Span, e edit) {
	m := f.missing[fold(e.name)]
	if m == nil {
		m = &missing{file: file, at: at, text: e.written, name: e.name}
		f.missing[fold(e.name)] = m
	}
	m.places++
}

// Findings returns one finding for each placeholder without a value, and one for each value without a placeholder, so
// that the configuration can't go stale.
func (f *Filler) Findings() diag.List {
	var found diag.List
	for _, m := range f.missing {
		fix := "set it in the configuration, as in placeholders: {" + quoted(m.name) + ": value}"
		found.Add(m.file, m.at, rule, fix, "the placeholder %s has no value (at %s)", m.text, diag.Count(m.places, "place"))
	}
	for name, s := range f.values {
		if f.written[name] == "" {
			found.Add(nil, diag.Span{}, rule, "remove it from placeholders", "no script has the placeholder %s", s.name)
			found.Meant(func() string {
				if near := f.written[diag.Nearest(name, slices.Collect(maps.Keys(f.written)))]; near != "" {
					return "did you mean " + near + "?"
				}
				return ""
			})
		}
	}
	found.Sort()
	return found
}

// quoted returns a name as it stands in YAML; those of templates may have blanks in them, or begin with an @.
func quoted(name string) string {
	if strings.HasPrefix(name, "@") {
		return `"` + name + `"`
	}
	return name
}

// value returns the value that the configuration has for a placeholder.
func (f *Filler) value(name string) (string, bool) {
	f.written[fold(name)] = cmp.Or(f.written[fold(name)], name)
	s, ok := f.values[fold(name)]
	return s.value, ok
}
