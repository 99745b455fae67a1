package vet

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/syntax"
)

// index is one index of a table or table type, however it was written.
type index struct {
	u         *unit
	at        diag.Span
	name      string // empty for a constraint without one
	table     catalog.Name
	columns   []syntax.IndexColumn
	clustered bool
	options   []syntax.Option
	def       *catalog.Table // nil if the catalog doesn't know the table
	isType    bool
}

// collectIndexes finds the indexes of all scripts, in the order of the text.
func collectIndexes(s *session) []index {
	var out []index
	for _, u := range s.units {
		syntax.Walk(u.node, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CreateTable:
				out = append(out, u.defined(n.Name, n.Def, false)...)
			case *syntax.AlterTable:
				out = append(out, u.defined(n.Name, n.Add, false)...)
			case *syntax.CreateType:
				out = append(out, u.defined(n.Name, n.Table, true)...)
			case *syntax.CreateIndex:
				if !n.Columnstore {
					ix := u.index(n.Table, n.Columns, n.Options, false)
					ix.at, ix.name, ix.clustered = n.Name.Span, n.Name.Value, n.Clustered
					out = append(out, ix)
				}
			}
			return true
		})
	}
	return out
}

// index makes an index on a table by its name.
func (u *unit) index(table *syntax.ObjectName, columns []syntax.IndexColumn, options []syntax.Option, isType bool) index {
	ix := index{u: u, columns: columns, options: options, isType: isType, table: catalog.Name{Name: last(table).Value}}
	key, ok := u.key(table)
	if !ok {
		return ix
	}
	ix.table, _ = u.catalog.Resolve(table)
	if isType {
		ix.def = u.catalog.TableTypes[key]
	} else {
		ix.def = u.catalog.Tables[key]
	}
	return ix
}

// defined returns the keys and indexes in a table's definition.
func (u *unit) defined(table *syntax.ObjectName, def *syntax.TableDef, isType bool) []index {
	if def == nil {
		return nil
	}
	var out []index
	constraint := func(c *syntax.Constraint, columns []syntax.IndexColumn) {
		if c.Kind != "PRIMARY KEY" && c.Kind != "UNIQUE" {
			return
		}
		ix := u.index(table, columns, c.Options, isType)
		ix.at = c.Span
		if c.Name != nil {
			ix.name = c.Name.Value
		}
		ix.clustered = c.Clustered || c.Kind == "PRIMARY KEY" && !option(c.Options, "NONCLUSTERED")
		out = append(out, ix)
	}
	inline := func(d *syntax.IndexDef, columns []syntax.IndexColumn) {
		ix := u.index(table, columns, d.Options, isType)
		ix.at, ix.name, ix.clustered = d.Name.Span, d.Name.Value, d.Clustered
		out = append(out, ix)
	}
	for i := range def.Columns {
		column := &def.Columns[i]
		own := []syntax.IndexColumn{{Span: column.Name.Span, Name: column.Name}}
		for j := range column.Constraint {
			constraint(&column.Constraint[j], own)
		}
		if column.Index != nil {
			inline(column.Index, own)
		}
	}
	for i := range def.Constraints {
		constraint(&def.Constraints[i], def.Constraints[i].Columns)
	}
	for i := range def.Indexes {
		if d := &def.Indexes[i]; !option(d.Options, "COLUMNSTORE") {
			inline(d, d.Columns)
		}
	}
	return clusteredOnce(out)
}

// clusteredOnce takes the default away from a primary key when another index of the table is clustered.
func clusteredOnce(list []index) []index {
	n := 0
	for _, ix := range list {
		if ix.clustered {
			n++
		}
	}
	if n < 2 {
		return list
	}
	for i := range list {
		text := list[i].u.script.File.Slice(list[i].at)
		if list[i].clustered && !containsWord(text, "CLUSTERED") && containsWord(text, "PRIMARY") {
			list[i].clustered = false
		}
	}
	return list
}

func option(list []syntax.Option, name string) bool {
	return slices.ContainsFunc(list, func(o syntax.Option) bool { return o.Name == name })
}

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
