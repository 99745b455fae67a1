package livetest_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/model"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/render"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/render/rendertest"
	_ "github.com/duroxide/duroxide-go/tsql/tsqltest" // the server of the tests in folder testdata/run
)

var inner = flag.String("inner", "", "further `flags` for the tests of the generated packages; their output is shown")

// variants are the generated packages by the folder that the tests import them from.
var variants = map[string]struct {
	options model.Options
	program *analyze.Program
}{
	"livedb": {model.Options{Package: "livedb", Sequences: true}, program()},
	"nulldb": {model.Options{Package: "nulldb", Nulls: model.NullsSQL, Sequences: true}, program()},
	"tvpdb": {
		model.Options{Package: "tvpdb", Tables: model.TablesTVP},
		&analyze.Program{Procedures: []*analyze.Procedure{echoEvents, echoIDs, noteAndTake}, TableTypes: []*catalog.Table{eventList, idList}},
	},
}

// TestGenerated renders the packages, and runs the tests of folder testdata/run with them. They see a package as one
// of the folders beside theirs, where there is none on the disk.
func TestGenerated(t *testing.T) {
	t.Parallel()
	// The go command repeats this test when a file has changed that it has read, or a package that it imports.
	sources, err := filepath.Glob("testdata/run/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		if _, err := os.ReadFile(source); err != nil {
			t.Fatal(err)
		}
	}
	// Without vet, which wants folders on the disk.
	args := append([]string{"test", "-vet=off", "-overlay", rendered(t), "./testdata/run"}, strings.Fields(*inner)...)
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	if err != nil || *inner != "" {
		t.Logf("%s", out)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// rendered writes the packages to a temporary folder, and returns the file that tells the go command where they are.
func rendered(t *testing.T) (overlay string) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	replace := map[string]string{}
	for name, v := range variants {
		m, found := model.Build(v.program, v.options)
		if len(found) > 0 {
			t.Fatal(found.Format())
		}
		files, err := render.Files(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := rendertest.Check(files); err != nil {
			t.Error(err)
		}
		for file, text := range files {
			at := filepath.Join(folder, name+"_"+file)
			write(t, at, text)
			replace[filepath.Join(here, name, file)] = at
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(folder, "overlay.json")
	write(t, overlay, text)
	return overlay
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
