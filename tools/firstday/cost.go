package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mostLog is how much log one orchestration of five activities may write: the estimate for SQL Server, made from the
// formats of rows, is 50 to 60 KB.
const mostLog = 64 * 1024

// mostReads is how many pages it may read: the estimate is 1,100 to 1,400.
const mostReads = 2000

// measured is what one orchestration of five activities costs, measured once for all checks.
type measured struct {
	costs []cost
	// byIndex are log bytes and records by index; byIndexErr says why they are not known.
	byIndex    [][]string
	byIndexErr error
	err        error
}

func (at *site) measured(ctx context.Context) *measured {
	if at.measure == nil {
		at.measure = &measured{}
		at.measure.err = at.measureFive(ctx, at.measure)
	}
	return at.measure
}

// measureFive runs the orchestration three times: the first one compiles, the second is measured step by step, in
// transactions around them, and of the third the log is read, with the commits that there really are.
func (at *site) measureFive(ctx context.Context, m *measured) (err error) {
	s, err := at.session()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.drain(ctx); err != nil {
		return err
	}
	if _, err := s.five(ctx, "cost of compiling"); err != nil {
		return err
	}
	if m.costs, err = s.five(ctx, "cost"); err != nil {
		return err
	}
	var begin string
	m.byIndexErr = execute(ctx, s.db, "CHECKPOINT")
	if m.byIndexErr == nil {
		m.byIndexErr = s.db.QueryRowContext(ctx, "SELECT MAX(l.[Current LSN]) FROM sys.fn_dblog(NULL, NULL) AS l").Scan(&begin)
	}
	if m.byIndexErr != nil {
		return nil
	}
	s.bare = true
	if _, err := s.five(ctx, "log"); err != nil {
		return err
	}
	m.byIndex, m.byIndexErr = scan(ctx, s.db, `SELECT COALESCE(l.AllocUnitName, l.Operation), COUNT(*), SUM(CAST(l.[Log Record Length] AS BIGINT)),
			SUM(CASE WHEN l.Operation = N'LOP_COMMIT_XACT' THEN 1 ELSE 0 END)
		FROM sys.fn_dblog(NULL, NULL) AS l
		WHERE l.[Current LSN] > @p1
		GROUP BY COALESCE(l.AllocUnitName, l.Operation)
		ORDER BY SUM(CAST(l.[Log Record Length] AS BIGINT)) DESC`, begin)
	return nil
}

// checkStepReads adds up the logical reads.
func checkStepReads(ctx context.Context, at *site) result {
	m := at.measured(ctx)
	if m.err != nil {
		return fails("%v", m.err)
	}
	var sum int64
	var rows [][]string
	for _, c := range m.costs {
		sum += c.reads
		rows = append(rows, []string{c.what, fmt.Sprint(c.reads)})
	}
	details := table([]string{"Step", "Logical reads"}, rows)
	if sum > mostReads {
		return fails("It reads %d pages.", sum).with(details...)
	}
	if at.inProcess {
		return holds("It reads %d keys, which tsqltest counts in place of pages.", sum).with(details...)
	}
	return holds("It reads %d pages.", sum).with(details...)
}

// checkCosts runs the script for a DBA that shows what statements cost, on all that has run here so far.
func checkCosts(ctx context.Context, at *site) result {
	script, err := os.ReadFile(filepath.Join(at.root, "sql", "operations", "slow_statements.sql"))
	if err != nil {
		return fails("%v", err)
	}
	columns, rows, err := scanNamed(ctx, at.db, string(script))
	if err != nil {
		return unavailable("sql/operations/slow_statements.sql", err)
	}
	const most = 20
	rows = rows[:min(most, len(rows))]
	for _, row := range rows {
		last := len(row) - 1 // the text of the statement
		row[last] = "`" + excerpt(row[last]) + "`"
	}
	return holds("The script ran. These statements took the most processor time until then.").with(table(columns, rows)...)
}

// checkLog adds up the log bytes.
func checkLog(ctx context.Context, at *site) result {
	if at.inProcess {
		return unasked("tsqltest writes no log")
	}
	m := at.measured(ctx)
	if m.err != nil {
		return fails("%v", m.err)
	}
	var sum int64
	var rows [][]string
	for _, c := range m.costs {
		if c.logErr != nil {
			return unavailable("sys.dm_tran_database_transactions", c.logErr)
		}
		sum += c.log
		rows = append(rows, []string{c.what, fmt.Sprint(c.log)})
	}
	details := table([]string{"Step", "Bytes of log"}, rows)
	if m.byIndexErr != nil {
		details = append(details, "By index: not asked, "+cell(said(m.byIndexErr)), "")
	} else {
		details = append(details, table([]string{"Index or operation, of another run without transactions around the steps", "Records", "Bytes", "Commits"}, m.byIndex)...)
	}
	if sum > mostLog {
		return fails("It writes %d bytes of log, more than %d.", sum, mostLog).with(details...)
	}
	return holds("It writes %d bytes of log.", sum).with(details...)
}

// checkLocks lists what is locked until each commit.
func checkLocks(ctx context.Context, at *site) result {
	m := at.measured(ctx)
	if m.err != nil {
		return fails("%v", m.err)
	}
	var rows [][]string
	var coarse []string
	for _, c := range m.costs {
		if c.locksErr != nil {
			return unavailable("sys.dm_tran_locks", c.locksErr)
		}
		for _, l := range c.locks {
			if l.coarse() {
				coarse = append(coarse, fmt.Sprintf("*%s* has %s on %s %s", c.what, l.mode, strings.ToLower(l.resource), l.table))
			}
			if l.resource != "OBJECT" || l.coarse() { // each table has an intent lock
				rows = append(rows, []string{c.what, l.table, l.index, l.resource, l.mode, fmt.Sprint(l.count)})
			}
		}
	}
	details := table([]string{"Step", "Table", "Index", "Resource", "Mode", "Locks"}, rows)
	if len(coarse) > 0 {
		return fails("%s.", strings.Join(coarse, "; ")).with(details...)
	}
	return holds("Keys only.").with(details...)
}
