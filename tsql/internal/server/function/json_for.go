package function

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// JSONField is a column of a query with FOR JSON.
type JSONField struct {
	Name string // a dot nests: a.b is the member b of the object a
	Type value.Type
	JSON bool // the column is JSON (see IsJSON) and not text to be quoted
	// Table is of AUTO alone: the alias of the table whose column it is; empty for other expressions.
	Table string
}

// JSONOptions are what stands behind FOR JSON.
type JSONOptions struct {
	Auto           bool   // AUTO; else PATH
	Root           string // of ROOT; the name is "root" if the option has none
	HasRoot        bool
	IncludeNulls   bool // INCLUDE_NULL_VALUES
	WithoutWrapper bool // WITHOUT_ARRAY_WRAPPER
}

// JSONWriter makes the text of FOR JSON of rows.
type JSONWriter struct {
	options JSONOptions
	fields  []JSONField
	tree    *jsonNode   // of PATH
	levels  []jsonLevel // of AUTO
	dst     []byte
	rows    int
}

// jsonNode is an object, or a member if it has a field.
type jsonNode struct {
	name    string // as it is written, with quotation marks and colon
	key     string
	field   int // -1 for an object
	members []*jsonNode
}

// NewJSONWriter checks the names of the columns.
func NewJSONWriter(options JSONOptions, fields []JSONField) (*JSONWriter, error) {
	if options.HasRoot && options.WithoutWrapper {
		return nil, fault.New(13620)
	}
	w := &JSONWriter{options: options, fields: fields, tree: &jsonNode{field: -1}}
	for i, f := range fields {
		if f.Name == "" {
			return nil, fault.New(13605)
		}
		if options.Auto {
			continue
		}
		if strings.HasPrefix(f.Name, ".") || strings.HasSuffix(f.Name, ".") || strings.Contains(f.Name, "..") {
			return nil, fault.New(13603, f.Name)
		}
		if !w.tree.add(strings.Split(f.Name, "."), i) {
			return nil, fault.New(13601, f.Name)
		}
	}
	if options.Auto {
		w.levels = levelsOf(fields)
	}
	return w, nil
}

// newNode returns a member of a name.
func newNode(name string, field int) *jsonNode {
	return &jsonNode{key: name, name: string(append(appendQuoted(nil, name), ':')), field: field}
}

// add puts a field into the tree. It fails if the name is taken, or if an object would have to be opened again.
func (n *jsonNode) add(path []string, field int) bool {
	for i, m := range n.members {
		if m.key != path[0] {
			continue
		}
		if len(path) == 1 || m.field >= 0 || i < len(n.members)-1 {
			return false
		}
		return m.add(path[1:], field)
	}
	if len(path) == 1 {
		n.members = append(n.members, newNode(path[0], field))
		return true
	}
	object := newNode(path[0], -1)
	n.members = append(n.members, object)
	return object.add(path[1:], field)
}

// Row adds a row.
func (w *JSONWriter) Row(values []value.Value) error {
	if w.options.Auto {
		return w.autoRow(values)
	}
	if w.rows > 0 {
		w.dst = append(w.dst, ',')
	}
	w.rows++
	w.dst = append(w.dst, '{')
	_, err := w.object(w.tree, values)
	w.dst = append(w.dst, '}')
	return err
}

// object writes the members of an object and reports whether there were any. An object without members is left out.
func (w *JSONWriter) object(n *jsonNode, values []value.Value) (bool, error) {
	some := false
	for _, m := range n.members {
		if m.field >= 0 && values[m.field].IsNull() && !w.options.IncludeNulls {
			continue
		}
		before := len(w.dst)
		if some {
			w.dst = append(w.dst, ',')
		}
		w.dst = append(w.dst, m.name...)
		if m.field >= 0 {
			if err := w.value(m.field, values[m.field]); err != nil {
				return some, err
			}
			some = true
			continue
		}
		w.dst = append(w.dst, '{')
		inner, err := w.object(m, values)
		if err != nil {
			return some, err
		}
		if !inner {
			w.dst = w.dst[:before]
			continue
		}
		w.dst = append(w.dst, '}')
		some = true
	}
	return some, nil
}

func (w *JSONWriter) value(field int, v value.Value) error {
	var err error
	w.dst, err = appendJSON(w.dst, v, w.fields[field].Type, w.fields[field].JSON)
	return err
}

// Text returns the document; NULL if there was no row.
func (w *JSONWriter) Text() value.Value {
	if w.rows == 0 {
		return value.Value{}
	}
	if w.options.Auto {
		w.closeLevels(0)
	}
	if w.options.WithoutWrapper {
		return value.OfString(string(w.dst))
	}
	dst := make([]byte, 0, len(w.dst)+len(w.options.Root)+8)
	if w.options.HasRoot {
		root := w.options.Root
		if root == "" {
			root = "root"
		}
		dst = append(appendQuoted(append(dst, '{'), root), ':')
	}
	dst = append(append(append(dst, '['), w.dst...), ']')
	if w.options.HasRoot {
		dst = append(dst, '}')
	}
	return value.OfString(string(dst))
}

// jsonLevel is a table of FOR JSON AUTO: the tables nest in the order in which their columns come first.
type jsonLevel struct {
	name   string // with quotation marks and colon; unused for the first level
	table  string
	fields []*jsonNode
	last   []value.Value // the values of the object that is open; nil if none is
}

// levelsOf makes a level of each table. A column of no table belongs to the level of the column before it.
func levelsOf(fields []JSONField) []jsonLevel {
	var levels []jsonLevel
	current := 0
	for i, f := range fields {
		if f.Table != "" {
			current = -1
			for k := range levels {
				if levels[k].table == f.Table || levels[k].table == "" {
					levels[k].table = f.Table
					current = k
				}
			}
			if current < 0 {
				current = len(levels)
			}
		}
		if current == len(levels) {
			levels = append(levels, jsonLevel{table: f.Table, name: newNode(f.Table, -1).name})
		}
		levels[current].fields = append(levels[current].fields, newNode(f.Name, i))
	}
	return levels
}

// autoRow writes a row of FOR JSON AUTO. An object of an outer table takes in all rows that follow one another and have
// the same values for it.
func (w *JSONWriter) autoRow(values []value.Value) error {
	keep := 0
	for keep < len(w.levels)-1 && w.levels[keep].open(values) {
		keep++
	}
	w.closeLevels(keep)
	w.rows++
	for i := keep; i < len(w.levels); i++ {
		level := &w.levels[i]
		switch {
		case i > keep:
			w.comma()
			w.dst = append(append(w.dst, level.name...), '[')
		case len(w.dst) > 0:
			w.comma()
		}
		w.dst = append(w.dst, '{')
		level.last = values
		if _, err := w.object(&jsonNode{members: level.fields}, values); err != nil {
			return err
		}
	}
	return nil
}

// open reports whether the open object of the level has the values of a row.
func (l *jsonLevel) open(values []value.Value) bool {
	if l.last == nil {
		return false
	}
	for _, f := range l.fields {
		if !l.last[f.field].Equal(values[f.field]) {
			return false
		}
	}
	return true
}

// comma parts what has been written of a container from what comes.
func (w *JSONWriter) comma() {
	if c := w.dst[len(w.dst)-1]; c != '[' && c != '{' {
		w.dst = append(w.dst, ',')
	}
}

// closeLevels ends the open objects from a level on, and the arrays of those below it.
func (w *JSONWriter) closeLevels(from int) {
	for i := len(w.levels) - 1; i >= from; i-- {
		if w.levels[i].last == nil {
			continue
		}
		w.levels[i].last = nil
		w.dst = append(w.dst, '}')
		if i > from {
			w.dst = append(w.dst, ']')
		}
	}
}
