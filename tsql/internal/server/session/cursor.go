package session

import (
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// cursor is a cursor: it lives as long as a name or a variable refers to it.
type cursor struct {
	*cursorKind

	refs    int
	request uint64 // the request that declared it
	plan    *planner.Cursor
	compile func() (*planner.Cursor, error)
	temps   []dependency
	// frame has the variables as they were when the cursor was declared: they stay so, whoever opens it.
	frame execute.Frame

	open bool
	rows [][]value.Value  // of a static cursor
	keys [][]execute.Spot // of a keyset
	at   int              // the place in rows or keys: -1 before the first, their number behind the last
	// spots are the row that the cursor is on, by source of the plan; nil if it is on none.
	spots  []execute.Spot
	behind bool // a dynamic cursor has come to its end
	scroll *store.Scroll
}

// CURSOR_STATUS says one of these.
const (
	statusRows   = 1
	statusEmpty  = 0
	statusClosed = -1
	statusNone   = -2 // the variable has no cursor
	statusNoName = -3
)

// cursorStatement executes a statement on a cursor.
func (s *Session) cursorStatement(a *activation, st *syntax.CursorStmt) error {
	if st.Verb == "DECLARE" {
		return s.declareCursor(a, st)
	}
	c, err := s.findCursor(a, st.CursorName)
	if err != nil {
		return err
	}
	s.rowCount = 0
	switch st.Verb {
	case "OPEN":
		return s.openCursor(c)
	case "FETCH":
		return s.fetch(a, c, st)
	case "CLOSE":
		if !c.open {
			return fault.New(16917)
		}
		c.close()
		return nil
	default:
		s.deallocate(a, st.CursorName)
		return nil
	}
}

// declareCursor makes a cursor, with a name or for a variable.
func (s *Session) declareCursor(a *activation, st *syntax.CursorStmt) error {
	kind, err := kindOfCursor(st.Definition)
	if err != nil {
		return err
	}
	key := fold(st.Name)
	into := s.cursors
	switch {
	case key[0] == '@':
		if err := a.unit.holdsCursor(st.Name); err != nil {
			return err
		}
		into = a.cursorVariables()
	case kind.local || !kind.global && s.db.Options["CURSOR_DEFAULT"] == "LOCAL":
		into = a.localCursors()
	}
	if key[0] != '@' && into[key] != nil {
		return fault.New(16915, st.Name)
	}
	c, err := s.newCursor(a, st, kind)
	if err != nil {
		return err
	}
	release(into[key])
	into[key] = c
	return nil
}

// newCursor compiles a cursor.
func (s *Session) newCursor(a *activation, st *syntax.CursorStmt, kind *cursorKind) (*cursor, error) {
	p, err := s.cursorPlan(a.unit, st, kind)
	if err != nil {
		return nil, err
	}
	if kind.update && p.Model == planner.StaticCursor {
		return nil, fault.New(16957)
	}
	if err := kind.checkColumns(p); err != nil {
		return nil, err
	}
	if kind.warn && p.Model != kind.wanted {
		e := fault.New(16956)
		s.Message(e.Number, e.Class, e.Message)
	}
	a.need(p.Tables)
	u := a.unit
	c := &cursor{cursorKind: kind, refs: 1, request: s.requests, plan: p, frame: a.frame, scroll: s.store.Scroll()}
	if cached := u.plans[st]; cached != nil {
		c.temps = cached.temps
	}
	c.compile = func() (*planner.Cursor, error) { return s.cursorPlan(u, st, kind) }
	c.frame.Variables, c.frame.Tables = slices.Clone(a.frame.Variables), slices.Clone(a.frame.Tables)
	return c, nil
}

// cursorPlan compiles the query of a cursor.
func (s *Session) cursorPlan(u *unit, st *syntax.CursorStmt, kind *cursorKind) (*planner.Cursor, error) {
	return planned(s, u, st, func(env *binder.Env) (*planner.Cursor, error) {
		return planner.CompileCursor(env, st.Definition.Query, planner.CursorOptions{Model: kind.wanted, Fast: kind.fast, Locks: kind.locks})
	})
}

// findCursor finds a cursor by its name or by a variable: a local one before a global one.
func (s *Session) findCursor(a *activation, name syntax.CursorName) (*cursor, error) {
	key := fold(name.Name)
	if key[0] == '@' {
		if err := a.unit.holdsCursor(name.Name); err != nil {
			return nil, err
		}
		if c := a.variables[key]; c != nil {
			return c, nil
		}
		return nil, fault.New(16950, name.Name)
	}
	if c := a.cursors[key]; c != nil && !name.Global {
		return c, nil
	}
	if c := s.cursors[key]; c != nil {
		return c, nil
	}
	return nil, fault.New(16916, name.Name)
}

// holdsCursor checks that a variable is one that holds cursors.
func (u *unit) holdsCursor(name string) error {
	switch {
	case u.cursorVariables[fold(name)]:
		return nil
	case u.knows(name):
		return fault.New(16948, name)
	default:
		return fault.New(137, name)
	}
}

// deallocate takes the name or the variable away from a cursor.
func (s *Session) deallocate(a *activation, name syntax.CursorName) {
	key := fold(name.Name)
	from := s.cursors
	if key[0] == '@' {
		from = a.variables
	} else if a.cursors[key] != nil && !name.Global {
		from = a.cursors
	}
	release(from[key])
	delete(from, key)
}

// localCursors are the cursors of an activation, by folded name.
func (a *activation) localCursors() map[string]*cursor {
	if a.cursors == nil {
		a.cursors = map[string]*cursor{}
	}
	return a.cursors
}

// cursorVariables are the cursors that variables of an activation refer to, by folded name with the @.
func (a *activation) cursorVariables() map[string]*cursor {
	if a.variables == nil {
		a.variables = map[string]*cursor{}
	}
	return a.variables
}

// release takes a reference away from a cursor, which goes with the last one.
func release(c *cursor) {
	if c == nil {
		return
	}
	if c.refs--; c.refs == 0 {
		c.close()
	}
}

// dropCursors ends all cursors that a map refers to.
func dropCursors(list map[string]*cursor) {
	for _, key := range slices.Sorted(maps.Keys(list)) {
		release(list[key])
	}
	clear(list)
}

// close forgets the rows of a cursor and lets its locks go.
func (c *cursor) close() {
	c.open, c.rows, c.keys, c.spots, c.at, c.behind = false, nil, nil, nil, -1, false
	c.scroll.Release()
}

// openCursors calls f for each open cursor of the session.
func (s *Session) openCursors(f func(c *cursor)) {
	lists := []map[string]*cursor{s.cursors}
	for _, a := range s.stack {
		lists = append(lists, a.cursors, a.variables)
	}
	for _, list := range lists {
		for _, key := range slices.Sorted(maps.Keys(list)) {
			if c := list[key]; c.open {
				f(c)
			}
		}
	}
}

// closeCursors closes what the end of a transaction closes: with CURSOR_CLOSE_ON_COMMIT all cursors, else a rollback
// closes those that are not static.
func (s *Session) closeCursors(rollback bool) {
	all := s.options.cursorCloseOnCommit
	if !all && !rollback {
		return
	}
	s.openCursors(func(c *cursor) {
		if all || c.plan.Model != planner.StaticCursor {
			c.close()
		}
	})
}

// forgetCursors ends the cursors that the request has declared: an error has ended the batch and undone its
// transaction.
func (s *Session) forgetCursors() {
	for _, key := range slices.Sorted(maps.Keys(s.cursors)) {
		if c := s.cursors[key]; c.request == s.requests {
			release(c)
			delete(s.cursors, key)
		}
	}
}

// openCursor executes OPEN.
func (s *Session) openCursor(c *cursor) error {
	if c.open {
		return fault.New(16905)
	}
	scope := s.begin()
	if err := s.end(scope, s.load(c)); err != nil {
		return err
	}
	c.open, c.at, c.spots, c.behind = true, -1, nil, false
	s.lastCursor = c
	return nil
}

// load reads what a cursor keeps: the rows of a static one, the keys of a keyset.
func (s *Session) load(c *cursor) (err error) {
	if err := s.refreshPlan(c); err != nil {
		return err
	}
	if err := c.plan.May(&c.frame); err != nil {
		return err
	}
	limit := s.options.rowCount
	switch c.plan.Model {
	case planner.StaticCursor:
		c.rows = nil
		err = c.plan.All(&c.frame, func(row []value.Value) error {
			if limit > 0 && int64(len(c.rows)) == limit {
				return errEnough
			}
			c.rows = append(c.rows, slices.Clone(row))
			return nil
		})
	case planner.KeysetCursor:
		c.keys = nil
		err = c.plan.Keys(&c.frame, func(row []execute.Spot) error {
			if limit > 0 && int64(len(c.keys)) == limit {
				return errEnough
			}
			c.keys = append(c.keys, row)
			return nil
		})
	case planner.DynamicCursor:
	}
	if err == errEnough { //nolint:errorlint // it is never wrapped
		err = nil
	}
	return err
}

// CursorStatus is CURSOR_STATUS.
func (s *Session) CursorStatus(scope, name string) int64 {
	a, key := s.top(), fold(name)
	var c *cursor
	switch fold(scope) {
	case "local":
		if a != nil {
			c = a.cursors[key]
		}
	case "global":
		c = s.cursors[key]
	case "variable":
		if a != nil && a.unit.cursorVariables[key] {
			if c = a.variables[key]; c == nil {
				return statusNone
			}
		}
	}
	switch {
	case c == nil:
		return statusNoName
	case !c.open:
		return statusClosed
	case c.plan.Model != planner.DynamicCursor && len(c.rows)+len(c.keys) == 0:
		return statusEmpty
	default:
		return statusRows
	}
}

// cursorRows is @@CURSOR_ROWS: of the cursor that was opened last.
func (s *Session) cursorRows() int64 {
	c := s.lastCursor
	switch {
	case c == nil || !c.open:
		return 0
	case c.plan.Model == planner.DynamicCursor:
		return -1
	default:
		return int64(len(c.rows) + len(c.keys))
	}
}

// hold locks the row that a cursor is on for as long as it is there.
func (s *Session) hold(c *cursor) error {
	for i, source := range c.plan.Sources {
		if source.Hold == lock.NL || c.spots[i].Row == nil {
			continue
		}
		t := source.Source.In(&c.frame)
		if err := c.scroll.Hold(s.Statement(), t.Data, c.spots[i].Base, source.Hold); err != nil {
			return err
		}
	}
	return nil
}

// CurrentRow is the row for WHERE CURRENT OF.
func (s *Session) CurrentRow(name syntax.CursorName, t *schema.Table, columns []string) (binder.CurrentRow, error) {
	var out binder.CurrentRow
	c, err := s.findCursor(s.top(), name)
	if err != nil {
		return out, err
	}
	i := slices.IndexFunc(c.plan.Sources, func(x planner.CursorSource) bool { return x.Source.In(&c.frame) == t })
	switch {
	case !c.open:
		return out, fault.New(16917)
	case c.readOnly || c.plan.Model == planner.StaticCursor || i >= 0 && c.plan.Sources[i].Unlocked:
		return out, fault.New(16929)
	case i < 0:
		return out, fault.New(16933)
	case len(c.spots) == 0 || c.spots[i].Row == nil:
		return out, fault.New(16931)
	}
	for _, column := range columns {
		if len(c.columns) > 0 && !c.columns[fold(column)] {
			return out, fault.New(16932)
		}
	}
	out.Spot, out.Optimistic = c.spots[i], c.optimistic
	return out, nil
}

// changedCurrent notes what WHERE CURRENT OF has made of the row that a cursor is on.
func (s *Session) changedCurrent(a *activation, name *syntax.CursorName) {
	c, err := s.findCursor(a, *name)
	if err != nil || c.spots == nil {
		return
	}
	c.plan.Refresh(&c.frame, c.spots)
	if c.plan.Model == planner.KeysetCursor {
		c.keys[c.at] = slices.Clone(c.spots)
	}
}

var _ binder.Cursors = (*Session)(nil)
