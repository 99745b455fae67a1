package planner_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// archive is one file of a txtar archive.
type archive struct{ name, text string }

// readArchive reads a txtar archive: files behind lines "-- name --".
func readArchive(tb testing.TB, path string) []archive {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	var files []archive
	for line := range strings.SplitAfterSeq(string(b), "\n") {
		trimmed := strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(trimmed, "-- "); ok && strings.HasSuffix(name, " --") {
			files = append(files, archive{name: strings.TrimSuffix(name, " --")})
			continue
		}
		if len(files) > 0 {
			files[len(files)-1].text += line
		}
	}
	return files
}

// TestGolden compiles the queries of the generator's golden cases, and compares the columns with what the generator
// promises of them.
func TestGolden(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../../sqlc-gen-tsql/testdata/golden/*/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no golden cases", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			checkGolden(t, readArchive(t, path))
		})
	}
}

func checkGolden(t *testing.T, files []archive) {
	t.Helper()
	var scripts []*syntax.Script
	var sources []analyze.Source
	l := newLab(t)
	for _, f := range files {
		switch {
		case f.name == "diagnostics" || f.name == "options.yaml" || f.name == "sqlc.yaml":
			t.Skip("a case with findings or options")
		case f.name == "server" && strings.Contains(f.text, "skip-any"):
			t.Skip("a case that no server runs")
		case !strings.HasSuffix(f.name, ".sql"):
			continue
		}
		script, found := syntax.Parse(diag.NewFile(f.name, f.text))
		if len(found) > 0 {
			t.Skip("a case with mistakes")
		}
		d, _ := directive.Read(script)
		scripts = append(scripts, script)
		sources = append(sources, analyze.Source{Script: script, Directives: d})
	}
	if len(scripts) == 0 {
		t.Skip("no script")
	}
	cat, found := catalog.Build(scripts, catalog.Options{})
	if len(found) > 0 {
		t.Skip("a case with mistakes")
	}
	program, _ := analyze.Analyze(cat, sources, analyze.Options{})
	for _, f := range files {
		if strings.HasSuffix(f.name, ".sql") && !strings.Contains(f.text, "-- name:") {
			if err := l.tryDefine(f.name, f.text); err != nil {
				t.Skip(err)
			}
		}
	}
	for _, p := range program.Procedures {
		l.checkProcedure(t, p)
	}
}

// tryDefine executes the CREATE statements of a script.
func (l *lab) tryDefine(name, text string) error {
	l.file = diag.NewFile(name, text)
	script, _ := syntax.Parse(l.file)
	for _, b := range script.Batches {
		for _, stmt := range b.Stmts {
			if err := l.execute(stmt); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkProcedure compares the columns of a procedure's result sets.
func (l *lab) checkProcedure(t *testing.T, p *analyze.Procedure) {
	t.Helper()
	m, ok := l.db.Find(p.Name.Schema, p.Name.Name, "dbo").(*schema.Module)
	if !ok {
		return
	}
	for _, hint := range []string{"gen:columns", "RESULT SETS", "#", "CREATE TABLE"} {
		if strings.Contains(m.Text, hint) {
			return // what is sent is said otherwise, or depends on tables that the procedure makes
		}
	}
	env, body := l.inside(m)
	var statements []*planner.Statement
	for _, stmt := range body {
		for s := range syntax.All[*syntax.SelectStmt](stmt) {
			st, err := planner.Query(env, s.Query)
			if number(err) == 49900 {
				t.Skip(err)
			}
			if err != nil {
				t.Errorf("%s: %v\n%s", m.Name, err, env.File.Slice(s.Range()))
				return
			}
			if st.Columns != nil {
				statements = append(statements, st)
			}
		}
	}
	if len(statements) != len(p.Results) {
		return // sets of statements that write, or of procedures that are called
	}
	for i, r := range p.Results {
		compareColumns(t, m.Name, r, statements[i])
	}
}

func compareColumns(t *testing.T, name string, want analyze.ResultSet, got *planner.Statement) {
	t.Helper()
	if len(want.Columns) != len(got.Columns) {
		t.Errorf("%s: %d columns, not %d", name, len(got.Columns), len(want.Columns))
		return
	}
	for i, c := range want.Columns {
		g := got.Columns[i]
		same := g.Type.Type == c.Type || slices.Contains(c.Types, g.Type.Type)
		if !same || g.Name != c.Name {
			t.Errorf("%s: column %s %s, the generator says %s %s", name, g.Name, g.Type.Type, c.Name, c.Type)
		}
		// SQL Server says of most expressions that they may be NULL; the generator knows better.
		if !g.Nullable && c.Nullable {
			t.Errorf("%s: column %s is never NULL, the generator says it may be", name, g.Name)
		}
	}
}
