package vet

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// leaseRules are about rows that belong to somebody until a time.
var leaseRules = []Rule{
	{
		ID:    "Q3",
		Title: "A write to a leased row repeats its precondition: the token and the end of the lease, or that there is no token",
		Reason: "Between the read and the write the lease may have ended and gone to another. Correctness must hold even if " +
			"every hint is ignored.",
		Bad:     "UPDATE dbo.jobs SET done = 1 WHERE id = @id AND lock_token = @token;",
		Good:    "UPDATE dbo.jobs SET done = 1 OUTPUT inserted.id WHERE id = @id AND lock_token = @token AND locked_until > @now;",
		Needs:   "lock_tokens and locked_until",
		Example: leaseExample,
		check:   checkPreconditions,
	},
	{
		ID:     "Q3-rowcount",
		Title:  "After a write that tests a lease, @@ROWCOUNT is read or the rows are returned",
		Reason: "Zero rows is how a caller learns that the lease is lost; without a look at it the loss is a success.",
		Bad: `CREATE PROCEDURE dbo.finish @id int, @token int, @now bigint AS
SET NOCOUNT ON; SET XACT_ABORT ON;
UPDATE dbo.jobs SET done = 1 WHERE id = @id AND lock_token = @token AND locked_until > @now;`,
		Good: `CREATE PROCEDURE dbo.finish @id int, @token int, @now bigint AS
SET NOCOUNT ON; SET XACT_ABORT ON;
UPDATE dbo.jobs SET done = 1 WHERE id = @id AND lock_token = @token AND locked_until > @now;
IF @@ROWCOUNT = 0 THROW 50010, N'the lease is lost', 1;`,
		Needs:   "lock_tokens and locked_until",
		Example: leaseExample,
		check:   checkLeaseCounts,
	},
	{
		ID:    "Q3-wait",
		Title: "A write to one row, or to rows that belong to somebody, waits for them",
		Reason: "With READPAST, a row that somebody is looking at is passed over, and the lease counts as lost though it is held. A sweep " +
			"of leases that have ended, token IS NULL OR end <= now, may do so: it comes again.",
		Bad:     "CREATE TABLE dbo.jobs (id int NOT NULL PRIMARY KEY, lock_token int, locked_until int);\nGO\nDELETE FROM dbo.jobs WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK) WHERE id = @id AND lock_token = @token AND locked_until > @now;",
		Good:    "CREATE TABLE dbo.jobs (id int NOT NULL PRIMARY KEY, lock_token int, locked_until int);\nGO\nDELETE FROM dbo.jobs WHERE id = @id AND lock_token = @token AND locked_until > @now;",
		Example: leaseExample,
		check:   checkWaits,
	},
}

// leaseExample is what the examples of both rules assume.
var leaseExample = Options{LockTokens: []string{"lock_token"}, LockedUntil: []string{"locked_until"}}

// lease is what a statement has to do with the columns of a lease.
type lease struct {
	touches bool // it sets one, or tests the token
	token   bool // its condition tests the token
	until   bool // and the end
	free    bool // and that there is no token
}

// leaseOf looks at an UPDATE or DELETE. Conditions in subqueries don't count: they were true when the rows were looked
// for.
func (o Options) leaseOf(s syntax.Stmt) lease {
	var l lease
	where, from := conditionsOf(s)
	if u, ok := s.(*syntax.Update); ok {
		// Whoever sets a column of a lease takes, renews or ends one. Setting it to itself locks the row and changes
		// nothing.
		for _, a := range u.Set {
			if a.Column != nil && !toItself(a) && (isColumn(a.Column, o.LockTokens) || isColumn(a.Column, o.LockedUntil)) {
				l.touches = true
			}
		}
	}
	conditions := []syntax.Expr{where}
	for _, f := range from {
		syntax.Walk(f, func(n syntax.Node) bool {
			if j, ok := n.(*syntax.Join); ok {
				conditions = append(conditions, j.On)
			}
			// A derived table in FROM is a read of its own, as a subquery in WHERE is.
			return !is[*syntax.Query](n)
		})
	}
	for _, c := range conditions {
		if c != nil {
			o.test(c, &l)
		}
	}
	l.touches = l.touches || l.token
	return l
}

// toItself says whether an assignment leaves a column as it is.
func toItself(a syntax.Assignment) bool {
	from, ok := syntax.Unparen(a.X).(*syntax.ColumnRef)
	return ok && a.Op == "=" && same(from.Last().Value, a.Column.Last().Value)
}

// conditionsOf returns where an UPDATE or DELETE says which rows it is about.
func conditionsOf(s syntax.Stmt) (where syntax.Expr, from []syntax.TableSource) {
	switch s := s.(type) {
	case *syntax.Update:
		return s.Where, s.From
	case *syntax.Delete:
		return s.Where, s.From
	default:
		return nil, nil
	}
}

// test notes what a condition asks about a lease.
func (o Options) test(condition syntax.Expr, l *lease) {
	syntax.Walk(condition, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Query:
			return false
		case *syntax.IsNull:
			// token IS NULL is the test of a claim: it takes what is free. That it comes with "OR end <= now" can't
			// be demanded, for a design may sweep expired leases elsewhere.
			if ref, ok := syntax.Unparen(n.X).(*syntax.ColumnRef); ok && isColumn(ref, o.LockTokens) && !n.Not {
				l.free = true
			}
		case *syntax.ColumnRef:
			l.token = l.token || isColumn(n, o.LockTokens)
			l.until = l.until || isColumn(n, o.LockedUntil)
		}
		return true
	})
}

// isColumn says whether a reference is to one of the columns, whatever its qualifier: the columns of a lease have the
// same names in all tables, or the option lists them all.
func isColumn(ref *syntax.ColumnRef, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return same(n, ref.Last().Value) })
}

// leased calls f for every UPDATE and DELETE of stored rows that has to do with a lease.
func (p *pass) leased(f func(u *unit, s syntax.Stmt, l lease)) {
	if len(p.Options.LockTokens) == 0 || len(p.Options.LockedUntil) == 0 {
		return
	}
	for _, u := range p.units {
		for s := range syntax.All[syntax.Stmt](u.node) {
			_, update := s.(*syntax.Update)
			_, remove := s.(*syntax.Delete)
			if !update && !remove || !u.writesStored(s) {
				continue
			}
			if l := p.Options.leaseOf(s); l.touches {
				f(u, s, l)
			}
		}
	}
}

// checkPreconditions reports writes that trust what an earlier statement saw. Either the row must be free, or it must
// still be the caller's: the right token, and a lease that hasn't ended.
func checkPreconditions(p *pass) {
	p.leased(func(u *unit, s syntax.Stmt, l lease) {
		if !l.free && (!l.token || !l.until) {
			// The token first, if both are missing: without it the end of a lease is anybody's.
			missing := strings.Join(p.Options.LockedUntil, " or ")
			if !l.token {
				missing = strings.Join(p.Options.LockTokens, " or ")
			}
			p.report(u, head(u, s), "add it to WHERE: token = @token AND end > @now, or token IS NULL OR end <= @now",
				"this write to a leased row does not test %s", missing)
		}
	})
}

// checkWaits looks at writes that name their row by its key. Those that come to it from another table may be sweeps.
func checkWaits(p *pass) {
	for _, u := range p.units {
		for s := range syntax.All[syntax.Stmt](u.node) {
			written, node := u.target(s)
			_, from := conditionsOf(s)
			l := p.Options.leaseOf(s)
			if written == nil || is[*syntax.Insert](s) || l.free || !l.touches && len(from) > 0 {
				continue
			}
			at := written.Ref
			if at == nil {
				at, _ = node.(*syntax.TableRef)
			}
			if at != nil && hinted(at, "READPAST") && u.reachedByKey(s, at) {
				p.report(u, at.Span, "leave READPAST out", "this write does not wait for its row")
			}
		}
	}
}

// checkLeaseCounts looks at the statement directly behind, because almost every other statement sets @@ROWCOUNT anew,
// even a SET or an IF. Whoever returns the rows by OUTPUT leaves the counting to the caller.
func checkLeaseCounts(p *pass) {
	p.leased(func(u *unit, s syntax.Stmt, l lease) {
		if !u.module() || l.free || !l.token || !l.until || outputOf(s) != nil {
			return
		}
		if following := u.following(s); following == nil || !systemVariable(following, "@@ROWCOUNT") {
			p.report(u, head(u, s), "IF @@ROWCOUNT = 0 THROW … behind it", "nothing asks whether the lease was still held")
		}
	})
}

// outputOf returns the OUTPUT clause of an UPDATE or DELETE.
func outputOf(s syntax.Stmt) *syntax.Output {
	switch s := s.(type) {
	case *syntax.Update:
		return s.Output
	case *syntax.Delete:
		return s.Output
	default:
		return nil
	}
}

// following returns the statement that stands directly behind another in its list. The last of a block is followed by
// what follows the block: @@ROWCOUNT is still that of the statement then.
func (u *unit) following(s syntax.Stmt) syntax.Stmt {
	// Outer lists come before inner ones in the walk, so that what follows a block is known when its last statement
	// asks.
	after := map[syntax.Stmt]syntax.Stmt{}
	link := func(list []syntax.Stmt, behind syntax.Stmt) {
		for i, at := range list {
			after[at] = behind
			if i+1 < len(list) {
				after[at] = list[i+1]
			}
		}
	}
	link(u.body, nil)
	for n := range syntax.All[syntax.Stmt](u.node) {
		switch n := n.(type) {
		case *syntax.Block:
			link(n.Stmts, after[n])
		case *syntax.If:
			after[n.Then] = after[n]
			if n.Else != nil {
				after[n.Else] = after[n]
			}
		case *syntax.TryCatch:
			link(n.Try, after[n])
			link(n.Catch, nil)
		}
	}
	return after[s]
}
