package vet

import (
	"regexp"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// queueRules are about how a table that is claimed from is stored.
var queueRules = []Rule{
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
		ID:    "Q5-locks",
		Title: "A statement that locks rows of a queue table, or skips locked ones, names READCOMMITTEDLOCK and ROWLOCK",
		Reason: "Where READ COMMITTED reads versions, a look without READCOMMITTEDLOCK sees no locks that it could wait for or " +
			"pass over; without ROWLOCK the server may begin with a lock of the whole table. A write with no more than ROWLOCK " +
			"locks anyway.",
		Bad:     "SELECT COUNT(*) AS waiting FROM dbo.jobs AS j WITH (READPAST, ROWLOCK) WHERE j.taken = 0;",
		Good:    "SELECT COUNT(*) AS waiting FROM dbo.jobs AS j WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK) WHERE j.taken = 0;",
		Needs:   "queue_tables",
		Example: Options{QueueTables: []string{"jobs"}, Disable: []string{"Q1"}},
		check:   checkQueueLocks,
	},
}

// lockHints say how rows are locked, or that locked ones are passed over.
var lockHints = []string{"READCOMMITTEDLOCK", "READPAST", "ROWLOCK", "UPDLOCK", "XLOCK", "REPEATABLEREAD"}

// queueReads calls f for every table reference with hints about locks that is a queue. HOLDLOCK locks ranges on
// purpose.
func (p *pass) queueReads(f func(u *unit, s syntax.Stmt, t *syntax.TableRef, queue catalog.Name)) {
	p.statements(func(u *unit, s syntax.Stmt, n syntax.Node) {
		for t := range syntax.All[*syntax.TableRef](n) {
			if !hinted(t, lockHints...) || hinted(t, "HOLDLOCK", "SERIALIZABLE", "TABLOCK", "TABLOCKX") {
				continue
			}
			if queue := u.index(t.Name, nil, nil, false).table; among(p.Options.QueueTables, queue) {
				f(u, s, t, queue)
			}
		}
	})
}

// statements calls f for every statement that reads or writes tables, and with what it reads and writes: all of it, or
// the condition of a branch or a loop, since the statements there come by themselves.
func (p *pass) statements(f func(u *unit, s syntax.Stmt, n syntax.Node)) {
	for _, u := range p.units {
		for s := range syntax.All[syntax.Stmt](u.node) {
			switch s := s.(type) {
			case *syntax.SelectStmt, *syntax.Insert, *syntax.Update, *syntax.Delete:
				f(u, s, s)
			case *syntax.If:
				f(u, s, s.Cond)
			case *syntax.While:
				f(u, s, s.Cond)
			}
		}
	}
}

// checkQueueLocks looks at all hints about locks. REPEATABLEREAD locks where versions are read, too, and so does a
// write.
func checkQueueLocks(p *pass) {
	p.queueReads(func(u *unit, s syntax.Stmt, t *syntax.TableRef, queue catalog.Name) {
		writes := (is[*syntax.Update](s) || is[*syntax.Delete](s)) && !hinted(t, "READPAST", "UPDLOCK", "XLOCK")
		if !writes && !hinted(t, "READCOMMITTEDLOCK", "REPEATABLEREAD") {
			p.report(u, t.Span, "add READCOMMITTEDLOCK", "the locks of the queue %s are not looked at where READ COMMITTED reads versions", queue)
		}
		if !hinted(t, "ROWLOCK") {
			p.report(u, t.Span, "add ROWLOCK", "the whole queue %s may be locked", queue)
		}
	})
}

// checkQueues looks at all scripts together: an index may be created, or altered, in another file than its table.
func checkQueues(p *pass) {
	clustered := map[string]bool{}
	for _, ix := range p.keys {
		clustered[ix.table.Key()] = clustered[ix.table.Key()] || ix.clustered
		// A table type that is called like the queue is private to its session.
		if ix.isType || !among(p.Options.QueueTables, ix.table) || p.pageLocksOff(ix) {
			continue
		}
		p.report(ix.u, ix.at, "create it WITH (ALLOW_PAGE_LOCKS = OFF)", "an index of the queue %s locks pages", ix.table)
	}
	// Without a clustered index the table is a heap.
	for _, u := range p.units {
		for t := range syntax.All[*syntax.CreateTable](u.node) {
			name := u.index(t.Name, nil, nil, false).table
			if among(p.Options.QueueTables, name) && !clustered[name.Key()] {
				p.report(u, t.Name.Span, "give it a clustered primary key", "the queue %s has no clustered index", name)
			}
		}
	}
}

// pageLocksOff finds the option in an ALTER INDEX, a statement of which the parser keeps no more than the text.
var pageLocksOff = regexp.MustCompile(`(?i)\bALLOW_PAGE_LOCKS\s*=\s*OFF\b`)

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
			if other.Words == "ALTER INDEX" && pageLocksOff.MatchString(text) && containsWord(text, ix.table.Name) &&
				(containsWord(text, "ALL") || ix.name != "" && containsWord(text, ix.name)) {
				return true
			}
		}
	}
	return false
}
