package server

import (
	"context"
	"fmt"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
)

// setting is an option of the database of which one value is best for a store.
type setting struct {
	// check names the check, option the option in T-SQL.
	check, option string
	// ask reads the option's number, nil from a server without the option, and the database's name.
	ask func(q *mssqldb.Queries, ctx context.Context) (value *int64, database string, err error)
	// words are what T-SQL calls the numbers. wanted is the one to have, wrong the number that is found fault with.
	words  []string
	wanted string
	wrong  int64
	level  Level
	// why says what the wrong value does, and beware what to think of before it is changed.
	why, beware string
	// mend are the statements that set the option, with %s for the name of the database. Empty if nothing sets it.
	mend string
	// since is the first version of SQL Server that knows the option: 16 for 2022. 0 if all servers do.
	since int
}

// onOff are the words of most options.
func onOff() []string { return []string{"OFF", "ON"} }

// databaseSettings are the options, each a check of its own. [patient.checkCompatibility] is another one.
func databaseSettings() []setting {
	return []setting{
		{
			check: "row versioning", option: "READ_COMMITTED_SNAPSHOT", words: onOff(), wanted: "ON", wrong: 0, level: Warning,
			ask: func(q *mssqldb.Queries, ctx context.Context) (*int64, string, error) {
				is, err := q.GetRowVersioning(ctx)
				return is.Value, is.Name, err
			},
			why:    "programs that read the store and workers wait for each other",
			beware: "agree with the other users of the database first: the statement ends open transactions and changes what READ COMMITTED reads see",
			mend:   "ALTER DATABASE %s SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE;",
		},
		{
			// ALLOWED is fine, because no procedure asks for it.
			check: "durability", option: "DELAYED_DURABILITY", words: []string{"DISABLED", "ALLOWED", "FORCED"}, wanted: "DISABLED", wrong: 2, level: Problem,
			ask: func(q *mssqldb.Queries, ctx context.Context) (*int64, string, error) {
				is, err := q.GetDelayedDurability(ctx)
				return is.Value, is.Name, err
			},
			why:  "a crash of the server undoes confirmed commits, so that a turn runs again and its effects come twice",
			mend: "ALTER DATABASE %s SET DELAYED_DURABILITY = DISABLED;",
		},
		{
			check: "auto close", option: "AUTO_CLOSE", words: onOff(), wanted: "OFF", wrong: 1, level: Warning,
			ask: func(q *mssqldb.Queries, ctx context.Context) (*int64, string, error) {
				is, err := q.GetAutoClose(ctx)
				return &is.Value, is.Name, err
			},
			why:  "the server closes the database with its last connection, and the next connection waits until the database is open and every plan is compiled again",
			mend: "ALTER DATABASE %s SET AUTO_CLOSE OFF;",
		},
		{
			check: "auto shrink", option: "AUTO_SHRINK", words: onOff(), wanted: "OFF", wrong: 1, level: Warning,
			ask: func(q *mssqldb.Queries, ctx context.Context) (*int64, string, error) {
				is, err := q.GetAutoShrink(ctx)
				return is.Value, is.Name, err
			},
			why:  "the server removes free pages from the file, which the queues need again a moment later",
			mend: "ALTER DATABASE %s SET AUTO_SHRINK OFF;",
		},
		{
			check: "query store", option: "QUERY_STORE", words: onOff(), wanted: "ON", wrong: 0, level: Warning,
			ask: func(q *mssqldb.Queries, ctx context.Context) (*int64, string, error) {
				is, err := q.GetQueryStore(ctx)
				return is.Value, is.Name, err
			},
			why:  "nobody can find out afterwards how much a slow claim read and which plan it had (sql/operations/slow_statements.sql)",
			mend: "ALTER DATABASE %s SET QUERY_STORE = ON;",
		},
		{
			check: "optimized locking", option: "OPTIMIZED_LOCKING", words: onOff(), wanted: "ON", wrong: 0, level: Warning,
			ask: func(q *mssqldb.Queries, ctx context.Context) (*int64, string, error) {
				is, err := q.GetOptimizedLocking(ctx)
				return is.Value, is.Name, err
			},
			why:    "a turn with a wide fan-out keeps a lock for each row that it writes, although this server needs only one",
			beware: "do it when no program uses the database: it ends open transactions, and needs accelerated database recovery, which keeps row versions in the database itself",
			mend: "ALTER DATABASE %[1]s SET ACCELERATED_DATABASE_RECOVERY = ON WITH ROLLBACK IMMEDIATE; " +
				"ALTER DATABASE %[1]s SET OPTIMIZED_LOCKING = ON WITH ROLLBACK IMMEDIATE;",
		},
		{
			check: "ledger", option: "LEDGER", words: onOff(), wanted: "OFF", wrong: 1, level: Problem, since: 16,
			ask: func(q *mssqldb.Queries, ctx context.Context) (*int64, string, error) {
				is, err := q.GetLedger(ctx)
				return is.Value, is.Name, err
			},
			why:    "the server keeps every version of every row of the queues for ever",
			beware: "a ledger database cannot be made an ordinary one: put the store into another database",
		},
	}
}

// examine asks for the option and judges the answer.
func (s setting) examine(ctx context.Context, p *patient) error {
	if s.since > 0 && !p.facts.azure && olderThan(p.facts.version, s.since) {
		p.findings = append(p.findings, s.judge(nil, ""))
		return nil
	}
	value, database, err := s.ask(p.queries, ctx)
	if err != nil {
		return err
	}
	p.findings = append(p.findings, s.judge(value, database))
	return nil
}

// judge finds fault with the wrong value. Another one that is not wanted either does no harm.
func (s setting) judge(value *int64, database string) Finding {
	if value == nil || *value < 0 || *value >= int64(len(s.words)) {
		return Finding{Level: OK, Detail: "this server has no " + s.option}
	}
	found := s.words[*value]
	if *value != s.wrong {
		return Finding{Level: OK, Detail: s.option + " is " + found}
	}
	f := Finding{Level: s.level, Detail: isNot(s.option, found, s.wanted, s.why), Advice: s.beware}
	if s.mend != "" {
		f.Statement = fmt.Sprintf(s.mend, quote(database))
	}
	return f
}

// isNot is the sentence about a setting that has the wrong value.
func isNot(option, found, wanted, why string) string {
	return fmt.Sprintf("%s is %s and should be %s: %s", option, found, wanted, why)
}
