package vet

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// orderRules are about the locks that a transaction takes on several tables.
var orderRules = []Rule{
	{
		ID:      "Q6-foreign-key",
		Title:   "No foreign keys on or to a hot table",
		Reason:  "Their checks read and lock the other table, in an order that no procedure chose.",
		Bad:     "CREATE TABLE dbo.steps (id int NOT NULL, job int NOT NULL REFERENCES dbo.jobs (id));",
		Good:    "CREATE TABLE dbo.steps (id int NOT NULL, job int NOT NULL);",
		Needs:   "hot_tables",
		Example: Options{HotTables: []string{"jobs"}},
		check:   checkForeignKeys,
	},
	{
		ID:     "Q6-order",
		Title:  "A transaction locks tables in the configured order",
		Reason: "Two transactions that lock the same tables in another order deadlock.",
		Bad: `CREATE PROCEDURE dbo.finish @id int AS
SET NOCOUNT ON; SET XACT_ABORT ON;
BEGIN TRY
    BEGIN TRANSACTION;
    DELETE dbo.steps WHERE job = @id;
    DELETE dbo.jobs WHERE id = @id;
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;`,
		Good: `CREATE PROCEDURE dbo.finish @id int AS
SET NOCOUNT ON; SET XACT_ABORT ON;
BEGIN TRY
    BEGIN TRANSACTION;
    DELETE dbo.jobs WHERE id = @id;
    DELETE dbo.steps WHERE job = @id;
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;`,
		Needs:   "lock_order",
		Example: Options{LockOrder: []string{"jobs", "steps"}},
		check:   checkLockOrder,
	},
}

// checkForeignKeys looks at both ends of a key: the insert of a child reads the parent under a lock, and the delete
// of a parent looks for children.
func checkForeignKeys(p *pass) {
	check := func(u *unit, table *syntax.ObjectName, c *syntax.Constraint) {
		if c.Kind != "FOREIGN KEY" || c.References == nil {
			return
		}
		// One finding for a key, even if both ends are hot.
		for _, name := range []*syntax.ObjectName{table, c.References} {
			if hot := u.index(name, nil, nil, false).table; among(p.Options.HotTables, hot) {
				p.report(u, c.Span, "keep the rows together in the procedures that write them", "a foreign key on or to the hot table %s", hot)
				return
			}
		}
	}
	for _, u := range p.units {
		for s := range syntax.All[syntax.Stmt](u.node) {
			var name *syntax.ObjectName
			switch s := s.(type) {
			case *syntax.CreateTable:
				name = s.Name
			case *syntax.AlterTable:
				name = s.Name
			default:
				continue
			}
			for c := range syntax.All[*syntax.Constraint](s) {
				check(u, name, c)
			}
		}
	}
}

// lockOrder follows a body and notes which tables of the configured order a transaction has locked. Tables are
// numbers, their places in the order; tables that it doesn't name don't count.
type lockOrder struct {
	*pass
	u *unit
}

// checkLockOrder looks at each procedure by itself, as if it began without locks: what a caller has locked can't be
// seen.
func checkLockOrder(p *pass) {
	if len(p.Options.LockOrder) == 0 {
		return
	}
	for _, u := range p.procedures() {
		(&lockOrder{p, u}).run(u.body, nil)
	}
}

// run returns the places in the order of the tables that are locked behind a list of statements. Branches are followed
// one by one; a loop is followed once.
func (o *lockOrder) run(list []syntax.Stmt, locked []int) []int {
	for _, s := range list {
		locked = o.stmt(s, locked)
	}
	return locked
}

// stmt returns the tables that are locked behind a statement, and reports those that it locks out of order. BEGIN,
// COMMIT and ROLLBACK all leave nothing locked: a rollback to a savepoint keeps some, which is missed.
func (o *lockOrder) stmt(s syntax.Stmt, locked []int) []int {
	switch s := s.(type) {
	case *syntax.Block:
		return o.run(s.Stmts, locked)
	case *syntax.If:
		if s.Else == nil {
			return union(o.branch(s.Then, locked), locked)
		}
		return union(o.branch(s.Then, locked), o.branch(s.Else, locked))
	case *syntax.While:
		return o.stmt(s.Body, locked)
	case *syntax.TryCatch:
		// CATCH begins with nothing: it rolls back first, as P1-catch wants it.
		return union(o.run(s.Try, locked), o.run(s.Catch, nil))
	case *syntax.Transaction:
		if s.Verb == "SAVE" {
			return locked
		}
		return nil
	}
	// The flow knows of no transaction here. A caller's may be open, but then it is the caller who breaks the order.
	if o.u.flow.before[s] == txEntry {
		return nil // it commits by itself
	}
	for _, t := range o.locks(s) {
		locked = o.lock(t, locked)
	}
	return locked
}

// branch follows one branch of IF and returns what is locked behind the IF if it was taken: nothing, if the branch
// never gets there.
func (o *lockOrder) branch(s syntax.Stmt, locked []int) []int {
	behind := o.stmt(s, slices.Clone(locked))
	if leaves(s) {
		return nil
	}
	return behind
}

// lockedTable is a table that a statement locks until the transaction ends.
type lockedTable struct {
	at    diag.Span
	place int // in the configured order
}

// locks returns the tables that a statement reads under update locks, then the one it writes. Plain reads are left
// out, for they lock nothing until the end of the transaction.
func (o *lockOrder) locks(s syntax.Stmt) []lockedTable {
	var out []lockedTable
	add := func(source *analyze.ReadTable, at diag.Span) {
		name := source.StoredName()
		place := slices.IndexFunc(o.Options.LockOrder, func(t string) bool { return among([]string{t}, name) })
		if place >= 0 {
			out = append(out, lockedTable{at, place})
		}
	}
	written, node := o.u.target(s)
	for t := range syntax.All[*syntax.TableRef](s) {
		if hinted(t, "UPDLOCK", "XLOCK", "HOLDLOCK", "SERIALIZABLE", "TABLOCKX") && o.u.Tables[t] != written {
			add(o.u.Tables[t], t.Span)
		}
	}
	if written != nil {
		add(written, node.Range())
	}
	return out
}

// lock notes one table, and reports one that comes before another which is locked already.
func (o *lockOrder) lock(t lockedTable, locked []int) []int {
	// A table that is locked already may be locked again at any time.
	if slices.Contains(locked, t.place) {
		return locked
	}
	if later := slices.IndexFunc(locked, func(n int) bool { return n > t.place }); later >= 0 {
		order := o.Options.LockOrder
		o.report(o.u, t.at, "the order is "+strings.Join(order, ", "), "%s is locked after %s", order[t.place], order[locked[later]])
	}
	return append(locked, t.place)
}

// union adds what b has more to a, in the order of b.
func union(a, b []int) []int {
	for _, n := range b {
		if !slices.Contains(a, n) {
			a = append(a, n)
		}
	}
	return a
}
