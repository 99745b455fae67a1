package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

// checkIndexes drops and disables each nonclustered index in turn under load.
func checkIndexes(ctx context.Context, at *site) result {
	list, err := scan(ctx, at.db, `SELECT t.name, i.name, CASE WHEN i.is_primary_key = 1 OR i.is_unique_constraint = 1 THEN N'yes' ELSE N'' END
		FROM sys.indexes AS i
		INNER JOIN sys.tables AS t ON t.object_id = i.object_id
		WHERE t.schema_id = SCHEMA_ID(@p1) AND i.type = 2 AND EXISTS (SELECT 1 FROM sys.partitions AS p
			WHERE p.object_id = t.object_id AND p.index_id = i.index_id)
		ORDER BY t.name, i.name`, schema)
	if err != nil || len(list) == 0 {
		return fails("reading the indexes: %v", err)
	}
	c, err := at.hire(ctx, defaults())
	if err != nil {
		return fails("%v", err)
	}
	l := c.run(ctx, "damage", 4)
	var rows [][]string
	damaged := 0
	for n, index := range list {
		table, name := index[0], index[1]
		// In part, each index is damaged in one way, in one of the databases.
		only := n % 4
		drop := fmt.Sprintf("DROP INDEX %s ON %s.%s", migrate.Quote(name), schema, table)
		if index[2] != "" {
			drop = fmt.Sprintf("ALTER TABLE %s.%s DROP CONSTRAINT %s", schema, table, migrate.Quote(name))
		}
		disable := fmt.Sprintf("ALTER INDEX %s ON %s.%s DISABLE", migrate.Quote(name), schema, table)
		for way, statement := range []string{drop, disable} {
			if at.quick && only != 2*way+number(at.config.rowVersions) {
				continue
			}
			damaged++
			if err := at.damage(ctx, l, name, statement); err != nil {
				rows = append(rows, []string{"`" + statement + "`", err.Error()})
			}
		}
	}
	if err := errors.Join(l.end(), c.stop()); err != nil {
		rows = append(rows, []string{"the load", err.Error()})
	}
	details := table([]string{"After", "What happened"}, rows)
	if len(rows) > 0 {
		return fails("%s.", counted(len(rows), "problem")).with(details...)
	}
	return holds("%s in turn, while %s completed; %s of the store failed meanwhile and were repeated.",
		counted(damaged, "damage")+" to "+counted(len(list), "nonclustered index"), counted(int(l.completed.Load()), "orchestration"), counted(int(c.refused.Load()), "call"))
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// damage executes the statement, waits until work has met the damage or has gone on without, and has it repaired.
func (at *site) damage(ctx context.Context, l *load, index, statement string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	m := &migrate.Migration{DB: at.db}
	// Of the load and the statement one may be a deadlock's victim.
	if err := again(ctx, func() error { return execute(ctx, at.db, statement) }); err != nil {
		return err
	}
	refused, completed := l.crew.refused.Load(), l.completed.Load()
	problems, err := m.Verify(ctx)
	if err != nil || len(problems) != 1 || problems[0].Object != index {
		err = errors.Join(err, fmt.Errorf("`verify` says %v", problems))
	}
	const some = 4
	err = errors.Join(err, until(ctx, func() (bool, error) {
		return l.crew.refused.Load() >= refused+some || l.completed.Load() >= completed+2*some, nil
	}))
	plan, failed := m.Up(ctx)
	if failed != nil {
		return errors.Join(err, failed)
	}
	if !slices.ContainsFunc(plan.Steps, func(s migrate.Step) bool { return strings.Contains(s.Name, index) }) {
		err = errors.Join(err, fmt.Errorf("`migrate up` did %+v", plan.Steps))
	}
	return errors.Join(err, l.await(ctx, 1))
}

// kills is how often all sessions of the store are killed.
const kills = 10

// checkKill ends the sessions of a store under load, again and again.
func checkKill(ctx context.Context, at *site) result {
	c, err := at.hire(ctx, defaults())
	if err != nil {
		return fails("%v", err)
	}
	l := c.run(ctx, "kill", 4)
	killed, err := at.killRounds(ctx, l)
	if refused := unavailable("KILL", err); err != nil && refused.outcome == notDone {
		_ = errors.Join(l.end(), c.stop()) // nothing was asked
		return refused
	}
	if err := errors.Join(err, l.end(), c.stop()); err != nil {
		return fails("%v", err)
	}
	// The server may still be rolling back.
	if err := until(ctx, func() (bool, error) {
		var open int
		err := at.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM sys.dm_exec_sessions AS s WHERE s.program_name = @p1 AND s.open_transaction_count > 0", storeName).Scan(&open)
		return open == 0, err
	}); err != nil {
		return fails("A transaction of the store is left open: %v", err)
	}
	return holds("%s were killed; all of %s completed.", counted(killed, "session"), counted(int(l.completed.Load()), "orchestration"))
}

// killRounds kills all sessions of the store, and waits each time until an orchestration has ended.
func (at *site) killRounds(ctx context.Context, l *load) (killed int, err error) {
	conn, err := at.db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	rounds := kills
	if at.quick {
		rounds = 3
	}
	for range rounds {
		if err := l.await(ctx, 1); err != nil {
			return killed, err
		}
		sessions, err := scan(ctx, conn, "SELECT s.session_id FROM sys.dm_exec_sessions AS s WHERE s.program_name = @p1 AND s.session_id <> @@SPID", storeName)
		if err != nil {
			return killed, err
		}
		for _, session := range sessions {
			err := execute(ctx, conn, "KILL "+session[0])
			if slices.Contains(numbersOf(err), noSession) {
				continue // it has ended by itself
			}
			if err != nil {
				return killed, err
			}
			killed++
		}
	}
	return killed, l.await(ctx, 1)
}

// noSession is the number of the error for a session that is not there.
const noSession = 6106
