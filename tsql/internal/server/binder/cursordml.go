package binder

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Cursors is what a session is too: it knows where its cursors are.
type Cursors interface {
	// CurrentRow returns the row of a table that a cursor is on, to change the columns of these names; of a DELETE
	// there are none.
	CurrentRow(name syntax.CursorName, t *schema.Table, columns []string) (CurrentRow, error)
}

// CurrentRow is the row that a cursor is on.
type CurrentRow struct {
	execute.Spot

	// Optimistic says that nobody may have changed the row since it was fetched.
	Optimistic bool
}

// positioned makes an UPDATE or a DELETE one of the row that a cursor is on.
func (b *Binder) positioned(
	m *Modified, name *syntax.CursorName, from []syntax.TableSource, set []syntax.Assignment, at diag.Span,
) error {
	if name == nil {
		return nil
	}
	rel := m.Target.Rel
	_, alone := m.Block.From.(*TableRel)
	if len(from) > 0 || rel == nil || !alone && m.Target.view == nil {
		return b.Unsupported(at, "WHERE CURRENT OF with FROM or with a view of several tables")
	}
	var columns []string
	for _, a := range set {
		if a.Column != nil {
			columns = append(columns, a.Column.Last().Value)
		}
	}
	rel.Exact = &ExactRead{Index: rel.Source.Table.Indexes[0], Read: b.currentOf(*name, rel.Source, columns)}
	return nil
}

// currentOf reads the row that a cursor is on.
func (b *Binder) currentOf(name syntax.CursorName, source execute.Source, columns []string) *execute.Exact {
	return &execute.Exact{
		Key: func(r *execute.Run) (string, error) {
			s, ok := r.Frame.Session.(Cursors)
			if !ok {
				return "", fault.New(16916, name.Name)
			}
			at, err := s.CurrentRow(name, source.In(r.Frame), columns)
			if err != nil {
				return "", err
			}
			r.Step = &execute.Step{From: []execute.Spot{at.Spot}, Strict: at.Optimistic}
			return at.Base, nil
		},
		Found: func(r *execute.Run, row *store.Row, values []execute.Value) error {
			if was := &r.Step.From[0]; r.Step.Strict && (row != was.Row || !unchanged(source.In(r.Frame), was.Values, values)) {
				return tooLate(r)
			}
			return nil
		},
		Missed: tooLate,
	}
}

// unchanged reports whether a row is what it was: by its rowversion, or else by all of its values.
func unchanged(t *schema.Table, before, now []execute.Value) bool {
	if rv := t.RowVersionColumn(); rv != nil {
		return before[rv.Ordinal] == now[rv.Ordinal]
	}
	return slices.Equal(before, now)
}

// tooLate says that somebody else has changed or deleted the row.
func tooLate(r *execute.Run) error {
	e := fault.New(16934)
	r.Frame.Session.Message(e.Number, e.Class, e.Message)
	return fault.New(16947)
}

// ExactRead says that one row of a table is read by its key.
type ExactRead struct {
	Index *schema.Index
	Read  *execute.Exact
	Place int
}
