package planner

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// documentStatement compiles a SELECT with FOR JSON, which sends a text in pieces.
func (p *planner) documentStatement(q *syntax.Query, out *binder.Selected) (*Statement, error) {
	d, err := p.b.DocumentOf(q, out.Columns)
	if err != nil {
		return nil, err
	}
	c, err := p.documentCode(&binder.Subquery{Rel: out.Rel, Need: d.Nodes, Document: d})
	if err != nil {
		return nil, err
	}
	st := p.statement()
	st.Columns = []binder.Column{d.Column(p.b)}
	pool, rights := &execute.Pool{Shape: p.b.Shape}, p.b.Rights
	st.Run = func(x *execute.Frame, send func([]execute.Value) error) (int64, error) {
		return within(pool, rights, x, func(r *execute.Run) (n int64, err error) {
			v, err := c.Expr(r)
			if err != nil || v.IsNull() {
				return 0, err
			}
			if d.XML != nil && d.XML.Options.Type {
				return 1, send([]execute.Value{v})
			}
			err = pieces(v.Str(), func(piece string) error {
				n++
				return send([]execute.Value{value.OfString(piece)})
			})
			return n, err
		})
	}
	return st, nil
}

// documentCode is the code of a document as a value.
func (p *planner) documentCode(s *binder.Subquery) (binder.Code, error) {
	op, columns, err := p.read(s.Rel, s.Need, all)
	if err != nil {
		return binder.Code{}, err
	}
	sub, list, d := p.numbered(op), binder.Operands(columns), s.Document
	text := func(r *execute.Run) (execute.Value, error) {
		w, err := d.Writer()
		if err != nil {
			return execute.Value{}, err
		}
		if err := sub.Each(r, list, func(row []execute.Value) error { return w.Row(row) }); err != nil {
			return execute.Value{}, err
		}
		return w.Text()
	}
	if s.Constant() && s.SlotsOfNeed().Empty() {
		return binder.Code{Expr: execute.Once(p.b.NewOnce(), text)}, nil
	}
	return binder.Code{Expr: text}, nil
}

// jsonPiece is how many UTF-16 units of a document SQL Server sends in a row.
const jsonPiece = 2033

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
