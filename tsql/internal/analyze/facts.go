package analyze

import (
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// facts holds the variables that are not NULL at a place, on whichever way a call has come there, and the temp tables
// and table variables with one row at most: see [singleRow]. The walker follows it from statement to statement:
//
//	DECLARE @n int = 0;                        -- @n
//	IF @p IS NULL SET @p = 1;                  -- @n, @p
//	SELECT @n = t.id FROM dbo.t AS t;          -- @n, @p: without a row @n stays what it was, and id is NOT NULL
//	BEGIN TRY SET @p = @missing; … END TRY
//	BEGIN CATCH … END CATCH;                   -- @n
//
// A value is never changed; what adds or takes away makes a copy.
type facts struct {
	vars map[string]bool // by their folded names, and by those that empty and singleRow give to tables
	// nowhere says that no way comes to the place. There everything holds, so that where ways meet it counts for
	// nothing.
	nowhere bool
}

// has reports whether a variable is not NULL.
func (n facts) has(name string) bool { return n.nowhere || n.vars[catalog.Fold(name)] }

// with adds variables.
func (n facts) with(names []string) facts {
	if n.nowhere || len(names) == 0 {
		return n
	}
	vars := maps.Clone(n.vars)
	if vars == nil {
		vars = map[string]bool{}
	}
	for _, name := range names {
		vars[catalog.Fold(name)] = true
	}
	return facts{vars: vars}
}

// without takes variables away.
func (n facts) without(names []string) facts {
	if n.nowhere || !slices.ContainsFunc(names, n.has) {
		return n
	}
	vars := maps.Clone(n.vars)
	for _, name := range names {
		delete(vars, catalog.Fold(name))
	}
	return facts{vars: vars}
}

// meet returns what holds where two ways come together.
func (n facts) meet(o facts) facts {
	switch {
	case n.nowhere:
		return o
	case o.nowhere:
		return n
	}
	vars := maps.Clone(n.vars)
	maps.DeleteFunc(vars, func(name string, _ bool) bool { return !o.vars[name] })
	return facts{vars: vars}
}

// stored notes what the present statement has stored in a variable.
func (e *env) stored(name string, notNull bool) {
	name = catalog.Fold(name)
	before, again := e.assigned[name]
	e.assigned[name] = notNull && (before || !again)
}

// mayFail notes that an error may lead from here to the CATCH around.
func (w *walker) mayFail() {
	if w.failing != nil {
		*w.failing = w.failing.meet(w.e.facts)
	}
}

// leave notes what holds at a place where the body ends.
func (w *walker) leave() { w.body.leaves = w.body.leaves.meet(w.e.facts) }

// assigning runs the walk over a statement that may assign variables, and notes which of them are not NULL behind it.
func (w *walker) assigning(s syntax.Stmt, run func() int) int {
	names := assignedIn(s)
	before := w.e.facts
	if makesTable(s) {
		w.e.facts = before.ofTables() // a column that is made of a variable allows NULL, whatever the variable holds
	} else if len(names) > 0 {
		w.e.facts = w.rereads(s, names)
	}
	clear(w.e.assigned)
	w.e.found = Many
	to := run()
	w.e.facts = before
	if _, other := s.(*syntax.Other); other {
		w.e.facts = facts{nowhere: before.nowhere} // its variables aren't looked at
	}
	w.fills(s)
	if len(names) == 0 {
		return to
	}
	before = w.e.facts
	var kept []string
	_, fetches := s.(*syntax.CursorStmt) // of a row that is gone
	for _, name := range names {
		if !fetches && w.e.assigned[catalog.Fold(name)] && (before.has(name) || assignsAlways(s) || w.e.found == One) {
			kept = append(kept, name)
		}
	}
	w.e.facts = before.without(names).with(kept)
	return to
}

// assignsAlways reports whether a statement assigns all its variables. A query that finds no row assigns none, and
// neither does FETCH.
func assignsAlways(s syntax.Stmt) bool {
	switch s.(type) {
	case *syntax.SetVariable, *syntax.Declare, *syntax.Exec:
		return true
	default:
		return false
	}
}

// rereads returns what holds while a statement assigns variables. One that reads what it assigns, as does
//
//	SELECT @last = @name, @name = t.name FROM dbo.t AS t
//
// reads in the second row what the first one has stored.
func (w *walker) rereads(s syntax.Stmt, names []string) facts {
	before := w.e.facts
	switch s := s.(type) {
	case *syntax.SelectStmt:
		w.trial(s, before)
		if slices.ContainsFunc(names, func(n string) bool { return before.has(n) && !w.e.assigned[catalog.Fold(n)] }) {
			return before.without(names)
		}
		return before
	case *syntax.SetVariable, *syntax.Exec:
		return before
	default:
		return before.without(names)
	}
}

// trial finds out what a statement stores in its variables, given which are not NULL.
func (w *walker) trial(s syntax.Node, given facts) {
	before := w.e.facts
	w.e.facts = given
	clear(w.e.assigned)
	w.a.quietly(func() {
		switch s := s.(type) {
		case *syntax.SetVariable:
			w.a.assignVariable(w.e, s.Variable, s.Op, w.a.scalar(w.e, s.X), s.X)
		case *syntax.SelectStmt:
			if !makesTable(s) {
				w.a.query(w.e, s.Query)
			}
		case *syntax.Exec:
			if w.executedFunction(s) == nil {
				w.status(s)
			}
		}
	})
	w.e.facts = before
}

// throughout returns the variables that are not NULL at any place in a loop: those that are not before it, and that it
// assigns nothing which may be NULL as long as they are not. A GOTO into the loop may come from anywhere.
func (w *walker) throughout(s *syntax.While) facts {
	if w.e.facts.nowhere {
		return w.e.facts
	}
	for range syntax.All[*syntax.Label](s.Body) {
		return facts{}
	}
	all := w.e.facts.without(w.filledIn(s.Body, w.e.facts))
	for {
		var lost []string
		syntax.Walk(s.Body, func(n syntax.Node) bool {
			stmt, ok := n.(syntax.Stmt)
			if !ok {
				return false
			}
			if names := assignsItself(stmt); slices.ContainsFunc(names, all.has) {
				w.trial(stmt, all)
				for _, name := range names {
					if !w.e.assigned[catalog.Fold(name)] {
						lost = append(lost, name)
					}
				}
			}
			return true
		})
		if !slices.ContainsFunc(lost, all.has) {
			return all
		}
		all = all.without(lost)
	}
}

// assignsItself is assignedIn for a statement without those that it is made of.
func assignsItself(s syntax.Stmt) []string {
	switch s.(type) {
	case *syntax.Block, *syntax.If, *syntax.While, *syntax.TryCatch:
		return nil
	default:
		return assignedIn(s)
	}
}

// assignedIn lists the variables that a statement may assign.
func assignedIn(s syntax.Stmt) []string {
	var names []string
	add := func(vars ...*syntax.Variable) {
		for _, v := range vars {
			if v != nil {
				names = append(names, v.Name)
			}
		}
	}
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SetVariable:
			add(n.Variable)
		case *syntax.SelectItem:
			add(n.Variable)
		case *syntax.Assignment:
			add(n.Variable)
		case *syntax.CursorStmt:
			add(n.Into...)
		case *syntax.Exec:
			add(n.Status)
		case *syntax.ExecArg:
			if v, ok := n.X.(*syntax.Variable); ok && n.Output {
				add(v)
			}
		case *syntax.Declare:
			for i := range n.Vars {
				if d := &n.Vars[i]; d.Init != nil {
					names = append(names, d.Name)
				}
			}
		}
		return true
	})
	return names
}
