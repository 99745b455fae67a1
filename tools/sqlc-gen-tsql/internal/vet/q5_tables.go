package vet

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/syntax"
)

// tableRules are about the tables that everybody works on at once.
var tableRules = []Rule{
	{
		ID:    "Q5",
		Title: "A queue table is clustered, and none of its indexes locks pages",
		Reason: "A heap never gives back the space of deleted rows; a page lock makes every claimer skip the rows that share " +
			"the page.",
		Bad:     "CREATE TABLE dbo.jobs (id bigint NOT NULL, CONSTRAINT pk PRIMARY KEY (id));",
		Good:    "CREATE TABLE dbo.jobs (id bigint NOT NULL, CONSTRAINT pk PRIMARY KEY (id) WITH (ALLOW_PAGE_LOCKS = OFF));",
		Needs:   "queue_tables",
		Example: Options{QueueTables: []string{"jobs"}},
		check:   checkQueues,
	},
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

func checkQueues(p *pass) {
	clustered := map[string]bool{}
	for _, ix := range p.keys {
		clustered[ix.table.Key()] = clustered[ix.table.Key()] || ix.clustered
		if ix.isType || !among(p.Options.QueueTables, ix.table) || p.pageLocksOff(ix) {
			continue
		}
		p.report(ix.u, ix.at, "WITH (ALLOW_PAGE_LOCKS = OFF)", "an index of the queue %s locks pages", ix.table)
	}
	for _, u := range p.units {
		for t := range syntax.All[*syntax.CreateTable](u.node) {
			name := u.index(t.Name, nil, nil, false).table
			if among(p.Options.QueueTables, name) && !clustered[name.Key()] {
				p.report(u, t.Name.Span, "give it a clustered primary key", "the queue %s has no clustered index", name)
			}
		}
	}
}

// pageLocksOff looks at the options of an index, and for an ALTER INDEX that sets them later.
func (s *session) pageLocksOff(ix index) bool {
	for _, o := range ix.options {
		if o.Name == "ALLOW_PAGE_LOCKS" {
			return strings.EqualFold(strings.TrimSpace(o.Value), "OFF")
		}
	}
	for _, u := range s.units {
		for other := range syntax.All[*syntax.Other](u.node) {
			text := u.script.File.Slice(other.Span)
			if other.Words == "ALTER INDEX" && containsWord(text, "ALLOW_PAGE_LOCKS") && containsWord(text, ix.table.Name) &&
				(containsWord(text, "ALL") || ix.name != "" && containsWord(text, ix.name)) {
				return true
			}
		}
	}
	return false
}

func checkForeignKeys(p *pass) {
	check := func(u *unit, table *syntax.ObjectName, c *syntax.Constraint) {
		if c.Kind != "FOREIGN KEY" || c.References == nil {
			return
		}
		for _, name := range []*syntax.ObjectName{table, c.References} {
			if hot := u.index(name, nil, nil, false).table; among(p.Options.HotTables, hot) {
				p.report(u, c.Span, "keep the rows together in the procedures that write them", "a foreign key on or to %s", hot)
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

// lockOrder follows a body and notes which tables of the configured order a transaction has locked.
type lockOrder struct {
	*pass
	u *unit
}

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

func (o *lockOrder) stmt(s syntax.Stmt, locked []int) []int {
	switch s := s.(type) {
	case *syntax.Block:
		return o.run(s.Stmts, locked)
	case *syntax.If:
		then := o.stmt(s.Then, slices.Clone(locked))
		if leaves(s.Then) {
			then = nil
		}
		if s.Else == nil {
			return union(then, locked)
		}
		return union(then, o.stmt(s.Else, slices.Clone(locked)))
	case *syntax.While:
		return o.stmt(s.Body, locked)
	case *syntax.TryCatch:
		return union(o.run(s.Try, locked), o.run(s.Catch, nil))
	case *syntax.Transaction:
		if s.Verb == "SAVE" {
			return locked
		}
		return nil
	}
	if o.u.flow.before[s] == txEntry {
		return nil // it commits by itself
	}
	for _, t := range o.locks(s) {
		locked = o.lock(t, locked)
	}
	return locked
}

// lockedTable is a table that a statement locks until the transaction ends.
type lockedTable struct {
	at    diag.Span
	place int // in the configured order
}

// locks returns the tables that a statement reads under update locks, then the one it writes.
func (o *lockOrder) locks(s syntax.Stmt) []lockedTable {
	var out []lockedTable
	add := func(source *tableSource, at diag.Span) {
		name := source.tableName()
		place := slices.IndexFunc(o.Options.LockOrder, func(t string) bool { return among([]string{t}, name) })
		if place >= 0 {
			out = append(out, lockedTable{at, place})
		}
	}
	written, node := o.u.target(s)
	for t := range syntax.All[*syntax.TableRef](s) {
		if hinted(t, "UPDLOCK", "XLOCK", "HOLDLOCK", "SERIALIZABLE", "TABLOCKX") && o.u.sources[t] != written {
			add(o.u.sources[t], t.Span)
		}
	}
	if written != nil {
		add(written, node.Range())
	}
	return out
}

// lock notes one table, and reports one that comes before another which is locked already.
func (o *lockOrder) lock(t lockedTable, locked []int) []int {
	if slices.Contains(locked, t.place) {
		return locked
	}
	if later := slices.IndexFunc(locked, func(n int) bool { return n > t.place }); later >= 0 {
		order := o.Options.LockOrder
		o.report(o.u, t.at, "the order is "+strings.Join(order, ", "), "%s is locked after %s", order[t.place], order[locked[later]])
	}
	return append(locked, t.place)
}

func union(a, b []int) []int {
	for _, n := range b {
		if !slices.Contains(a, n) {
			a = append(a, n)
		}
	}
	return a
}
