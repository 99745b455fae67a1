package generate

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
)

// corpusVariable names a folder of T-SQL that we didn't write, with a folder for each project. None of it is kept here:
// point the variable at any collection of scripts. A file placeholders in a project's folder has a line "name=value"
// for each of its placeholders.
const corpusVariable = "SQLC_GEN_TSQL_CORPUS"

// tally is what became of the procedures of a project.
type tally struct {
	files, procedures, typed int
	// compiled counts the procedures in the package that is generated and vetted.
	compiled int
	// causes counts the procedures that are refused for one reason alone.
	causes map[string]int
}

// TestCorpus reads projects of strangers. Every procedure is either typed or refused with a place inside it, and
// nothing panics. It prints how many of each, and the most frequent reasons.
func TestCorpus(t *testing.T) { //nolint:tparallel // one project at a time: each takes much memory
	t.Parallel()
	all := tally{causes: map[string]int{}}
	eachProject(t, func(t *testing.T, p project) {
		one := tallyOf(t, p)
		t.Logf("%d files, %d of %d procedures typed, %d compiled", one.files, one.typed, one.procedures, one.compiled)
		all.files, all.procedures, all.typed = all.files+one.files, all.procedures+one.procedures, all.typed+one.typed
		all.compiled += one.compiled
		for cause, n := range one.causes {
			all.causes[cause] += n
		}
	})
	t.Logf("all: %d files, %d of %d procedures typed, %d compiled", all.files, all.typed, all.procedures, all.compiled)
	for _, cause := range frequent(all.causes, 40) {
		t.Logf("%6d  %s", all.causes[cause], cause)
	}
}

// eachProject runs a test for each project.
func eachProject(t *testing.T, test func(t *testing.T, p project)) {
	t.Helper()
	for _, folder := range projectFolders(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) { test(t, readProject(t, folder)) })
	}
}

// projectFolders lists the folders of projects. Without a collection the test is skipped.
func projectFolders(t *testing.T) []string {
	t.Helper()
	root := os.Getenv(corpusVariable)
	if root == "" {
		t.Skip("set " + corpusVariable + " to a folder with a folder of .sql files for each project to run this test")
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	folders := make([]string, len(entries))
	for i, entry := range entries {
		folders[i] = filepath.Join(root, entry.Name())
	}
	return folders
}

// readProject reads the scripts of one project, and the values of its placeholders.
func readProject(t *testing.T, root string) project {
	t.Helper()
	p := project{name: filepath.Base(root), options: config.Default()}
	p.options.Model.Package = "db"
	values := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if entry.Name() == "placeholders" {
			for line := range strings.Lines(string(content)) {
				name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
				values[name] = value
			}
			return err
		}
		p.sources = append(p.sources, Source{Name: filepath.ToSlash(path), Text: decode(content), Role: Schema})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p.sources = fill(p.sources, values)
	return p
}

// tallyOf generates from the scripts of one project.
func tallyOf(t *testing.T, project project) tally {
	t.Helper()
	result, findings := Run(project.sources, project.options)
	modules := modulesOf(result.Catalog)
	reasons := map[string]map[string]bool{} // by module
	for _, d := range findings {
		if !placed(d) {
			t.Errorf("a finding without a place: %s", d.Error())
		}
		name := modules.around(d)
		if reasons[name] == nil {
			reasons[name] = map[string]bool{}
		}
		reasons[name][d.Rule+": "+generic(d.Message)] = true
	}
	out := tally{files: len(project.sources), causes: map[string]int{}}
	for _, p := range result.Catalog.Procedures {
		own := reasons[p.Name.String()]
		if described := findProcedure(result.Program, p.Name); described == nil || lacksTypes(described) {
			own = maps.Collect(maps.All(own))
			own["type: it reads what has a finding elsewhere"] = true
		}
		out.procedures++
		switch len(own) {
		case 0:
			out.typed++
		case 1:
			for reason := range own {
				out.causes[reason]++
			}
		}
	}
	_, settled := project.settle(t)
	vetGenerated(t, settled.Files)
	out.compiled = len(settled.Program.Procedures)
	return out
}

// findProcedure returns a procedure by its name.
func findProcedure(program *analyze.Program, name catalog.Name) *analyze.Procedure {
	i := slices.IndexFunc(program.Procedures, func(p *analyze.Procedure) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return program.Procedures[i]
}

// lacksTypes reports whether something that a procedure takes or sends has no type.
func lacksTypes(p *analyze.Procedure) bool {
	return slices.ContainsFunc(p.Params, func(p analyze.Param) bool { return p.Table == nil && p.Type.Kind == sqltype.Invalid }) ||
		slices.ContainsFunc(p.Results, func(r analyze.ResultSet) bool { return slices.ContainsFunc(r.Columns, untyped) })
}

// frequent lists the n most frequent causes.
func frequent(counts map[string]int, n int) []string {
	causes := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return causes[:min(n, len(causes))]
}

// generic takes the names out of a message, so that messages of a kind count together.
func generic(message string) string {
	words := strings.Fields(message)
	for i, word := range words {
		if strings.ContainsAny(word, "\"'@#[].(=0123456789") {
			words[i] = "…"
		}
	}
	return strings.Join(words, " ")
}

// decode turns a file into text: some tools of SQL Server write UTF-16, and old files are in a code page.
func decode(content []byte) string {
	if len(content) >= 2 && content[0] == 0xff && content[1] == 0xfe {
		units := make([]uint16, 0, len(content)/2)
		for i := 2; i+1 < len(content); i += 2 {
			units = append(units, uint16(content[i])|uint16(content[i+1])<<8)
		}
		return string(utf16.Decode(units))
	}
	if utf8.Valid(content) {
		return string(content)
	}
	var text strings.Builder
	for _, b := range content {
		fmt.Fprintf(&text, "%c", rune(b))
	}
	return text.String()
}
