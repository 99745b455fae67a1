package plan

import (
	"errors"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// xmlDocument is FOR XML.
type xmlDocument struct {
	options function.XMLOptions
	fields  []function.XMLField
}

// xmlColumn is the name that SQL Server gives the column of a document.
const xmlColumn = "XML_F52E2B61-18A1-11d1-B105-00805F49916B"

// xmlDocument reads FOR XML.
func (b *binder) xmlDocument(f *syntax.ForClause, columns []outColumn) (*document, error) {
	d := &document{xml: &xmlDocument{}}
	for _, o := range f.Options {
		name, named := quotedOption(o)
		switch o.Name {
		case "PATH", "RAW":
			d.xml.options.Raw, d.xml.options.Row = o.Name == "RAW", "row"
			if named {
				d.xml.options.Row = name
			}
			if d.xml.options.Raw && d.xml.options.Row == "" {
				return nil, b.unsupported(o.Span, "FOR XML RAW without a name")
			}
		case "ROOT":
			d.xml.options.Root = "root"
			if named && name != "" {
				d.xml.options.Root = name
			}
		case "TYPE":
			d.xml.options.Type = true
		case "ELEMENTS", "ELEMENTS ABSENT":
			d.xml.options.Elements = true
		default:
			return nil, b.unsupported(o.Span, "FOR XML with %s", o.Name)
		}
	}
	for _, c := range columns {
		t := c.node.typ
		t.Type = untyped(t).Type
		d.xml.fields = append(d.xml.fields, function.XMLField{Name: c.name, Type: t})
		d.nodes = append(d.nodes, c.node)
	}
	_, err := function.NewXMLWriter(d.xml.options, d.xml.fields)
	if u, ok := errors.AsType[*function.UnsupportedError](err); ok {
		return nil, b.unsupported(f.Span, "%s", u.What)
	}
	return d, err
}

// quotedOption returns the text of the value of an option, such as PATH('a').
func quotedOption(o syntax.Option) (text string, ok bool) {
	text = strings.TrimPrefix(strings.TrimSpace(o.Value), "N")
	if len(text) < 2 || text[0] != '\'' {
		return "", false
	}
	return strings.ReplaceAll(text[1:len(text)-1], "''", "'"), true
}
