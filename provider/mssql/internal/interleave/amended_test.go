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
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// TestAmended runs what calls an amended procedure, for the program tools/mutate: alone, interrupted at any point, and
// beside each other operation. It is skipped unless a procedure is amended.
func TestAmended(t *testing.T) { //nolint:tparallel // the scenarios share a server
	t.Parallel()
	text := amendment(t)
	if text == "" {
		t.Skip("SKIPPED: no procedure is amended")
	}
	module := regexp.MustCompile(`(?:PROCEDURE|FUNCTION) duroxide\.(\w+)`).FindStringSubmatch(text)
	if module == nil {
		t.Fatal("it is no procedure")
	}
	callers := callersOf(t, module[1])
	lab := NewLab(t, Variant{Amend: text})
	parts := written(t)
	for i, d := range deeds() {
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
		t.Run(s.Name, func(t *testing.T) {
			if !s.cuts && s.time == 0 {
				tsqltest.Explore(t, lab.Scenario(t, s), tsqltest.Exploration{Random: true, Schedules: 12})
			}
			if s.cuts || s.time > 0 || len(list) < 200 {
				tsqltest.Explore(t, lab.Scenario(t, s), tsqltest.Exploration{Preemptions: 1, Schedules: 300})
			}
		})
	}
}

// amendment is the text of a procedure with a defect, empty for none.
func amendment(t *testing.T) string {
	t.Helper()
	file := os.Getenv("DUROXIDE_TEST_MSSQL_AMEND")
	if file == "" {
		return ""
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
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
