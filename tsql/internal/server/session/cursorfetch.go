package session

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// What @@FETCH_STATUS says.
const (
	fetched     = 0
	fetchedNo   = -1 // there is no such row
	fetchedGone = -2 // the row of a keyset has been deleted
)

// fetch executes FETCH.
func (s *Session) fetch(a *activation, c *cursor, st *syntax.CursorStmt) error {
	s.fetchStatus = fetchedNo
	if err := s.fetchable(a, c, st); err != nil {
		return err
	}
	var offset int64
	if st.Offset != nil {
		v, err := s.convert(a, st.Offset, intType)
		if err != nil {
			return err
		}
		if v.IsNull() {
			return fault.New(16902, "fetch", "offset")
		}
		offset = v.Int()
	}
	scope := s.begin()
	row, gone, err := s.move(c, st.Direction, offset)
	if err := s.end(scope, err); err != nil {
		return err
	}
	switch {
	case row != nil:
		s.fetchStatus, s.rowCount = fetched, 1
	case gone:
		s.fetchStatus = fetchedGone
	}
	if len(st.Into) == 0 {
		return s.sendFetched(c, row)
	}
	if row == nil {
		return nil
	}
	for i, v := range st.Into {
		if err := s.set(a, v.Name, row[i], c.plan.Columns[i].Type); err != nil {
			s.fetchStatus = fetchedNo
			return err
		}
	}
	return nil
}

// sendFetched sends the row to the client, or a set without rows.
func (s *Session) sendFetched(c *cursor, row []value.Value) error {
	if err := s.sendColumns(c.plan.Columns); err != nil {
		return err
	}
	if row != nil {
		if err := s.sendRow(row); err != nil {
			return err
		}
	}
	s.done("FETCH", s.rowCount, true)
	return nil
}

// fetchable checks what can be wrong with a FETCH before it moves the cursor.
func (s *Session) fetchable(a *activation, c *cursor, st *syntax.CursorStmt) error {
	direction := strings.ToLower(st.Direction)
	switch {
	case !c.open:
		return fault.New(16917)
	case !c.scrolls && st.Direction != "NEXT":
		return fault.New(16911, "fetch", direction)
	case c.plan.Model == planner.DynamicCursor && st.Direction == "ABSOLUTE":
		return fault.New(16925, direction)
	case c.plan.Model == planner.DynamicCursor && s.options.rowCount > 0:
		return s.unsupported(a.unit, st.Span, "SET ROWCOUNT for a dynamic cursor")
	case len(st.Into) > 0 && len(st.Into) != len(c.plan.Columns):
		return fault.New(16924)
	}
	for i, v := range st.Into {
		to := a.unit.variables[fold(v.Name)]
		from := c.plan.Columns[i].Type
		switch {
		case to == nil && a.unit.cursorVariables[fold(v.Name)]:
			return fault.New(16949, v.Name)
		case to == nil:
			return fault.New(137, v.Name)
		case sqltype.Assignable(from.Type, to.Type.Type) != nil:
			return fault.New(16922, string(from.Kind), string(to.Type.Kind))
		}
	}
	return nil
}

// move moves a cursor and reads the row that it comes to. The row is nil if there is none; gone says that it has been
// deleted since the cursor was opened.
func (s *Session) move(c *cursor, direction string, offset int64) (row []value.Value, gone bool, err error) {
	c.scroll.Release()
	if c.plan.Model == planner.StaticCursor {
		if c.to(direction, offset, len(c.rows)) {
			row = c.rows[c.at]
		}
		return row, false, nil
	}
	if err := s.refreshPlan(c); err != nil {
		return nil, false, err
	}
	if c.plan.Model == planner.KeysetCursor {
		c.spots = nil
		if !c.to(direction, offset, len(c.keys)) {
			return nil, false, nil
		}
		row, c.spots, err = c.plan.Fetch(&c.frame, c.keys[c.at])
		gone = row == nil
	} else {
		row, gone, err = s.step(c, direction, offset)
	}
	if err == nil && row != nil {
		err = s.hold(c)
	}
	return row, gone, err
}

// to moves among a known number of rows, and reports whether there is a row.
func (c *cursor) to(direction string, offset int64, rows int) bool {
	n := int64(rows)
	at := int64(c.at)
	switch direction {
	case "NEXT":
		at++
	case "PRIOR":
		at--
	case "FIRST":
		at = 0
	case "LAST":
		at = n - 1
	case "ABSOLUTE":
		if at = offset - 1; offset < 0 {
			at = n + offset
		}
	case "RELATIVE":
		at += offset
	}
	at = max(-1, min(at, n))
	c.at = int(at)
	return at >= 0 && at < n
}

// step moves a dynamic cursor.
func (s *Session) step(c *cursor, direction string, offset int64) (row []value.Value, gone bool, err error) {
	switch direction {
	case "NEXT":
		row, err = c.stepOne(false)
	case "PRIOR":
		row, err = c.stepOne(true)
	case "FIRST":
		c.spots, c.behind = nil, false
		row, err = c.stepOne(false)
	case "LAST":
		c.spots, c.behind = nil, true
		row, err = c.stepOne(true)
	default:
		if offset == 0 && c.spots != nil {
			spots := c.spots
			if row, c.spots, err = c.plan.Fetch(&c.frame, spots); row == nil {
				c.spots = spots
			}
			return row, row == nil, err
		}
		backward := offset < 0
		for range max(offset, -offset) {
			if row, err = c.stepOne(backward); row == nil || err != nil {
				break
			}
		}
	}
	return row, false, err
}

// stepOne moves a dynamic cursor by a row. At an end it stays there.
func (c *cursor) stepOne(backward bool) ([]value.Value, error) {
	if c.spots == nil && c.behind != backward {
		return nil, nil // it is at that end
	}
	row, spots, err := c.plan.Step(&c.frame, c.spots, backward)
	if err != nil {
		return nil, err
	}
	if c.spots = spots; row == nil {
		c.behind = !backward
	}
	return row, nil
}

// refreshPlan makes the plan of a cursor fit for a statement: its frame is that of the present request, and its tables
// are what they were when the cursor was declared.
func (s *Session) refreshPlan(c *cursor) error {
	c.frame.Context = s.ctx //nolint:fatcontext // the request's, which it does not wrap
	if !s.same(c.temps) {
		return fault.New(16946)
	}
	stale, err := c.plan.Lock(&c.frame)
	if err != nil || !stale {
		return err
	}
	again, err := c.compile()
	if err != nil || !again.Like(c.plan) {
		return fault.New(16943)
	}
	c.plan = again
	return nil
}
