package plan

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// query compiles a SELECT.
func query(env *Env, q *syntax.Query) (*Statement, error) {
	b := newBinder(env)
	out, err := b.queryIn(&scope{}, q)
	if err != nil {
		return nil, err
	}
	if out.into != nil {
		return b.intoStatement(q, out)
	}
	if q.For != nil && q.For.Kind != "BROWSE" {
		return b.documentStatement(q, out)
	}
	for _, a := range out.assigns {
		out.columns = append(out.columns, outColumn{node: a.node})
	}
	root, columns, err := b.root(out)
	if err != nil {
		return nil, err
	}
	st := b.statementOf()
	pool, rights := &execute.Pool{Shape: b.shape}, b.rights
	if len(out.assigns) > 0 {
		st.Run = func(x *execute.Frame, _ func([]execute.Value) error) (int64, error) {
			return within(pool, rights, x, func(r *execute.Run) (int64, error) { return assignRows(root, r, columns, out.assigns) })
		}
		return st, nil
	}
	st.Columns = b.resultColumns(out.columns)
	st.Run = func(x *execute.Frame, send func([]execute.Value) error) (int64, error) {
		return within(pool, rights, x, func(r *execute.Run) (n int64, err error) {
			err = root.Each(r, columns, func(row []execute.Value) error {
				n++
				return send(row)
			})
			return n, err
		})
	}
	return st, nil
}

// root plans a whole query and compiles its columns.
func (b *binder) root(out *selected) (*execute.Subquery, []execute.Expr, error) {
	nodes := make([]*node, len(out.columns))
	for i, c := range out.columns {
		nodes[i] = c.node
	}
	rows, codes, err := b.planned(out.rel, nodes)
	return rows, operands(codes), err
}

// planned plans a relation as the statement's own, and compiles what is computed of its rows.
func (b *binder) planned(r rel, nodes []*node) (*execute.Subquery, []code, error) {
	p := &planner{b: b}
	x, err := p.plan(r, request{need: slotsOf(nodes...), goal: all})
	if err != nil {
		return nil, nil, err
	}
	op, err := x.build()
	if err != nil {
		return nil, nil, err
	}
	codes, err := p.codes(nodes)
	if err != nil {
		return nil, nil, err
	}
	b.main = op
	return p.numbered(op), codes, nil
}

// statementOf makes the statement with what has been noted about it.
func (b *binder) statementOf() *Statement {
	return &Statement{Tables: b.tables, Explain: b.explain(), basis: b.basisOf()}
}

// within executes a plan: it checks the rights and lends an execution.
func within(pool *execute.Pool, rights []*right, x *execute.Frame, f func(r *execute.Run) (int64, error)) (int64, error) {
	for _, need := range rights {
		if err := x.Session.May(need.permission, need.object, need.columns); err != nil {
			return 0, err
		}
	}
	r := pool.Get(x)
	defer pool.Put(r)
	return f(r)
}

// assignRows sets variables for each row; the last one decides.
func assignRows(root *execute.Subquery, r *execute.Run, columns []execute.Expr, assigns []assignment) (n int64, err error) {
	it, err := root.Rows(r)
	if err != nil {
		return 0, err
	}
	defer it.Close()
	for {
		ok, err := it.Next()
		if err != nil || !ok {
			return n, err
		}
		n++
		for i, a := range assigns {
			v, err := columns[i](r)
			if err != nil {
				return n, err
			}
			r.Frame.Variables[a.slot] = v
		}
	}
}

// resultColumns describes the columns of a result set.
func (b *binder) resultColumns(columns []outColumn) []Column {
	out := make([]Column, len(columns))
	for i, c := range columns {
		t := untyped(c.node.typ)
		if t.IsCharacter() && t.Collation == nil {
			t.Collation = b.collation()
		}
		out[i] = Column{Name: c.name, Type: t, Nullable: c.node.shownNullable(), Identity: c.identity, Computed: c.computed}
	}
	return out
}

// documentStatement compiles a SELECT with FOR JSON, which sends a text in pieces.
func (b *binder) documentStatement(q *syntax.Query, out *selected) (*Statement, error) {
	d, err := b.documentOf(q, out.columns)
	if err != nil {
		return nil, err
	}
	p := &planner{b: b}
	c, err := p.documentCode(&subquery{rel: out.rel, need: d.nodes, document: d})
	if err != nil {
		return nil, err
	}
	st := b.statementOf()
	st.Columns = []Column{d.column(b)}
	pool, rights := &execute.Pool{Shape: b.shape}, b.rights
	st.Run = func(x *execute.Frame, send func([]execute.Value) error) (int64, error) {
		return within(pool, rights, x, func(r *execute.Run) (n int64, err error) {
			v, err := c.expr(r)
			if err != nil || v.IsNull() {
				return 0, err
			}
			if d.xml != nil && d.xml.options.Type {
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

// expression compiles an expression outside of a query.
func expression(env *Env, x syntax.Expr) (*Scalar, error) {
	b := newBinder(env)
	n, err := b.expr(&scope{}, x)
	if err != nil {
		return nil, err
	}
	c, err := (&planner{b: b}).code(n)
	if err != nil {
		return nil, err
	}
	pool, rights, basis := &execute.Pool{Shape: b.shape}, b.rights, b.basisOf()
	out := &Scalar{Type: n.typ, Nullable: n.nullable, Tables: b.tables}
	out.Eval = func(f *execute.Frame) (v execute.Value, err error) {
		stale, err := basis.lock(f)
		if err != nil {
			return v, err
		}
		if stale {
			again, err := expression(envOf(env, f), x)
			if err != nil {
				return v, err
			}
			return again.Eval(f)
		}
		_, err = within(pool, rights, f, func(r *execute.Run) (int64, error) {
			v, err = c.expr(r)
			return 0, err
		})
		return v, err
	}
	return out, nil
}

// test compiles a condition outside of a query.
func test(env *Env, x syntax.Expr) (Condition, error) {
	b := newBinder(env)
	n, err := b.cond(&scope{}, x)
	if err != nil {
		return nil, err
	}
	c, err := (&planner{b: b}).code(n)
	if err != nil {
		return nil, err
	}
	pool, rights, basis := &execute.Pool{Shape: b.shape}, b.rights, b.basisOf()
	return func(f *execute.Frame) (ok bool, err error) {
		stale, err := basis.lock(f)
		if err != nil {
			return false, err
		}
		if stale {
			again, err := test(envOf(env, f), x)
			if err != nil {
				return false, err
			}
			return again(f)
		}
		_, err = within(pool, rights, f, func(r *execute.Run) (int64, error) {
			t, err := c.cond(r)
			ok = t == execute.True
			return 0, err
		})
		return ok, err
	}, nil
}

// rowScope is what an expression over one row of a table sees. The slots of the columns are found when it is bound.
func (b *binder) rowScope(t *schema.Table) (*scope, *tableRel) {
	src, table := b.tableAndSource(execute.Source{Table: t}, execute.Hints{}, false)
	return &scope{sources: []*source{src}, clause: inList}, table
}

// rowCode compiles an expression or condition over one row, and returns what fills the slots.
func rowCode(b *binder, n *node, table *tableRel) (code, func(r *execute.Run, row []execute.Value), error) {
	c, err := (&planner{b: b}).code(n)
	var loads []execute.Load
	for ordinal, slot := range table.slots {
		if slot >= 0 {
			loads = append(loads, execute.Load{Ordinal: ordinal, Slot: slot})
		}
	}
	return c, func(r *execute.Run, row []execute.Value) {
		for _, l := range loads {
			r.Slots[l.Slot] = row[l.Ordinal]
		}
	}, err
}

func rowExpression(env *Env, t *schema.Table, x syntax.Expr) (*RowScalar, error) {
	b := newBinder(env)
	s, table := b.rowScope(t)
	n, err := b.expr(s, x)
	if err != nil {
		return nil, err
	}
	c, fill, err := rowCode(b, n, table)
	pool := &execute.Pool{Shape: b.shape}
	return &RowScalar{Type: n.typ, Nullable: n.shownNullable(), Eval: func(f *execute.Frame, row []execute.Value) (execute.Value, error) {
		r := pool.Get(f)
		defer pool.Put(r)
		fill(r, row)
		return c.expr(r)
	}}, err
}

func rowTest(env *Env, t *schema.Table, x syntax.Expr) (RowCondition, error) {
	b := newBinder(env)
	s, table := b.rowScope(t)
	n, err := b.cond(s, x)
	if err != nil {
		return nil, err
	}
	c, fill, err := rowCode(b, n, table)
	pool := &execute.Pool{Shape: b.shape}
	return func(f *execute.Frame, row []execute.Value) (execute.Truth, error) {
		r := pool.Get(f)
		defer pool.Put(r)
		fill(r, row)
		return c.cond(r)
	}, err
}

// explain is the text of a plan: its operators, each below the one that reads it, and those of its subqueries.
func (b *binder) explain() string {
	var s strings.Builder
	if b.main != nil {
		explain(&s, b.main, 0)
	}
	for i, op := range b.plans {
		if op != b.main {
			fmt.Fprintf(&s, "subquery %d\n", i)
			explain(&s, op, 1)
		}
	}
	return s.String()
}

func explain(s *strings.Builder, op execute.Operator, depth int) {
	text, inputs := op.Explain()
	s.WriteString(strings.Repeat("  ", depth) + text + "\n")
	for _, in := range inputs {
		explain(s, in, depth+1)
	}
}

// Compile compiles a statement that reads or writes rows.
func Compile(env *Env, stmt syntax.Stmt) (*Statement, error) {
	switch st := stmt.(type) {
	case *syntax.SelectStmt:
		return Query(env, st.Query)
	default:
		out, err := compileDML(env, stmt)
		if err != nil {
			return nil, err
		}
		return out.kept(env, func(env *Env) (*Statement, error) { return Compile(env, stmt) }), nil
	}
}
