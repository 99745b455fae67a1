package generate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/generate"
)

// What the stages make of scripts is told by the golden cases of the command; here is what lies between the stages.

func TestMergeKeepsTheFirstPlaceAndAllRoles(t *testing.T) {
	t.Parallel()
	got := generate.Merge([]generate.Source{
		{Name: "b.sql", Role: generate.Schema},
		{Name: "a.sql", Role: generate.Schema},
		{Name: "b.sql", Role: generate.Queries},
	})
	want := []generate.Source{
		{Name: "b.sql", Role: generate.Schema | generate.Queries},
		{Name: "a.sql", Role: generate.Schema},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// What can't be read is reported once, and hides nothing that stands on its own.
func TestFindingsThatOnlyEchoAreLeftOut(t *testing.T) {
	t.Parallel()
	const bins = "CREATE TABLE dbo.bins (id int NOT NULL PRIMARY KEY);\nGO\n"
	cases := map[string]struct {
		scripts []string // a.sql, b.sql, …
		want    []string
	}{
		"a name that was to be defined": {
			scripts: []string{"CREATE TABLE dbo.t (id int NOT NUL);\n", bins + "CREATE PROCEDURE dbo.p AS SELECT t.id FROM dbo.t AS t;\n"},
			want:    []string{"a.sql:1:32: expected NULL, found NUL (syntax)"},
		},
		"a name that was not": {
			scripts: []string{bins + "SELCT 1;\n", "CREATE PROCEDURE dbo.p AS SELECT t.id FROM dbo.t AS t;\n"},
			want: []string{
				`a.sql:3:1: unknown statement "SELCT" (syntax)`,
				"b.sql:1:44: no script defines a table or a view dbo.t (name)",
			},
		},
		"the statement itself": {
			scripts: []string{"CREATE PROCEDURE dbo.p AS\nDECLAR @n int = 1;\nSELECT @n AS n;\n"},
			want:    []string{`a.sql:2:1: unknown statement "DECLAR" (syntax)`},
		},
		"a name without its query": {
			scripts: []string{bins + "-- nothing\n", "-- name: Broken :one\nSELECT FROM dbo.bins;\n"},
			want:    []string{"b.sql:2:8: expected an expression, found FROM (syntax)"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sources []generate.Source
			for i, text := range c.scripts {
				sources = append(sources, generate.Source{Name: string(rune('a'+i)) + ".sql", Text: text, Role: generate.Any})
			}
			_, findings := generate.Analyze(sources, config.Default())
			var got []string
			for _, f := range findings {
				got = append(got, f.Error())
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// Vet reports scripts that it can't read, too; a finding of the analysis is none of its.
func TestVet(t *testing.T) {
	t.Parallel()
	vet := func(text string) string {
		c := config.Default()
		c.Vet.Disable = []string{"all"}
		return generate.Vet([]generate.Source{{Name: "a.sql", Text: text, Role: generate.Any}}, c).Format()
	}
	if got := vet("SELCT 1;"); !strings.Contains(got, "unknown statement") {
		t.Errorf("a script that can't be read: %q", got)
	}
	if got := vet("CREATE PROCEDURE dbo.p AS SELECT t.id FROM dbo.t AS t;"); got != "" {
		t.Errorf("an unknown table: %q", got)
	}
}

// TestExcludedIsLinted: what is excluded is linted all the same, but not where a part of it can't be read, of which the
// rest says nothing.
func TestExcludedIsLinted(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Exclude = []string{"dbo.whole", "dbo.torn"}
	findings := generate.Vet([]generate.Source{{Name: "x.sql", Role: generate.Any, Text: "CREATE TABLE dbo.t (id int NOT NULL);\nGO\n" +
		"CREATE PROCEDURE dbo.whole AS SELECT t.id FROM dbo.t AS t WITH (NOLOCK);\nGO\n" +
		"CREATE PROCEDURE dbo.torn @x xml AS\nSELECT t.id FROM dbo.t AS t WITH (NOLOCK);\nSELECT geography::[Null] AS a;\n"}}, c)
	if len(findings) != 1 || !strings.HasPrefix(findings[0].Error(), "x.sql:3:") {
		t.Errorf("got %s, want one finding in line 3", findings.Format())
	}
}

// TestExcludedCostsNoMore: an excluded module of another language, which yields a finding a line, keeps nothing behind
// it from being read.
func TestExcludedCostsNoMore(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Exclude = []string{"alien"}
	_, findings := generate.Analyze([]generate.Source{{Name: "x.sql", Role: generate.Any, Text: "CREATE PROCEDURE dbo.alien AS\n" +
		strings.Repeat("LOOP x y\n", 1000) + "BACK ` TICK\nGO\nCREATE PROCEDURE dbo.p AS SELECT id FROM dbo.gone;\n"}}, c)
	if len(findings) != 1 || !strings.HasPrefix(findings[0].Error(), "x.sql:1004:42: no script defines a table or a view dbo.gone") {
		t.Errorf("got %s, want one finding in line 1004", findings.Format())
	}
}

// TestInternalIsAHelper: the lint rules take a procedure that says gen:internal for a helper, as one that is excluded,
// and look for what is wrong in it all the same.
func TestInternalIsAHelper(t *testing.T) {
	t.Parallel()
	script := func(header string) string {
		return "CREATE TABLE dbo.t (id int NOT NULL);\nGO\n" +
			"-- Lists.\n-- Helper of: tell.\n" + header + "CREATE PROCEDURE list AS\nSELECT t.id FROM dbo.t AS t WITH (NOLOCK);\nGO\n" +
			"-- Tells.\n-- Called by: the shop.\nCREATE PROCEDURE dbo.tell AS\n" +
			"SET TRANSACTION ISOLATION LEVEL READ COMMITTED;\nEXEC dbo.list;\nGO\nGRANT EXECUTE ON dbo.tell TO workers;\n"
	}
	vet := func(text string, exclude ...string) []string {
		c := config.Default()
		c.Exclude = exclude
		c.Vet.Roles = []string{"workers"}
		c.Vet.Enable, c.Vet.Disable = []string{"D1-callers"}, []string{"P3", "P8"}
		var got []string
		for _, d := range generate.Vet([]generate.Source{{Name: "x.sql", Role: generate.Any, Text: text}}, c) {
			got = append(got, d.Rule)
		}
		return got
	}
	helper := []string{"vet/P4-nolock"}
	if got := vet(script("-- gen:internal\n")); !slices.Equal(got, helper) {
		t.Errorf("an internal procedure: findings %v, want %v", got, helper)
	}
	if got := vet(script(""), "dbo.list"); !slices.Equal(got, helper) {
		t.Errorf("an excluded procedure: findings %v, want %v", got, helper)
	}
	// Without helpers, Q12-set and the half of D1-callers that compares them with the sections say nothing.
	if got, want := vet(script("")), []string{"vet/P9-grant", "vet/P4-nolock"}; !slices.Equal(got, want) {
		t.Errorf("neither: findings %v, want %v", got, want)
	}
	if got, want := vet(script("")+"GO\n-- Left.\n-- Helper of: tell.\n-- gen:internal\nCREATE PROCEDURE dbo.left_over AS RETURN;\n"),
		[]string{"vet/D1-callers", "vet/P9-grant", "vet/Q12-set", "vet/P4-nolock", "vet/D1-callers"}; !slices.Equal(got, want) {
		t.Errorf("another one is internal: findings %v, want %v", got, want)
	}
}

// TestInternalMisplaced: vet reports a gen:internal that does nothing, since its rules would take the procedure for one
// that is called from outside.
func TestInternalMisplaced(t *testing.T) {
	t.Parallel()
	findings := generate.Vet([]generate.Source{{Name: "x.sql", Role: generate.Any, Text: "-- gen:internal\n\nCREATE PROCEDURE dbo.p AS RETURN;\n"}},
		config.Default())
	if len(findings) != 1 || !strings.HasPrefix(findings[0].Error(), "x.sql:1:1: this gen:internal belongs to nothing") {
		t.Errorf("got %s, want one finding in line 1", findings.Format())
	}
}

// TestInternalTorn: a definition that can't be read has taken its gen:internal with it, and that is not said in
// addition.
func TestInternalTorn(t *testing.T) {
	t.Parallel()
	_, findings := generate.Analyze([]generate.Source{{Name: "x.sql", Role: generate.Any, Text: "-- gen:internal\nCREATE PROCEDURE dbo.p @a AS RETURN;\n"}},
		config.Default())
	if len(findings) != 1 || findings[0].Rule != "syntax" {
		t.Errorf("got %s, want the syntax error alone", findings.Format())
	}
}

// TestOneRunTellsAll: what can't be generated is found in the same run as what can't be read or typed, and once.
func TestOneRunTellsAll(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Model.Package = "db"
	_, findings := generate.Run([]generate.Source{{Name: "x.sql", Role: generate.Any, Text: "CREATE TABLE dbo.t (id int NOT NULL, v sql_variant NULL);\nGO\n" +
		"CREATE PROCEDURE dbo.unread AS SELEC 1;\nGO\n" +
		"CREATE PROCEDURE dbo.untyped AS SELECT nothing FROM dbo.t;\nGO\n" +
		"CREATE PROCEDURE dbo.unsendable AS SELECT v FROM dbo.t;\n"}}, c)
	var got []string
	for _, d := range findings {
		line, _ := d.File.Position(d.Span.From)
		got = append(got, fmt.Sprintf("%d %s", line, d.Rule))
	}
	if want := []string{"3 syntax", "5 name", "7 type"}; !slices.Equal(got, want) {
		t.Errorf("findings %v, want %v:\n%s", got, want, findings.Format())
	}
}

// TestCharactersThatGoCannotHold: what goes into Go source from comments must be possible there.
func TestCharactersThatGoCannotHold(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Model.Package = "db"
	for _, text := range []string{"--\x00\nCREATE PROC A @A int AS", "CREATE PROC A AS PRINT '\ufeff';"} {
		_, findings := generate.Run([]generate.Source{{Name: "x.sql", Role: generate.Any, Text: text}}, c)
		if len(findings) == 0 || findings[0].File == nil || findings[0].Rule != "syntax" {
			t.Errorf("%q: findings %s, want one at the character", text, findings.Format())
		}
	}
}
