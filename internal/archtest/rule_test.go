package archtest

import (
	"slices"
	"strings"
	"testing"
)

// imports describes a made-up module: "./a" stands for a package of example.com/m, a path without a dot for one of the
// standard library.
type imports map[string][]string

func (i imports) graph() *Graph {
	const module = "example.com/m"
	expand := func(path string) string {
		if rest, ok := strings.CutPrefix(path, "./"); ok {
			return module + "/" + rest
		}
		return path
	}
	graph := &Graph{Module: module, Packages: map[string]Package{}}
	add := func(path string, list []string) {
		p := Package{ImportPath: expand(path), GoFiles: []string{"a.go"}, Standard: !strings.Contains(path, ".")}
		for _, path := range list {
			p.Imports = append(p.Imports, expand(path))
		}
		graph.Packages[p.ImportPath] = p
	}
	for path, list := range i {
		for _, imported := range list {
			if _, ok := i[imported]; !ok {
				add(imported, nil)
			}
		}
		add(path, list)
	}
	return graph
}

func TestCheckReportsViolations(t *testing.T) {
	t.Parallel()
	noSQL := Rule{From: Set{"./worker"}, Forbidden: Set{"database/sql/..."}, Reach: Directly, Why: "reasons"}
	noSQLAnywhere := noSQL
	noSQLAnywhere.Reach = Transitively
	stdOnly := Rule{From: Set{"./contract"}, Forbidden: anythingBut("std"), Reach: Directly, Why: "reasons"}

	cases := map[string]struct {
		rule    Rule
		imports imports
		want    []string
	}{
		"a direct import": {
			rule:    noSQL,
			imports: imports{"./worker": {"fmt", "database/sql"}},
			want:    []string{"./worker imports database/sql\n\tbecause: reasons"},
		},
		"a folder below a forbidden one": {
			rule:    noSQL,
			imports: imports{"./worker": {"database/sql/driver"}},
			want:    []string{"./worker imports database/sql/driver\n\tbecause: reasons"},
		},
		"a name that only begins like a forbidden one": {
			rule:    noSQL,
			imports: imports{"./worker": {"database/sqlx"}},
		},
		"another package may": {
			rule:    noSQL,
			imports: imports{"./worker": {"fmt"}, "./worker/inner": {"database/sql"}, "./store": {"database/sql"}},
		},
		"a detour is out of sight of a direct rule": {
			rule:    noSQL,
			imports: imports{"./worker": {"./store"}, "./store": {"database/sql"}},
		},
		"a detour is shown step by step by a transitive rule": {
			rule:    noSQLAnywhere,
			imports: imports{"./worker": {"fmt", "./a"}, "./a": {"x.com/lib"}, "x.com/lib": {"database/sql"}},
			want:    []string{"./worker reaches ./a -> x.com/lib -> database/sql\n\tbecause: reasons"},
		},
		"the shortest of two ways is shown": {
			rule:    noSQLAnywhere,
			imports: imports{"./worker": {"./a", "./b"}, "./a": {"./b"}, "./b": {"database/sql"}},
			want:    []string{"./worker reaches ./b -> database/sql\n\tbecause: reasons"},
		},
		"a forbidden package is reported once, without what is behind it": {
			rule:    noSQLAnywhere,
			imports: imports{"./worker": {"database/sql"}, "database/sql": {"database/sql/driver"}},
			want:    []string{"./worker reaches database/sql\n\tbecause: reasons"},
		},
		"anything but what is allowed": {
			rule:    stdOnly,
			imports: imports{"./contract": {"fmt", "x.com/lib", "./store"}, "./store": nil},
			want: []string{
				"./contract imports ./store\n\tbecause: reasons",
				"./contract imports x.com/lib\n\tbecause: reasons",
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.rule.Check(c.imports.graph()); !slices.Equal(got, c.want) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestSetIsReadFromLeftToRight(t *testing.T) {
	t.Parallel()
	graph := imports{"./a": {"os", "x.com/lib"}, "./a/b": nil, "./a/b/c": nil, "./ab": nil}.graph()
	set := Set{"./a/...", "!./a/b/...", "./a/b/c", "std"}
	want := map[string]bool{
		"example.com/m/a": true, "example.com/m/a/b": false, "example.com/m/a/b/c": true, "example.com/m/ab": false,
		"os": true, "x.com/lib": false,
	}
	for path, in := range want {
		if got := set.has(graph, path); got != in {
			t.Errorf("%v has %s: got %v, want %v", set, path, got, in)
		}
	}
}

func TestDanglingReportsWhatTheTreeContradicts(t *testing.T) {
	t.Parallel()
	graph := imports{"./a": nil, "./early": nil}.graph()
	rules := []Rule{
		{From: Set{"./...", "!./a"}, Forbidden: Set{"...", "./gone/..."}},
		{From: Set{"./later", "./early"}, Forbidden: Set{"x.com/unused"}},
	}
	planned := map[string]string{"./later": "", "./early": "", "./forgotten": ""}

	got := Dangling(graph, rules, planned)

	want := []string{
		"./early exists; remove it from the planned packages",
		"./forgotten is planned, but no rule mentions it",
		"./gone/... is in a rule, but there is no such package; " +
			"remove it, or add it to the planned packages with what will be there",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestUnruledReportsAPackageNobodyDecidedAbout(t *testing.T) {
	t.Parallel()
	graph := imports{"./a": {"x.com/lib"}, "./b": nil}.graph()
	got := Unruled(graph, []Rule{{From: Set{"./..."}}, {From: Set{"./a"}}})
	if len(got) != 1 || !strings.HasPrefix(got[0], "./b has no rule") {
		t.Errorf("got %q", got)
	}
}

func TestVagueNamesLooksAtEveryElement(t *testing.T) {
	t.Parallel()
	graph := imports{"./internal/util": {"x.com/common"}, "./helpers/retry": nil, "./utility": nil}.graph()
	got := VagueNames(graph)
	if len(got) != 2 || !strings.HasPrefix(got[0], "./helpers/retry") || !strings.HasPrefix(got[1], "./internal/util") {
		t.Errorf("got %q", got)
	}
}

func TestUndocumentedReportsAPackageWithoutComment(t *testing.T) {
	t.Parallel()
	graph := imports{"./bare": {"x.com/lib"}, "./gen/bare": nil, "./tests": nil, "./told": nil}.graph()
	told := graph.Packages["example.com/m/told"]
	told.Doc = "Package told has a comment."
	graph.Packages[told.ImportPath] = told
	testsOnly := graph.Packages["example.com/m/tests"]
	testsOnly.GoFiles = nil
	graph.Packages[testsOnly.ImportPath] = testsOnly

	got := Undocumented(graph, Set{"./gen/..."})
	if len(got) != 1 || !strings.HasPrefix(got[0], "./bare:") {
		t.Errorf("got %q", got)
	}
}

func TestDecodeRefusesWhatIsNotAPackage(t *testing.T) {
	t.Parallel()
	if graph, err := decode(strings.NewReader("{} nonsense"), "example.com/m"); err == nil {
		t.Errorf("got %v and no error", graph)
	}
}
