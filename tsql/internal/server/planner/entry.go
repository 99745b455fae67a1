package planner

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// query compiles a SELECT.
func query(env *binder.Env, q *syntax.Query) (*Statement, error) {
	p := newPlanner(env)
	b := p.b
	out, err := b.Query(q)
	if err != nil {
		return nil, err
	}
	if out.Into != nil {
		return p.into(q, out)
	}
	if q.For != nil && q.For.Kind != "BROWSE" {
		return p.documentStatement(q, out)
	}
	for _, a := range out.Assigns {
		out.Columns = append(out.Columns, binder.OutColumn{Node: a.Node})
	}
	root, columns, err := p.root(out)
	if err != nil {
		return nil, err
	}
	st := p.statement()
	pool, rights := &execute.Pool{Shape: b.Shape}, b.Rights
	if len(out.Assigns) > 0 {
		st.Run = func(x *execute.Frame, _ func([]execute.Value) error) (int64, error) {
			return within(pool, rights, x, func(r *execute.Run) (int64, error) { return assignRows(root, r, columns, out.Assigns) })
		}
		return st, nil
	}
	st.Columns = b.ResultColumns(out.Columns)
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
func (p *planner) root(out *binder.Selected) (*execute.Subquery, []execute.Expr, error) {
	nodes := make([]*binder.Node, len(out.Columns))
	for i, c := range out.Columns {
		nodes[i] = c.Node
	}
	rows, codes, err := p.planned(out.Rel, nodes)
	return rows, binder.Operands(codes), err
}

// planned plans a relation as the statement's own, and compiles what is computed of its rows.
func (p *planner) planned(r binder.Rel, nodes []*binder.Node) (*execute.Subquery, []binder.Code, error) {
	op, codes, err := p.read(r, nodes, all)
	if err != nil {
		return nil, nil, err
	}
	return p.main(op), codes, nil
}

// read plans a relation of which goal rows are likely to be read, and compiles what is computed of its rows.
func (p *planner) read(r binder.Rel, nodes []*binder.Node, goal float64) (execute.Operator, []binder.Code, error) {
	x, err := p.plan(r, request{need: binder.SlotsOf(nodes...), goal: goal})
	if err != nil {
		return nil, nil, err
	}
	op, err := x.build()
	if err != nil {
		return nil, nil, err
	}
	codes, err := p.codes(nodes)
	return op, codes, err
}

// main notes the plan of the statement itself.
func (p *planner) main(op execute.Operator) *execute.Subquery {
	p.whole = op
	return p.numbered(op)
}

// statement makes the statement with what has been noted about it.
func (p *planner) statement() *Statement {
	return &Statement{Tables: p.b.Tables, Explain: p.explain(), basis: basisOf(p.b)}
}

// within executes a plan: it checks the rights and lends an execution.
func within(pool *execute.Pool, rights []*binder.Right, x *execute.Frame, f func(r *execute.Run) (int64, error)) (int64, error) {
	if err := binder.CheckRights(x, rights); err != nil {
		return 0, err
	}
	r := pool.Get(x)
	defer pool.Put(r)
	return f(r)
}

// assignRows sets variables for each row; the last one decides.
func assignRows(root *execute.Subquery, r *execute.Run, columns []execute.Expr, assigns []binder.Assignment) (n int64, err error) {
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
			r.Frame.Variables[a.Slot] = v
		}
	}
}

// outside compiles what stands outside of a query. It is compiled again when it is out of date.
func outside[T any](
	env *binder.Env, bind func(b *binder.Binder) (*binder.Node, error), value func(c binder.Code, r *execute.Run) (T, error),
) (*planner, *binder.Node, func(f *execute.Frame) (T, error), error) {
	p := newPlanner(env)
	n, err := bind(p.b)
	if err != nil {
		return nil, nil, nil, err
	}
	c, err := p.code(n)
	if err != nil {
		return nil, nil, nil, err
	}
	pool, rights, basis := &execute.Pool{Shape: p.b.Shape}, p.b.Rights, basisOf(p.b)
	return p, n, func(f *execute.Frame) (v T, err error) {
		stale, err := basis.lock(f)
		if err != nil {
			return v, err
		}
		if stale {
			_, _, again, err := outside(envOf(env, f), bind, value)
			if err != nil {
				return v, err
			}
			return again(f)
		}
		_, err = within(pool, rights, f, func(r *execute.Run) (int64, error) {
			v, err = value(c, r)
			return 0, err
		})
		return v, err
	}, nil
}

// overRow compiles an expression or condition over one row.
func overRow[T any](p *planner, n *binder.Node, table *binder.TableRel, value func(c binder.Code, r *execute.Run) (T, error)) (
	func(f *execute.Frame, row []execute.Value) (T, error), error,
) {
	c, err := p.code(n)
	var loads []execute.Load
	for ordinal, slot := range table.Slots {
		if slot >= 0 {
			loads = append(loads, execute.Load{Ordinal: ordinal, Slot: slot})
		}
	}
	pool := &execute.Pool{Shape: p.b.Shape}
	return func(f *execute.Frame, row []execute.Value) (T, error) {
		r := pool.Get(f)
		defer pool.Put(r)
		for _, l := range loads {
			r.Slots[l.Slot] = row[l.Ordinal]
		}
		return value(c, r)
	}, err
}

// explain is the text of a plan: its operators, each below the one that reads it, and those of its subqueries.
func (p *planner) explain() string {
	var s strings.Builder
	if p.whole != nil {
		explain(&s, p.whole, 0)
	}
	for i, op := range p.plans {
		if op != p.whole {
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
