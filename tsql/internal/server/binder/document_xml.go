package binder

import (
	"errors"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// xmlDocument is FOR XML.
type xmlDocument struct {
	Options function.XMLOptions
	fields  []function.XMLField
}

// xmlColumn is the name that SQL Server gives the column of a document.
const xmlColumn = "XML_F52E2B61-18A1-11d1-B105-00805F49916B"

// xmlDocument reads FOR XML.
func (b *Binder) xmlDocument(f *syntax.ForClause, columns []OutColumn) (*Document, error) {
	d := &Document{XML: &xmlDocument{}}
	for _, o := range f.Options {
		name, named := quotedOption(o)
		switch o.Name {
		case "PATH", "RAW":
			d.XML.Options.Raw, d.XML.Options.Row = o.Name == "RAW", "row"
			if named {
				d.XML.Options.Row = name
			}
			if d.XML.Options.Raw && d.XML.Options.Row == "" {
				return nil, b.Unsupported(o.Span, "FOR XML RAW without a name")
			}
		case "ROOT":
			d.XML.Options.Root = "root"
			if named && name != "" {
				d.XML.Options.Root = name
			}
		case "TYPE":
			d.XML.Options.Type = true
		case "ELEMENTS", "ELEMENTS ABSENT":
			d.XML.Options.Elements = true
		default:
			return nil, b.Unsupported(o.Span, "FOR XML with %s", o.Name)
		}
	}
	for _, c := range columns {
		t := c.Node.Type
		t.Type = untyped(t).Type
		d.XML.fields = append(d.XML.fields, function.XMLField{Name: c.name, Type: t})
		d.Nodes = append(d.Nodes, c.Node)
	}
	_, err := function.NewXMLWriter(d.XML.Options, d.XML.fields)
	if u, ok := errors.AsType[*function.UnsupportedError](err); ok {
		return nil, b.Unsupported(f.Span, "%s", u.What)
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
