package planner_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule/scheduletest"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// TestWritersWait checks who waits for whom when two sessions change rows.
func TestWritersWait(t *testing.T) {
	t.Parallel()
	const tables = `CREATE TABLE p (id int PRIMARY KEY, n int); INSERT p VALUES (1, 1), (2, 2), (3, 3);
CREATE TABLE c (id int PRIMARY KEY, p int CONSTRAINT f REFERENCES p ON DELETE CASCADE, INDEX x (p)); INSERT c VALUES (10, 1);
CREATE TABLE u (a int); CREATE UNIQUE INDEX k ON u (a) WHERE a > 0`
	for _, c := range []struct {
		name, first, second string
		versions            bool   // READ_COMMITTED_SNAPSHOT
		waits               bool   // the second waits for the first
		got, undone         string // what comes of the second when the first commits, or is rolled back
	}{
		{"different rows", `UPDATE p SET n = 0 WHERE id = 1`, `UPDATE p SET n = 0 WHERE id = 2`, false, false, `1`, `1`},
		{"the same row", `UPDATE p SET n = 0 WHERE id = 2`, `UPDATE p SET n += 5 OUTPUT inserted.n WHERE id = 2`, false, true, `5`, `7`},
		{"a row that no longer qualifies", `UPDATE p SET n = 0 WHERE id = 2`, `UPDATE p SET n = 9 WHERE id = 2 AND n = 2`, false, true, `0`, `1`},
		{"a row that is deleted", `DELETE p WHERE id = 2`, `UPDATE p SET n = 9 WHERE id = 2`, false, true, `0`, `1`},
		{"the same key", `INSERT p VALUES (4, 4)`, `INSERT p VALUES (4, 5)`, false, true, `2627`, `1`},
		{"a key of a filtered index", `INSERT u VALUES (5)`, `INSERT u VALUES (5)`, false, true, `2601`, `1`},
		{"a key that the filter leaves out", `INSERT u VALUES (0)`, `INSERT u VALUES (0)`, false, false, `1`, `1`},
		{"a parent that goes", `DELETE p WHERE id = 2`, `INSERT c VALUES (11, 2)`, false, true, `547`, `1`},
		{"a parent that goes, under row versions", `DELETE p WHERE id = 2`, `INSERT c VALUES (11, 2)`, true, true, `547`, `1`},
		{"a parent that comes", `INSERT p VALUES (4, 4)`, `INSERT c VALUES (11, 4)`, false, true, `1`, `547`},
		{"a parent that stays", `UPDATE p SET n = 9 WHERE id = 1`, `INSERT c VALUES (11, 2)`, false, false, `1`, `1`},
		{"a child that comes", `INSERT c VALUES (11, 2)`, `DELETE p WHERE id = 2`, false, true, `1`, `1`},
		{"a child that comes after a cascade", `DELETE p WHERE id = 1`, `INSERT c VALUES (12, 1)`, false, true, `547`, `1`},
		{"rows that are read past", `UPDATE p SET n = 0 WHERE id = 1`, `UPDATE TOP (1) p SET n = 9 OUTPUT inserted.id FROM p WITH (READPAST, ROWLOCK)`, false, false, `2`, `2`},
	} {
		for _, commit := range []bool{true, false} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				s := scheduletest.New()
				t.Cleanup(s.Close)
				server := schema.NewServer(value.DefaultCollation, "lab", value.OfDateTime(0))
				db := server.Database("lab")
				engine := store.NewEngine(s, func() uint64 { return 4 })
				open := func(id schedule.ID) *writer {
					l := &lab{
						tb: t, server: server, db: db, session: engine.Session(id), temp: map[string]*schema.Table{},
						variables: map[string]*binder.Variable{}, tables: map[string]*binder.TableVariable{}, denied: map[string]bool{},
					}
					l.session.LockTimeout = -1
					return &writer{lab: l, options: map[string]string{}}
				}
				if got := open(9).do(tables); got != "" {
					t.Fatal(got)
				}
				db.ReadCommittedSnapshot = c.versions
				one, other, got := open(1), open(2), "not finished"
				s.Go(1, func() {
					one.session.Begin(store.ReadCommitted)
					one.do(c.first)
					s.Yield(1, schedule.Point{Kind: "test"})
					if commit {
						one.session.Commit()
					} else {
						one.session.Rollback()
					}
				})
				s.Go(2, func() { got = other.do(c.second) })
				s.Step(1)
				if state := s.Run(2); (state == scheduletest.Parked) != c.waits {
					t.Errorf("the second is %v: %s", state, got)
				}
				s.Finish()
				want := c.got
				if !commit {
					want = c.undone
				}
				if len(got) > len(want) && got[len(want)] == ':' {
					got = got[:len(want)]
				}
				if got != want {
					t.Errorf("commit %t: got %s, want %s", commit, got, want)
				}
			})
		}
	}
}
