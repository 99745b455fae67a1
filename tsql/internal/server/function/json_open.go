package function

import (
	"encoding/base64"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// JSONRows is OPENJSON without WITH: a row for each member of an object or element of an array.
type JSONRows struct{ list *members }

// OpenJSON opens a document at a path; an empty path is the whole document. A document that is NULL has no rows, which
// is for the caller to see.
func OpenJSON(doc, path string) (*JSONRows, error) {
	v, err := openAt(doc, path)
	if err != nil || v < 0 {
		return &JSONRows{}, err
	}
	list := membersOf(doc, v)
	return &JSONRows{list: &list}, nil
}

// openAt returns where the object or array begins that the path leads to; -1 if there is none and that is no error.
func openAt(doc, path string) (int, error) {
	if path == "" {
		path = "$"
	}
	p, err := parsePath(path)
	if err != nil {
		return -1, err
	}
	if p.append || p.identity {
		return -1, badPath(path, 0)
	}
	i := blank(doc, 0)
	if c := at(doc, i); c != '{' && c != '[' {
		return -1, unexpected(doc, i)
	}
	for _, step := range p.steps {
		var found bool
		i, found, err = step.take(doc, i)
		if err != nil {
			return -1, err
		}
		if !found {
			if p.strict {
				err = fault.New(13608)
			}
			return -1, err
		}
		i = blank(doc, i)
	}
	if c := at(doc, i); c == '{' || c == '[' {
		return i, nil
	}
	if p.strict {
		return -1, fault.New(13611)
	}
	return -1, nil
}

// Next goes to the next row. An error says that the document is broken from here on.
func (r *JSONRows) Next() (bool, error) {
	if r.list == nil {
		return false, nil
	}
	return r.list.step()
}

// Row returns the key, the value and the type (0 null, 1 string, 2 number, 3 truth value, 4 array, 5 object) of a row.
func (r *JSONRows) Row() (key, val, kind value.Value) {
	v := r.list.value
	key, kind = value.OfString(r.list.key()), value.OfInt(int64(v.kind))
	if v.kind != jsonNull {
		val = value.OfString(v.scalar(r.list.s))
	}
	return key, val, kind
}

// JSONColumn is a column of OPENJSON … WITH.
type JSONColumn struct {
	Name   string
	Type   value.Type
	Path   string // empty for the member of the column's name
	AsJSON bool
}

// JSONShape is what OPENJSON … WITH makes of each row.
type JSONShape struct{ columns []shapedColumn }

type shapedColumn struct {
	JSONColumn
	path jsonPath
}

// NewJSONShape reads the paths of the columns.
func NewJSONShape(columns []JSONColumn) (*JSONShape, error) {
	shape := &JSONShape{}
	for _, c := range columns {
		path := jsonPath{steps: []jsonStep{{key: c.Name, index: -1}}}
		if c.Path != "" {
			var err error
			if path, err = parsePath(c.Path); err != nil {
				return nil, err
			}
			if path.append {
				return nil, badPath(c.Path, 0)
			}
		}
		shape.columns = append(shape.columns, shapedColumn{c, path})
	}
	return shape, nil
}

// JSONTable is OPENJSON … WITH: a row for each element of an array, or one row for an object.
type JSONTable struct {
	shape *JSONShape
	doc   string
	list  *members // of an array
	at    int      // of an object; -1 when it has been read
	row   int64
}

// Open opens a document at a path as OpenJSON does.
func (s *JSONShape) Open(doc, path string) (*JSONTable, error) {
	t := &JSONTable{shape: s, doc: doc}
	var err error
	if t.at, err = openAt(doc, path); err != nil || t.at < 0 {
		return t, err
	}
	if doc[t.at] == '[' {
		list := membersOf(doc, t.at)
		t.list, t.at = &list, -1
	}
	return t, nil
}

// Next returns the values of the next row, or false behind the last one.
func (t *JSONTable) Next() ([]value.Value, bool, error) {
	switch {
	case t.list != nil:
		ok, err := t.list.begin()
		if !ok || err != nil {
			return nil, false, err
		}
		row, end, err := t.read(t.list.next)
		t.list.next = end
		return row, err == nil, err
	case t.at >= 0:
		row, _, err := t.read(t.at)
		t.at = -1
		return row, err == nil, err
	default:
		return nil, false, nil
	}
}

// read makes a row of the value at i and returns where the value ends. It reads an object once for all columns.
func (t *JSONTable) read(i int) (row []value.Value, end int, err error) {
	i = blank(t.doc, i)
	spans := make([]jsonSpan, len(t.shape.columns))
	found := make([]bool, len(spans))
	if at(t.doc, i) == '{' {
		end, err = t.readObject(i, spans, found)
	} else {
		end, err = t.readOther(i, spans, found)
	}
	if err != nil {
		return nil, end, err
	}
	row = make([]value.Value, len(spans))
	for k := range spans {
		c := &t.shape.columns[k]
		switch {
		case c.path.identity:
			row[k], err = value.Convert(value.OfInt(t.row), typeBigInt, c.Type, 0)
		case found[k]:
			row[k], err = c.value(t.doc, spans[k])
		case c.path.strict:
			err = fault.New(13608)
		}
		if err != nil {
			return nil, end, err
		}
	}
	t.row++
	return row, end, nil
}

// readObject finds the values of the columns in the object at i.
func (t *JSONTable) readObject(i int, spans []jsonSpan, found []bool) (int, error) {
	list := membersOf(t.doc, i)
	for {
		ok, err := list.step()
		if err != nil {
			return list.next, err
		}
		if !ok {
			break
		}
		for k := range t.shape.columns {
			steps := t.shape.columns[k].path.steps
			if found[k] || len(steps) == 0 || (steps[0].index >= 0 || !steps[0].leadsTo(&list)) {
				continue
			}
			spans[k], found[k] = list.value, true
			if len(steps) > 1 {
				if spans[k], found[k], err = findFrom(t.doc, list.value.from, steps[1:]); err != nil {
					return list.next, err
				}
			}
		}
	}
	t.whole(jsonSpan{i, list.next, jsonObject}, spans, found)
	return list.next, nil
}

// readOther finds the values of the columns in a value that is no object.
func (t *JSONTable) readOther(i int, spans []jsonSpan, found []bool) (int, error) {
	v, err := scanValue(t.doc, i)
	if err != nil {
		return v.to, err
	}
	for k := range t.shape.columns {
		if steps := t.shape.columns[k].path.steps; len(steps) > 0 {
			if spans[k], found[k], err = findFrom(t.doc, i, steps); err != nil {
				return v.to, err
			}
		}
	}
	t.whole(v, spans, found)
	return v.to, nil
}

// whole gives the columns with the path $ the value itself.
func (t *JSONTable) whole(v jsonSpan, spans []jsonSpan, found []bool) {
	for k := range t.shape.columns {
		if p := t.shape.columns[k].path; len(p.steps) == 0 && !p.identity {
			spans[k], found[k] = v, true
		}
	}
}

// value converts a JSON value to the type of the column.
func (c *shapedColumn) value(doc string, v jsonSpan) (value.Value, error) {
	switch {
	case v.kind == jsonNull:
		return value.Value{}, nil
	case c.AsJSON && v.container():
		return value.OfString(v.raw(doc)), nil
	case c.AsJSON && c.path.strict:
		return value.Value{}, fault.New(13624)
	case v.container() && !c.AsJSON && c.path.strict:
		return value.Value{}, fault.New(13623)
	case v.container() || c.AsJSON:
		return value.Value{}, nil
	}
	text := v.scalar(doc)
	switch {
	case c.Type.IsBinary() && c.Type.Kind != sqltype.RowVersion:
		return c.decode(text)
	case c.Type.IsCharacter() && !c.Type.IsLOB() && c.tooLong(text):
		if c.path.strict {
			return value.Value{}, fault.New(13625)
		}
		return value.Value{}, nil
	}
	// Only a word can be a truth value here: "true" and true are the same to CONVERT.
	return value.Convert(value.OfString(text), typeMaxText, c.Type, 0)
}

// tooLong reports whether a text doesn't fit the column.
func (c *shapedColumn) tooLong(text string) bool {
	switch {
	case len(text) <= c.Type.Length:
		return false
	case c.Type.IsNational():
		return value.UTF16Len(text) > c.Type.Length
	default:
		return len(value.EncodeVarchar(nil, text, c.Type.Collation)) > c.Type.Length
	}
}

// decode reads Base64, which binary values are in JSON.
func (c *shapedColumn) decode(text string) (value.Value, error) {
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return value.Value{}, fault.New(13612)
	}
	v := value.OfBytes(b)
	if !c.Type.IsMax() && len(b) > c.Type.Length {
		if c.path.strict {
			return value.Value{}, fault.New(13625)
		}
		return value.Value{}, nil
	}
	return value.Convert(v, value.VarBinary(sqltype.Max), c.Type, 0)
}
