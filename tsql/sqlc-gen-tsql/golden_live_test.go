package main

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/generate"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/live"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/live/livetest"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/placeholder"
)

// TestGoldenLive deploys every golden case that comes to code to a database of its own, on each server, and demands
// that the server's shapes are the inferred ones. What a server can't run or types in its own way, the case says
// itself.
func TestGoldenLive(t *testing.T) {
	t.Parallel()
	livetest.Each(t, testGoldenLive)
}

func testGoldenLive(t *testing.T, server livetest.Server) {
	t.Helper()
	var count struct{ run, skipped, unseen, unchecked atomic.Int32 }
	t.Cleanup(func() { // when the cases are done
		t.Logf("%s: %d cases compared, %d marked as not for it; %d result sets not reached, %d columns not comparable",
			server.Kind, count.run.Load(), count.skipped.Load(), count.unseen.Load(), count.unchecked.Load())
	})
	for _, name := range goldenPaths(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := readGolden(t, name)
			if !g.positive() {
				return
			}
			_, skip := g.skips[server.Kind]
			if _, all := g.skips[everyServer]; skip || all {
				count.skipped.Add(1)
				if skip && server.Kind == livetest.TSQLTest {
					isRefused(t, server, g)
				}
				return
			}
			report := verifyGolden(t, server, g)
			count.run.Add(1)
			count.unseen.Add(int32(len(report.Unseen)))
			for _, note := range report.Unchecked {
				if note.Object != "" {
					count.unchecked.Add(1)
				}
			}
			// Verify can't know whether a set was promised that there never is. Here it would be a mistake of the
			// inference.
			early := slices.ContainsFunc(report.Unseen, func(n live.Note) bool { return strings.Contains(n.Text, "no error, after") })
			if len(report.Drift) > 0 || early {
				var out strings.Builder
				report.Print(&out)
				t.Errorf("%s", out.String())
			}
		})
	}
}

// isRefused demands that tsqltest says so of what it doesn't have, and that nobody lists what it has.
func isRefused(t *testing.T, server livetest.Server, g *golden) {
	t.Helper()
	const unsupported = 49900
	_, _, err := deployGolden(t, server, g)
	if e, ok := errors.AsType[mssql.Error](err); !ok || e.Number != unsupported {
		t.Errorf("the case says that %s, but deploying it ends with: %v", g.skips[server.Kind], err)
	}
}

// verifyGolden deploys a case and compares.
func verifyGolden(t *testing.T, server livetest.Server, g *golden) *live.Report {
	t.Helper()
	conn, result, err := deployGolden(t, server, g)
	if err != nil {
		t.Fatal(err)
	}
	report, err := live.Verify(t.Context(), conn, result.Program, result.Catalog, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// deployGolden generates from the scripts of a case and applies them; the error is the server's.
func deployGolden(t *testing.T, server livetest.Server, g *golden) (*sql.Conn, generate.Result, error) {
	t.Helper()
	conn := server.Database(t)
	schemas := map[string]bool{"dbo": true}
	result, findings := generate.Run(g.sources, g.config)
	if len(findings) > 0 {
		t.Fatal(findings.Format())
	}
	// Few cases care about schemas, so that one that uses another need not create it.
	create := slices.ContainsFunc(g.sources, func(s generate.Source) bool {
		return strings.Contains(strings.ToLower(s.Text), "create schema")
	})
	for _, object := range result.Catalog.Order {
		name := object.ObjectName().Schema
		if key := strings.ToLower(name); !schemas[key] && !create {
			livetest.Exec(t, conn, "CREATE SCHEMA ["+name+"]")
			schemas[key] = true
		}
	}
	filler := placeholder.New(g.config.Placeholders)
	for _, s := range g.sources {
		file, _ := filler.File(s.Name, s.Text)
		if err := server.Apply(t.Context(), conn, s.Name, file.Text); err != nil {
			return nil, result, err
		}
	}
	return conn, result, nil
}
