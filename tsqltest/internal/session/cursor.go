package session

import (
	"github.com/duroxide/duroxide-go/internal/tsql/syntax"
	"github.com/duroxide/duroxide-go/tsqltest/internal/fault"
	"github.com/duroxide/duroxide-go/tsqltest/internal/plan"
	"github.com/duroxide/duroxide-go/tsqltest/internal/value"
)

// cursor is a cursor of the session. It is static: opening it reads all rows.
type cursor struct {
	unit    *unit
	query   *syntax.Query
	columns []plan.Column
	rows    [][]value.Value
	next    int
	open    bool
}

// What @@FETCH_STATUS says.
const (
	fetched   = 0
	fetchedNo = -1
)

// cursorStatement executes a statement on a cursor.
func (s *Session) cursorStatement(a *activation, st *syntax.CursorStmt) error {
	key := fold(st.Name)
	c := s.cursors[key]
	if st.Verb == "DECLARE" {
		if c != nil {
			return fault.New(16915, st.Name)
		}
		if st.Query == nil {
			return s.unsupported(a.unit, st.Span, "a cursor variable")
		}
		s.cursors[key] = &cursor{unit: a.unit, query: st.Query}
		return nil
	}
	if c == nil {
		return fault.New(16916, st.Name)
	}
	s.rowCount = 0
	switch st.Verb {
	case "OPEN":
		return s.openCursor(a, c)
	case "FETCH":
		return s.fetch(a, c, st)
	case "CLOSE":
		if !c.open {
			return fault.New(16917)
		}
		c.open, c.rows = false, nil
		return nil
	default:
		delete(s.cursors, key)
		return nil
	}
}

// openCursor reads the rows of a cursor.
func (s *Session) openCursor(a *activation, c *cursor) error {
	if c.open {
		return fault.New(16905)
	}
	p, err := planned(s, c.unit, c.query, func(env *plan.Env) (*plan.Statement, error) { return plan.Query(env, c.query) })
	if err != nil {
		return err
	}
	scope := s.begin()
	c.rows, c.next, c.columns = nil, 0, p.Columns
	_, err = p.Run(&a.frame, func(row []value.Value) error {
		c.rows = append(c.rows, append([]value.Value(nil), row...))
		return nil
	})
	if err := s.end(scope, err); err != nil {
		return err
	}
	c.open = true
	return nil
}

// fetch moves a cursor on by a row.
func (s *Session) fetch(a *activation, c *cursor, st *syntax.CursorStmt) error {
	if !c.open {
		return fault.New(16917)
	}
	if len(st.Into) > 0 && len(st.Into) != len(c.columns) {
		return fault.New(16924)
	}
	if c.next >= len(c.rows) {
		s.fetchStatus = fetchedNo
		if len(st.Into) == 0 {
			if err := s.sendColumns(c.columns); err != nil {
				return err
			}
			s.done("FETCH", 0, true)
		}
		return nil
	}
	row := c.rows[c.next]
	c.next++
	s.fetchStatus, s.rowCount = fetched, 1
	if len(st.Into) == 0 {
		if err := s.sendColumns(c.columns); err != nil {
			return err
		}
		if err := s.sendRow(row); err != nil {
			return err
		}
		s.done("FETCH", 1, true)
		return nil
	}
	for i, v := range st.Into {
		if err := s.set(a, v.Name, row[i], c.columns[i].Type); err != nil {
			return err
		}
	}
	return nil
}
