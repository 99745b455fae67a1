package interleave

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	scripts "github.com/duroxide/duroxide-go/sql"
	"github.com/duroxide/duroxide-go/tsqltest"
)

// TestAmended runs what calls an amended procedure, for the program tools/mutate: alone, interrupted at any point, and beside each
// other operation. It is skipped unless a procedure is amended.
func TestAmended(t *testing.T) { //nolint:tparallel // the scenarios share a server
	t.Parallel()
	file := os.Getenv("DUROXIDE_TEST_MSSQL_AMEND")
	if file == "" {
		t.Skip("SKIPPED: no procedure is amended")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	module := regexp.MustCompile(`(?:PROCEDURE|FUNCTION) duroxide\.(\w+)`).FindStringSubmatch(string(text))
	if module == nil {
		t.Fatalf("%s is no procedure", file)
	}
	callers := callersOf(t, module[1])
	lab := NewLab(t, Variant{Amend: string(text)})
	parts := written(t)
	for i, d := range deeds() { //nolint:paralleltest // they share a server
		if calls(d.batch, callers) {
			t.Run("alone/"+d.name, func(t *testing.T) {
				if diff := compare(d.effect(t, lab), parts[i]); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
	list := slices.DeleteFunc(append(cuts(), Matrix()...), func(s Scenario) bool {
		return !slices.ContainsFunc(s.operations, func(o operation) bool { return calls(o.batch("a", 1), callers) })
	})
	for _, s := range list { //nolint:paralleltest // they share a server
		o := tsqltest.Exploration{Random: true, Schedules: min(max(4000/len(list), 12), 100)}
		if s.cuts || s.time > 0 {
			o = tsqltest.Exploration{Preemptions: 1, Schedules: 300}
		}
		t.Run(s.Name, func(t *testing.T) { tsqltest.Explore(t, lab.Scenario(t, s), o) })
	}
}

// callersOf are a procedure and those that call it, and so on.
func callersOf(t *testing.T, name string) []string {
	t.Helper()
	files, err := fs.Glob(scripts.MSSQLScripts(), "procedures/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	all := []string{name}
	for before := 0; before < len(all); {
		before = len(all)
		for _, file := range files {
			text, err := fs.ReadFile(scripts.MSSQLScripts(), file)
			if err != nil {
				t.Fatal(err)
			}
			if caller := strings.TrimSuffix(path.Base(file), ".sql"); !slices.Contains(all, caller) && calls(string(text), all) {
				all = append(all, caller)
			}
		}
	}
	return all
}

// calls says whether a text names one of the procedures.
func calls(text string, names []string) bool {
	return regexp.MustCompile(`duroxide\.(` + strings.Join(names, "|") + `)\b`).MatchString(text)
}
