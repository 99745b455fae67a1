package livetest_test

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/duroxide/duroxide-go/internal/tsql/analyze"
	"github.com/duroxide/duroxide-go/internal/tsql/catalog"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/model"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/render"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/render/rendertest"
)

var update = flag.Bool("update", false, "rewrite the generated packages")

// variants are the generated packages by the folder that they are in.
var variants = map[string]struct {
	options model.Options
	program *analyze.Program
}{
	"livedb": {model.Options{Package: "livedb", Sequences: true}, program()},
	"nulldb": {model.Options{Package: "nulldb", Nulls: model.NullsSQL, Sequences: true}, program()},
	"bothdb": {
		model.Options{Package: "bothdb", Tables: model.TablesBoth},
		&analyze.Program{Procedures: []*analyze.Procedure{echoEvents, echoIDs, noteAndTake}, TableTypes: []*catalog.Table{eventList, idList}},
	},
}

// TestGenerated says that the packages that the other tests run are what the generator writes.
func TestGenerated(t *testing.T) {
	t.Parallel()
	for folder, v := range variants {
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
		if *update {
			write(t, folder, files)
		}
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) != len(files) {
			t.Errorf("%s holds %d files, and %d are generated: run go test -update", folder, len(entries), len(files))
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			on, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil || !bytes.Equal(on, files[name]) {
				t.Errorf("%s/%s is not what is generated (%v): run go test -update", folder, name, err)
			}
		}
	}
}

func write(t *testing.T, folder string, files map[string][]byte) {
	t.Helper()
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
