package binder

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Document is FOR JSON or FOR XML: one text of all rows.
type Document struct {
	options function.JSONOptions
	fields  []function.JSONField
	Nodes   []*Node
	XML     *xmlDocument // of FOR XML; nil for FOR JSON
}

// DocumentWriter makes the text of a document.
type DocumentWriter interface {
	Row(values []value.Value) error
	Text() (value.Value, error)
}

// jsonWriter is a writer of FOR JSON.
type jsonWriter struct{ *function.JSONWriter }

func (w jsonWriter) Text() (value.Value, error) { return w.JSONWriter.Text(), nil }

// Writer makes a writer for one execution.
func (d *Document) Writer() (DocumentWriter, error) {
	if d.XML != nil {
		return function.NewXMLWriter(d.XML.Options, d.XML.fields)
	}
	w, err := function.NewJSONWriter(d.options, d.fields)
	return jsonWriter{w}, err
}

// Column returns the column of a query that sends the document.
func (d *Document) Column(b *Binder) Column {
	switch {
	case d.XML == nil:
		return Column{Name: jsonColumn, Type: value.NVarChar(sqltype.Max).With(b.collation()), Computed: true}
	case d.XML.Options.Type:
		return Column{Type: value.OfKind(sqltype.XML), Nullable: true, Computed: true}
	default:
		return Column{Name: xmlColumn, Type: value.OfKind(sqltype.NText).With(b.collation()), Computed: true}
	}
}

// jsonColumn is the name that SQL Server gives the column of a document.
const jsonColumn = "JSON_F52E2B61-18A1-11d1-B105-00805F49916B"

// DocumentOf reads FOR JSON.
func (b *Binder) DocumentOf(q *syntax.Query, columns []OutColumn) (*Document, error) {
	switch q.For.Kind {
	case "XML":
		return b.xmlDocument(q.For, columns)
	case "JSON":
	default:
		return nil, b.Unsupported(q.For.Span, "FOR %s", q.For.Kind)
	}
	d := &Document{}
	for _, o := range q.For.Options {
		switch o.Name {
		case "AUTO":
			d.options.Auto = true
		case "PATH":
		case "ROOT":
			d.options.HasRoot, d.options.Root = true, "root"
			if o.Value != "" {
				d.options.Root = strings.ReplaceAll(strings.Trim(strings.TrimPrefix(strings.TrimSpace(o.Value), "N"), "'"), "''", "'")
			}
		case "INCLUDE_NULL_VALUES":
			d.options.IncludeNulls = true
		case "WITHOUT_ARRAY_WRAPPER":
			d.options.WithoutWrapper = true
		}
	}
	for _, c := range columns {
		t := c.Node.Type
		t.Type = untyped(t).Type
		d.fields = append(d.fields, function.JSONField{Name: c.name, Type: t, JSON: c.json, Table: c.table})
		d.Nodes = append(d.Nodes, c.Node)
	}
	_, err := function.NewJSONWriter(d.options, d.fields)
	return d, err
}

// documentSubquery binds (SELECT … FOR JSON …) as a value.
func (b *Binder) documentSubquery(s *scope, q *syntax.Query) (*Node, error) {
	out, err := b.queryIn(s.forSubquery(), q)
	if err != nil {
		return nil, err
	}
	d, err := b.DocumentOf(q, out.Columns)
	if err != nil {
		return nil, err
	}
	t := value.NVarChar(sqltype.Max)
	if d.XML != nil && d.XML.Options.Type {
		t = value.OfKind(sqltype.XML)
	}
	return &Node{
		Kind: isSubquery, Name: "FOR " + q.For.Kind, Type: t, Nullable: true, at: q.Span,
		Value: func([]Code) execute.Expr { return nil },
		Sub:   &Subquery{Rel: out.Rel, Need: d.Nodes, Document: d},
	}, nil
}
