package analyze

import (
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// insertExec checks INSERT … EXEC: what the procedure sends must fit the columns that are inserted.
//
// The server takes every set that the procedure sends, one after the other, and each must fit:
//
//	INSERT @t (id) EXEC dbo.pair;     -- a, then b, both of one int column
//
// A set that need not come may be meant for another call. Nothing goes to the client, so that the callee's flow does
// not count.
func (w *walker) insertExec(s *syntax.Insert) {
	w.body.insertExec = true
	x := s.Exec
	w.status(x)
	callee := (*catalog.Procedure)(nil)
	if x.Name != nil {
		callee = w.callee(x.Name)
	}
	if callee == nil {
		for _, part := range x.SQL {
			w.value(part)
		}
		w.looseArguments(x)
		return // the columns are the server's to check
	}
	w.arguments(x, callee)
	b, done := w.procedureBody(callee, w.e.settings)
	w.body.throws.call(b, !w.swallowed)
	if !done {
		w.fail(x, ruleExec, "", "INSERT … EXEC cannot be nested, as it is when a procedure inserts what it sends itself")
		return
	}
	if b.unknown != "" {
		return // as for one that no script defines
	}
	if b.nests(map[*body]bool{}) {
		w.fail(x, ruleExec, "let the procedure fill a temp table of the caller",
			"INSERT … EXEC cannot be nested, and %s has one", callee.Name)
		return
	}
	w.insertSets(s, b)
}

// insertSets checks each set of the procedure against the target columns of INSERT … EXEC.
//
// The target is looked up once more than dml does; what is wrong with it must be reported once.
func (w *walker) insertSets(s *syntax.Insert, callee *body) {
	results, _ := w.shape(callee)
	if callee.broken || callee.opaque {
		return
	}
	var target *source
	var columns []int
	w.a.quietly(func() { // dml reports what is wrong with the target
		sc := &scope{env: w.e, level: level{Clause: lookup.InValues}}
		w.a.with(sc, s.With)
		target = w.a.target(sc, s.Target, nil)
		columns = w.a.insertColumns(w.e, target, s.Columns)
	})
	for _, r := range results {
		if !target.bad && len(r.Columns) != len(columns) {
			if !r.Maybe {
				w.fail(s.Exec, ruleExec, "insert as many columns as the procedure sends", "the result set at %s has %s for %s",
					site{r.File, r.Span}, diag.Count(len(r.Columns), "column"), diag.Count(len(columns), "column"))
			}
			continue
		}
		// What the callee sends is stored as the rows of a query would be.
		var out result
		for _, c := range r.Columns {
			c.Span = s.Exec.Span
			out.columns = append(out.columns, c)
			out.values = append(out.values, typed{Type: c.Type, Nullable: c.Nullable})
		}
		w.a.store(w.e, target, columns, out, s.Exec.Span)
	}
}

// nests reports an INSERT … EXEC in a body or in what it calls. seen breaks the circle of procedures that call each
// other.
func (b *body) nests(seen map[*body]bool) bool {
	if seen[b] {
		return false
	}
	seen[b] = true
	if b.insertExec {
		return true
	}
	for c := range b.throws.calls {
		if c.nests(seen) {
			return true
		}
	}
	return false
}
