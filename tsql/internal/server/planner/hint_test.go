package planner_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
)

// TestHintsInAnyPlan checks that hints hold whatever a chooser takes, and that no plan is refused while one is left.
func TestHintsInAnyPlan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query string
		every string // is in every plan; parts are parted by semicolons
		none  string // is in none
		some  string // is in at least one
	}{
		{query: "SELECT id FROM dbo.jobs WHERE id = 7", some: "scan PK;scan ix_code;seek PK"},
		{query: "SELECT id FROM dbo.jobs WITH (FORCESEEK) WHERE id = 7", every: "seek PK", none: "scan"},
		{query: "SELECT id FROM dbo.jobs WITH (FORCESEEK) WHERE kind = 1", every: "seek ix_kind", none: "scan"},
		{query: "SELECT id FROM dbo.jobs WITH (FORCESEEK (ix_kind (kind, at))) WHERE kind = 3 AND at > '2024-01-05'", every: "seek ix_kind of jobs (kind =, at >)"},
		{query: "SELECT id FROM dbo.jobs WITH (FORCESCAN) WHERE id = 7", every: "scan", none: "seek"},
		{query: "SELECT id FROM dbo.jobs WITH (INDEX (ix_kind)) WHERE kind = 1", every: "ix_kind", some: "seek;scan", none: "PK"},
		{query: "UPDATE j SET total = 1 FROM dbo.jobs AS j WITH (INDEX (1)) WHERE j.id = 7", every: "PK", some: "seek;scan"},
		{query: "UPDATE dbo.jobs SET total = 1 WHERE id = 7 AND code = 'c7'", some: "seek PK;seek ix_code;scan PK;scan ix_code"},
		{query: "DELETE j FROM dbo.jobs AS j WITH (FORCESEEK) WHERE j.id = 7", every: "seek PK"},
		{query: "SELECT a.id FROM dbo.jobs AS a JOIN dbo.jobs AS b ON b.id = a.kind", some: "loop join;hash join;merge join"},
		// What has no other way than a seek by the other's column can only be joined by a loop, and only as the second.
		{
			query: "SELECT a.id FROM dbo.jobs AS a WITH (FORCESEEK) JOIN dbo.jobs AS b ON a.id = b.kind",
			every: "seek PK;loop join", none: "hash join;merge join",
		},
		{query: "UPDATE a SET total = 1 FROM dbo.jobs AS a WITH (FORCESEEK) JOIN dbo.jobs AS b ON a.id = b.kind", every: "seek PK;loop join"},
		{query: "SELECT a.id FROM dbo.jobs AS a INNER LOOP JOIN dbo.jobs AS b ON b.id = a.kind", every: "loop join", none: "hash join;merge join"},
		{query: "SELECT a.id FROM dbo.jobs AS a INNER MERGE JOIN dbo.jobs AS b ON b.id = a.kind", every: "merge join"},
		{query: "SELECT a.id FROM dbo.jobs AS a INNER HASH JOIN dbo.jobs AS b ON b.id = a.kind", every: "hash join"},
		{query: "SELECT a.id FROM dbo.jobs AS a JOIN dbo.jobs AS b ON b.id = a.kind OPTION (LOOP JOIN, MERGE JOIN)", some: "loop join;merge join", none: "hash join"},
		// The first and the last have nothing in common, so they can't be hashed first.
		{
			query: "SELECT a.id FROM dbo.jobs AS a JOIN dbo.jobs AS b ON b.id = a.kind JOIN dbo.jobs AS c ON c.id = b.kind OPTION (HASH JOIN)",
			every: "hash join", none: "loop join",
		},
		{query: "SELECT id FROM dbo.jobs WHERE kind IN (SELECT x.id FROM dbo.jobs AS x WHERE x.state = 0)", some: "join;filter"},
	} {
		t.Run(c.query, func(t *testing.T) {
			t.Parallel()
			l := newQueue(t)
			var all strings.Builder
			for seed := range uint64(60) {
				if seed > 0 {
					l.chooser = &anyPlan{rand.New(rand.NewPCG(seed, 1))}
				}
				st, err := l.compile(c.query)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				all.WriteString(st.Explain)
				for _, part := range parts(c.every) {
					if !strings.Contains(st.Explain, part) {
						t.Fatalf("seed %d: no %q in\n%s", seed, part, st.Explain)
					}
				}
			}
			for _, part := range parts(c.some) {
				if !strings.Contains(all.String(), part) {
					t.Errorf("%q is in no plan", part)
				}
			}
			for _, part := range parts(c.none) {
				if strings.Contains(all.String(), part) {
					t.Errorf("%q is in a plan", part)
				}
			}
		})
	}
}

func parts(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ";")
}

// TestImpossibleHints checks the error for hints that leave no plan, with a chooser and without.
func TestImpossibleHints(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"SELECT id FROM dbo.jobs WITH (FORCESEEK) WHERE state = 1 OR kind = 2",
		"SELECT id FROM dbo.jobs WITH (FORCESEEK (ix_kind (kind, at))) WHERE kind = 3",
		"SELECT id FROM dbo.jobs WITH (INDEX (ix_ready)) WHERE kind = 3",
		"SELECT a.id FROM dbo.jobs AS a INNER MERGE JOIN dbo.jobs AS b ON b.id > a.kind",
		"SELECT a.id FROM dbo.jobs AS a JOIN dbo.jobs AS b ON b.id > a.kind OPTION (HASH JOIN)",
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			l := newQueue(t)
			for seed := range uint64(5) {
				if seed > 0 {
					l.chooser = &anyPlan{rand.New(rand.NewPCG(seed, 1))}
				}
				_, err := l.compile(query)
				if e, ok := err.(*fault.Error); !ok || e.Number != 8622 { //nolint:errorlint // it is never wrapped
					t.Errorf("seed %d: %v, want error 8622", seed, err)
				}
			}
		})
	}
}

// TestHintsOfTargets checks that hints about the way to rows stand in FROM, and not behind the name of what is changed.
func TestHintsOfTargets(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"UPDATE dbo.jobs WITH (INDEX (1)) SET total = 1 WHERE id = 7",
		"UPDATE dbo.jobs WITH (ROWLOCK, FORCESEEK (PK (id))) SET total = 1 WHERE id = 7",
		"DELETE FROM dbo.jobs WITH (FORCESEEK) WHERE id = 7",
		"DELETE FROM dbo.jobs WITH (FORCESCAN) WHERE id = 7",
	} {
		_, err := newQueue(t).compile(query)
		if e, ok := fault.As(err); !ok || e.Number != 1069 {
			t.Errorf("%s: %v, want error 1069", query, err)
		}
	}
	const merge = "MERGE dbo.jobs WITH (INDEX (1)) AS j USING (VALUES (7)) AS s (id) ON j.id = s.id WHEN MATCHED THEN UPDATE SET total = 1;"
	if _, err := newQueue(t).compile(merge); err != nil {
		t.Errorf("%s: %v", merge, err)
	}
}
