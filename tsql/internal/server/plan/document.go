package plan

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// document is FOR JSON or FOR XML: one text of all rows.
type document struct {
	options function.JSONOptions
	fields  []function.JSONField
	nodes   []*node
	xml     *xmlDocument // of FOR XML; nil for FOR JSON
}

// documentWriter makes the text of a document.
type documentWriter interface {
	Row(values []value.Value) error
	Text() (value.Value, error)
}

// jsonWriter is a writer of FOR JSON.
type jsonWriter struct{ *function.JSONWriter }

func (w jsonWriter) Text() (value.Value, error) { return w.JSONWriter.Text(), nil }

// writer makes a writer for one execution.
func (d *document) writer() (documentWriter, error) {
	if d.xml != nil {
		return function.NewXMLWriter(d.xml.options, d.xml.fields)
	}
	w, err := function.NewJSONWriter(d.options, d.fields)
	return jsonWriter{w}, err
}

// column is the column of a query that sends the document.
func (d *document) column(b *binder) Column {
	switch {
	case d.xml == nil:
		return Column{Name: jsonColumn, Type: value.NVarChar(sqltype.Max).With(b.collation()), Computed: true}
	case d.xml.options.Type:
		return Column{Type: value.OfKind(sqltype.XML), Nullable: true, Computed: true}
	default:
		return Column{Name: xmlColumn, Type: value.OfKind(sqltype.NText).With(b.collation()), Computed: true}
	}
}

// jsonColumn is the name that SQL Server gives the column of a document.
const jsonColumn = "JSON_F52E2B61-18A1-11d1-B105-00805F49916B"

// jsonPiece is how many UTF-16 units of a document SQL Server sends in a row.
const jsonPiece = 2033

// documentOf reads FOR JSON.
func (b *binder) documentOf(q *syntax.Query, columns []outColumn) (*document, error) {
	switch q.For.Kind {
	case "XML":
		return b.xmlDocument(q.For, columns)
	case "JSON":
	default:
		return nil, b.unsupported(q.For.Span, "FOR %s", q.For.Kind)
	}
	d := &document{}
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
		t := c.node.typ
		t.Type = untyped(t).Type
		d.fields = append(d.fields, function.JSONField{Name: c.name, Type: t, JSON: c.json, Table: c.table})
		d.nodes = append(d.nodes, c.node)
	}
	_, err := function.NewJSONWriter(d.options, d.fields)
	return d, err
}

// documentSubquery binds (SELECT … FOR JSON …) as a value.
func (b *binder) documentSubquery(s *scope, q *syntax.Query) (*node, error) {
	out, err := b.queryIn(s.forSubquery(), q)
	if err != nil {
		return nil, err
	}
	d, err := b.documentOf(q, out.columns)
	if err != nil {
		return nil, err
	}
	t := value.NVarChar(sqltype.Max)
	if d.xml != nil && d.xml.options.Type {
		t = value.OfKind(sqltype.XML)
	}
	return &node{
		kind: isSubquery, name: "FOR " + q.For.Kind, typ: t, nullable: true, at: q.Span,
		value: func([]code) execute.Expr { return nil },
		sub:   &subquery{rel: out.rel, need: d.nodes, document: d},
	}, nil
}

// documentCode is the code of a document as a value.
func (p *planner) documentCode(s *subquery) (code, error) {
	x, err := p.plan(s.rel, request{need: slotsOf(s.need...), goal: all})
	if err != nil {
		return code{}, err
	}
	op, err := x.build()
	if err != nil {
		return code{}, err
	}
	columns, err := p.codes(s.need)
	if err != nil {
		return code{}, err
	}
	sub, list, d := p.numbered(op), operands(columns), s.document
	text := func(r *execute.Run) (execute.Value, error) {
		w, err := d.writer()
		if err != nil {
			return execute.Value{}, err
		}
		if err := sub.Each(r, list, func(row []execute.Value) error { return w.Row(row) }); err != nil {
			return execute.Value{}, err
		}
		return w.Text()
	}
	if s.constant() && s.slotsOfNeed().empty() {
		return code{expr: execute.Once(p.b.newOnce(), text)}, nil
	}
	return code{expr: text}, nil
}

// pieces cuts a document into the rows in which it is sent.
func pieces(text string, send func(piece string) error) error {
	units, from := 0, 0
	for i, c := range text {
		width := 1
		if c >= 0x10000 {
			width = 2
		}
		if units+width > jsonPiece {
			if err := send(text[from:i]); err != nil {
				return err
			}
			units, from = 0, i
		}
		units += width
	}
	return send(text[from:])
}
