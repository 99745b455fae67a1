package function

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/server/xmltext"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// XMLField is a column of a query with FOR XML.
type XMLField struct {
	Name string // of PATH: "@a" is an attribute, "a/b" nests, "text()" and "*" are content
	Type value.Type
}

// XMLOptions are what stands behind FOR XML.
type XMLOptions struct {
	Raw      bool   // RAW; else PATH
	Row      string // the name of the element of a row; empty for none
	Elements bool   // of RAW: columns are elements
	Root     string // of ROOT; empty for none
	Type     bool   // TYPE: the result is an xml
}

// XMLWriter makes the text of FOR XML of rows.
type XMLWriter struct {
	options XMLOptions
	fields  []xmlField
	dst     []byte
	rows    int
}

// xmlField is a column with where its value goes.
type xmlField struct {
	XMLField

	elements  []string // around the value
	attribute string   // empty for content
	list      bool     // data(): a blank parts the value from that of the column before
}

// NewXMLWriter checks the names and the types of the columns.
func NewXMLWriter(options XMLOptions, fields []XMLField) (*XMLWriter, error) {
	w := &XMLWriter{options: options}
	for _, f := range fields {
		place, err := w.place(f)
		if err != nil {
			return nil, err
		}
		if _, err := xmlStyle(f.Type, options.Raw); err != nil {
			return nil, err
		}
		w.fields = append(w.fields, place)
	}
	for i, f := range w.fields {
		if f.attribute != "" && i > 0 && w.fields[i-1].attribute == "" && shared(f.elements, w.fields[i-1].elements) == len(f.elements) {
			return nil, fault.New(6852, f.Name)
		}
	}
	return w, nil
}

// place finds out where the value of a column goes.
func (w *XMLWriter) place(f XMLField) (xmlField, error) {
	out := xmlField{XMLField: f}
	if w.options.Raw {
		switch {
		case f.Name == "":
			return out, fault.New(6809)
		case !isXMLName(f.Name):
			return out, unsupported("FOR XML RAW of a column named %s", f.Name)
		case w.options.Elements:
			out.elements = []string{f.Name}
		default:
			out.attribute = f.Name
		}
		return out, nil
	}
	if f.Name == "" || f.Name == "*" || f.Name == "node()" {
		return out, nil
	}
	steps := strings.Split(f.Name, "/")
	for i, step := range steps {
		last := i == len(steps)-1
		name, isAttribute := strings.CutPrefix(step, "@")
		switch {
		case last && (step == "text()" || step == "node()" || step == "*"):
		case last && step == "data()":
			out.list = true
		case strings.HasSuffix(step, ")"):
			return out, unsupported("the column %s of FOR XML PATH", f.Name)
		case !isXMLName(name) || isAttribute && !last:
			return out, fault.New(6850, "Column", f.Name, string(firstWrong(name)), firstWrong(name))
		case isAttribute && i == 0 && w.options.Row == "":
			return out, fault.New(6864)
		case isAttribute:
			out.attribute = name
		default:
			out.elements = append(out.elements, step)
		}
	}
	return out, nil
}

// isXMLName reports a name without prefix. Those with letters beyond ASCII are left out.
func isXMLName(s string) bool { return s != "" && firstWrong(s) == 0 }

// firstWrong is the first character that a name may not have, 0 if there is none.
func firstWrong(s string) rune {
	for i, r := range s {
		letter := r|0x20 >= 'a' && r|0x20 <= 'z' || r == '_'
		if !letter && (i == 0 || r != '-' && r != '.' && (r < '0' || r > '9')) {
			return r
		}
	}
	return 0
}

// shared counts the elements that two columns have in common.
func shared(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Row adds a row.
func (w *XMLWriter) Row(values []value.Value) error {
	w.rows++
	from := len(w.dst)
	if w.options.Row != "" {
		w.dst = append(append(w.dst, '<'), w.options.Row...)
	}
	tag := w.options.Row != "" // a tag is not closed yet, so that attributes may follow
	var open []string          // elements, which the next column may go on with in PATH
	listed, barrier := false, 0
	for i, f := range w.fields {
		keep := shared(open, f.elements)
		if values[i].IsNull() {
			barrier = min(barrier, keep)
			continue
		}
		if keep > barrier && keep > 0 {
			return fault.New(fault.Unsupported, "FOR XML PATH that goes on with an element after NULL is not supported by tsqltest")
		}
		w.close(&open, keep, &tag)
		for _, name := range f.elements[keep:] {
			w.endTag(&tag)
			w.dst = append(append(w.dst, '<'), name...)
			open, tag = append(open, name), true
		}
		if err := w.value(f, values[i], &tag, listed && f.list && keep == len(f.elements)); err != nil {
			return err
		}
		listed, barrier = f.list, len(open)
		if w.options.Raw && len(open) > 0 {
			w.close(&open, len(open)-1, &tag)
		}
	}
	return w.endRow(from, tag, open)
}

// endTag closes a tag after which content follows.
func (w *XMLWriter) endTag(tag *bool) {
	if *tag {
		w.dst = append(w.dst, '>')
		*tag = false
	}
}

// close ends the open elements from a level on. The innermost has no content if its tag is not closed yet.
func (w *XMLWriter) close(open *[]string, level int, tag *bool) {
	for i := len(*open) - 1; i >= level; i-- {
		if *tag {
			w.dst = append(w.dst, "/>"...)
			*tag = false
			continue
		}
		w.dst = append(append(append(w.dst, "</"...), (*open)[i]...), '>')
	}
	*open = (*open)[:level]
}

// value writes a value as an attribute or as content.
func (w *XMLWriter) value(f xmlField, v value.Value, tag *bool, blank bool) error {
	text, err := xmlValue(v, f.Type, w.options.Raw)
	if err != nil {
		return err
	}
	if f.Type.Kind != sqltype.XML {
		if err := w.legal(f.Name, text); err != nil {
			return err
		}
	}
	if f.attribute != "" {
		w.dst = xmltext.AppendAttribute(w.dst, f.attribute, text)
		return nil
	}
	w.endTag(tag)
	if blank {
		w.dst = append(w.dst, ' ')
	}
	if f.Type.Kind == sqltype.XML {
		w.dst = append(w.dst, text...)
	} else {
		w.dst = xmltext.AppendText(w.dst, text)
	}
	return nil
}

// legal refuses characters that XML has not, and those of which it is not certain how they are written.
func (w *XMLWriter) legal(name, text string) error {
	for _, r := range text {
		switch {
		case r < 0x20 && r != '\t' && r != '\n' && r != '\r', r == utf8.RuneError, r == 0xFFFE, r == 0xFFFF:
			return fault.New(6841, name, r)
		case r > 0xFFFF && !w.options.Type:
			return fault.New(fault.Unsupported, "FOR XML without TYPE of characters beyond U+FFFF is not supported by tsqltest")
		}
	}
	return nil
}

// endRow ends the element of a row.
func (w *XMLWriter) endRow(from int, tag bool, open []string) error {
	empty := len(w.dst) == from+1+len(w.options.Row)
	w.close(&open, 0, &tag)
	switch {
	case w.options.Row == "":
		return nil
	case tag && empty && !w.options.Raw && !w.options.Type:
		return fault.New(fault.Unsupported, "FOR XML PATH of a row without values is not supported by tsqltest")
	case tag:
		w.dst = append(w.dst, "/>"...)
		return nil
	}
	w.dst = append(append(append(w.dst, "</"...), w.options.Row...), '>')
	return nil
}

// Text returns the document; NULL if there was no row.
func (w *XMLWriter) Text() (value.Value, error) {
	text := string(w.dst)
	switch {
	case w.rows == 0 && w.options.Root != "":
		return value.Value{}, fault.New(fault.Unsupported, "FOR XML with ROOT and without rows is not supported by tsqltest")
	case w.rows == 0:
		return value.Value{}, nil
	case w.options.Root != "":
		text = "<" + w.options.Root + ">" + text + "</" + w.options.Root + ">"
	}
	if !w.options.Type {
		return value.OfString(text), nil
	}
	text, err := xmltext.Normal(text, xmltext.Options{KeepSpace: true, Encoding: "utf-16"})
	return value.OfString(text), err
}

// xmlStyle is the style in which a type is written, -1 for what needs none.
func xmlStyle(t value.Type, raw bool) (int, error) {
	switch {
	case t.IsCharacter(), t.Kind == sqltype.XML && !raw, t.Kind == sqltype.Null:
		return -1, nil
	case t.Kind == sqltype.RowVersion || t.IsBinary() && raw:
	case t.IsBinary():
		return -1, nil
	case t.Kind == sqltype.Date, t.Kind == sqltype.DateTime, t.Kind == sqltype.SmallDateTime:
		return 126, nil
	case t.IsMoney(), t.Kind == sqltype.Float:
		return 2, nil
	case t.Kind == sqltype.Real:
		return 1, nil
	case t.IsNumeric(), t.Kind == sqltype.UniqueIdentifier:
		return 0, nil
	}
	return 0, unsupported("FOR XML of %s", t.Type.Kind)
}

// xmlValue writes a value.
func xmlValue(v value.Value, t value.Type, raw bool) (string, error) {
	style, err := xmlStyle(t, raw)
	switch {
	case err != nil:
		return "", err
	case v.Kind() == value.Bytes:
		return base64.StdEncoding.EncodeToString(v.Bytes()), nil
	case style < 0:
		return v.Str(), nil
	}
	text, err := value.Convert(v, t, value.NVarChar(100), style)
	return text.Str(), err
}
