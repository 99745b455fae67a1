package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

var anything = regexp.MustCompile("")

func readAll(t *testing.T) texts {
	t.Helper()
	all, err := readTexts(root)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestMutantsApply fails when a procedure has changed so that a mutant of it is none any more.
func TestMutantsApply(t *testing.T) {
	t.Parallel()
	all := readAll(t)
	trials, err := prepare(all, false, anything)
	if err != nil {
		t.Fatal(err)
	}
	count, names := map[kind]int{}, map[string]bool{}
	for _, m := range trials {
		if names[m.name] {
			t.Errorf("%s occurs twice", m.name)
		}
		names[m.name] = true
		count[m.kind]++
	}
	if len(trials) < 150 {
		t.Errorf("%d mutants, want at least 150", len(trials))
	}
	for _, k := range kinds {
		if count[k] < 5 {
			t.Errorf("%s: %d mutants, want at least 5", k, count[k])
		}
	}
	for name, why := range survivors {
		if !names[name] || why == "" {
			t.Errorf("the survivor %q is no mutant, or nothing explains it", name)
		}
	}
	if more, err := prepare(all, true, anything); err != nil || len(more) <= len(trials) {
		t.Errorf("%d of %d mutants are in the sample: %v", len(trials), len(more), err)
	}
}

// TestMutantsSurviveAReformat: a script that is laid out otherwise, with other comments, takes the same patches.
func TestMutantsSurviveAReformat(t *testing.T) {
	t.Parallel()
	all := readAll(t)
	mutants, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	other := texts{}
	for path, text := range all {
		var words strings.Builder
		for i, token := range tokens(text) {
			words.WriteString(token.text + []string{" ", "\n", "\t-- another comment\n", " /* one more */ "}[i%4])
		}
		other[path] = words.String()
	}
	for _, m := range mutants {
		want, err := apply(all, m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := apply(other, m)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(tokens(got.text), tokens(want.text), alike) {
			t.Errorf("%s:\n%s", m.what, got.text)
		}
	}
}

// TestPatch: a patch keeps the comments around what it changes, and its text must be there once.
func TestPatch(t *testing.T) {
	t.Parallel()
	const text = "BEGIN\n    -- vet:allow Q3: because\n    DELETE a WHERE b=1 AND c = N'x  y';\nEND\n"
	for _, test := range []struct{ old, new, want string }{
		{"WHERE b = 1", "WHERE b = 2", "BEGIN\n    -- vet:allow Q3: because\n    DELETE a WHERE b=\n2\n AND c = N'x  y';\nEND\n"},
		{"BEGIN", "BEGIN\nCOMMIT;", "BEGIN\nCOMMIT;\n\n    -- vet:allow Q3: because\n    DELETE a WHERE b=1 AND c = N'x  y';\nEND\n"},
		{"END", "COMMIT; END", "BEGIN\n    -- vet:allow Q3: because\n    DELETE a WHERE b=1 AND c = N'x  y';\n\nCOMMIT;\nEND\n"},
		{"AND c = N'x  y'\n;", ";", "BEGIN\n    -- vet:allow Q3: because\n    DELETE a WHERE b=1 ;\nEND\n"},
		{"c = N'x y'", "c = N''", ""},
		{"=", "<>", ""},
	} {
		if got, err := patch(text, test.old, test.new); got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q: %q, %v", test.old, got, err)
		}
	}
	for _, section := range []string{"condition of a write lost\n-a\n", "clock read earlier; found by chance\n-a\n", "clock read earlier\na\n"} {
		if _, err := parseMutant("p: is wrong", section); err == nil {
			t.Errorf("%q is a mutant", section)
		}
	}
}

// TestMechanicalMutants shows what is made of a procedure.
func TestMechanicalMutants(t *testing.T) {
	t.Parallel()
	const text = `CREATE PROCEDURE p AS
-- WHERE a < b_at
UPDATE duroxide.t
SET a = 1
WHERE id = 1
  AND locked_until > 2;
SELECT a
FROM t WITH (UPDLOCK, INDEX (i));
INNER LOOP JOIN u;
DELETE FROM duroxide.t WITH (FORCESEEK (pk (a, b)), ROWLOCK);`
	want := map[string]string{
		"without its condition id = 1":                                                                 "SET a = 1\nWHERE locked_until > 2;",
		"without its condition locked_until > 2":                                                       "WHERE id = 1;\nSELECT",
		"compares the other way: AND locked_until > 2;":                                                "  AND locked_until <= 2;",
		"with READPAST: UPDATE duroxide.t":                                                             "UPDATE duroxide.t WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK)\n",
		"without UPDLOCK: FROM t WITH (UPDLOCK, INDEX (i));":                                           "FROM t WITH (INDEX (i));",
		"without INDEX (i): FROM t WITH (UPDLOCK, INDEX (i));":                                         "FROM t WITH (UPDLOCK);",
		"with READPAST: FROM t WITH (UPDLOCK, INDEX (i));":                                             "FROM t WITH (READPAST, UPDLOCK, INDEX (i));",
		"without LOOP: INNER LOOP JOIN u;":                                                             "INNER JOIN u;",
		"without FORCESEEK (pk (a, b)): DELETE FROM duroxide.t WITH (FORCESEEK (pk (a, b)), ROWLOCK);": "duroxide.t WITH (ROWLOCK);",
		"without ROWLOCK: DELETE FROM duroxide.t WITH (FORCESEEK (pk (a, b)), ROWLOCK);":               "duroxide.t WITH (FORCESEEK (pk (a, b)));",
		"with READPAST: DELETE FROM duroxide.t WITH (FORCESEEK (pk (a, b)), ROWLOCK);":                 "duroxide.t WITH (READPAST, FORCESEEK (pk (a, b)), ROWLOCK);",
	}
	made := mechanical(texts{"procedures/p.sql": text}, true)
	if len(made) != len(want) {
		t.Errorf("%d mutants, want %d", len(made), len(want))
	}
	for _, m := range made {
		one, err := apply(texts{"procedures/p.sql": text}, m)
		if err != nil {
			t.Fatal(err)
		}
		if want[m.what] == "" || !strings.Contains(one.text, want[m.what]) {
			t.Errorf("%s:\n%s", m.what, one.text)
		}
	}
}

// TestRules asks the rules about two mutants, of which they find one.
func TestRules(t *testing.T) {
	t.Parallel()
	all := readAll(t)
	l, err := newLab(t.Context(), root, "", all, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.close(); err != nil {
			t.Error(err)
		}
	}()
	for name, found := range map[string]bool{
		"renew_work_item_lock: revives a lease that has ended": true,
		"abandon_work_item: is ready before its delay is over": false,
	} {
		trials, err := prepare(all, false, regexp.MustCompile("^"+regexp.QuoteMeta(name)+"$"))
		if err != nil || len(trials) != 1 {
			t.Fatalf("%s: %v, %v", name, trials, err)
		}
		if said, err := rules(t.Context(), l, trials[0], t.TempDir()); err != nil || (said != "") != found {
			t.Errorf("%s: %q, %v", name, said, err)
		}
	}
}

// TestPretended is what TestTestsFind runs: it fails if the amendment says so, on a busy machine only once.
func TestPretended(t *testing.T) { //nolint:tparallel // one fails and then the other
	t.Parallel()
	text, err := os.ReadFile(os.Getenv(amendVariable))
	if err != nil {
		t.Skip("SKIPPED: this is not a run of TestTestsFind")
	}
	dir, defect, _ := strings.Cut(string(text), "\n")
	//nolint:paralleltest // one after the other
	t.Run("always", func(t *testing.T) {
		if defect == "defect" {
			t.Error("violates the contract")
		}
	})
	//nolint:paralleltest // one after the other
	t.Run("once", func(t *testing.T) {
		if defect == "end" {
			return
		}
		if f, err := os.OpenFile(filepath.Join(dir, "once"), os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_ = f.Close()
			t.Error("is too late")
		}
	})
	if defect == "end" {
		go panic("the end")
		<-t.Context().Done()
	}
}

// TestTestsFind runs tests as the explorer's and the kit's are run.
func TestTestsFind(t *testing.T) {
	t.Parallel()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sound := t.TempDir()
	if err := os.WriteFile(filepath.Join(sound, "once"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := &lab{root: ".", binaries: map[string]string{".": binary}, texts: texts{"p": sound + "\n"}}
	find := tests(".", "^TestPretended$")
	for defect, want := range map[string]string{
		"":       "",
		"defect": "TestPretended/always: violates the contract",
		"end":    "the tests panic",
	} {
		m := &trial{path: "p", text: t.TempDir() + "\n" + defect}
		if said, err := find(t.Context(), l, m, t.TempDir()); err != nil || said != want {
			t.Errorf("%q: %q, want %q, %v", defect, said, want, err)
		}
	}
}

// TestResults keeps what was found for the next run, unless the text is another one or survivors are asked again.
func TestResults(t *testing.T) {
	t.Parallel()
	book := &notebook{path: filepath.Join(t.TempDir(), "results")}
	found := &trial{name: "a", text: "a", outcome: outcome{finder: "rules", finding: "Q1"}}
	survivor := &trial{name: "b", text: "b", outcome: outcome{asked: []string{"rules"}}}
	for _, m := range []*trial{{name: "a", text: "a"}, found, {name: "a", text: "a"}, survivor} {
		if err := book.note(m); err != nil {
			t.Fatal(err)
		}
	}
	known, err := readResults(book.path)
	if err != nil {
		t.Fatal(err)
	}
	later := []*trial{{text: "a"}, {text: "b"}, {text: "c", name: "a"}}
	known.give(later, false)
	if later[0].finder != "rules" || !later[1].has("rules") || later[2].finder != "" || later[2].before.Finder != "rules" {
		t.Errorf("%v", later)
	}
	known.give(later, true)
	if later[0].finder != "rules" || later[1].has("rules") {
		t.Errorf("%v", later)
	}
	if none, err := readResults(filepath.Join(t.TempDir(), "none")); err != nil || len(none.texts) != 0 {
		t.Errorf("%v, %v", none, err)
	}
}

// TestFingerprint is the same whatever comments say, but for those that rules and generator read.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	of := func(text string) string { return (&trial{path: "p", text: text}).fingerprint() }
	plain := of("-- Deletes.\nDELETE a\n    --\n    -- all\nWHERE 1 = 1;")
	for text, same := range map[string]bool{
		"DELETE a\nWHERE 1 = 1;":                       true,
		"-- Removes.\nDELETE a\nWHERE 1 = 1;":          true,
		"DELETE a\n-- vet:allow Q3: all\nWHERE 1 = 1;": false,
		"-- gen:result Gone\nDELETE a\nWHERE 1 = 1;":   false,
		"DELETE a\nWHERE 1 = 2;":                       false,
	} {
		if (of(text) == plain) != same {
			t.Errorf("%q: want the same as another one: %t", text, same)
		}
	}
}

// TestVerdict fails for survivors that nobody has explained, and the report lists all.
func TestVerdict(t *testing.T) {
	t.Parallel()
	trials := []*trial{
		{mutant: mutant{kind: commitMoved}, name: "found", outcome: outcome{finder: "kit"}},
		{mutant: mutant{kind: commitMoved, survives: "nobody can tell"}, name: "explained"},
	}
	var out strings.Builder
	if err := verdict(trials, &out); err != nil || !strings.Contains(out.String(), "1 of 2 mutants found") {
		t.Errorf("%v: %s", err, &out)
	}
	file := filepath.Join(t.TempDir(), "report.md")
	if err := writeReport(file, trials); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| commit moved | 2 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 1 |\n", "| `explained` | nobody can tell |\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if err := verdict(append(trials, &trial{name: "new"}), &out); err == nil || !strings.Contains(out.String(), "survived: new") {
		t.Errorf("%v: %s", err, &out)
	}
}
