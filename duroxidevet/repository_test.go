package duroxidevet_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"

	"github.com/duroxide/duroxide-go/duroxidevet"
)

// TestRepository finds nothing in the library, its commands, its examples and the Example functions of its documents.
func TestRepository(t *testing.T) {
	t.Parallel()
	l := newLoader(t)
	passes := l.repository(t)
	for _, pkg := range []string{"orchestration", "client", "worker", "codec", "orchestrationtest"} {
		passes = append(passes, l.pass(t, library+"/"+pkg+"_test", examplesOf(t, pkg)))
	}
	functions := 0
	for _, pass := range passes {
		pass.Report = func(d analysis.Diagnostic) { t.Errorf("%s: %s", pass.Fset.Position(d.Pos), d.Message) }
		if _, err := duroxidevet.Analyzer.Run(pass); err != nil {
			t.Error(err)
		}
		for _, object := range pass.TypesInfo.Uses {
			if object.Name() == "New" && object.Pkg() != nil && object.Pkg().Path() == library+"/orchestration" {
				functions++
			}
		}
	}
	if len(passes) < 40 || functions < 15 {
		t.Errorf("it has read %d packages and %d orchestrations; something is missing", len(passes), functions)
	}
}

// examplesOf are the files with the examples of a package.
func examplesOf(t *testing.T, pkg string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pkg, "example_*test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples of %s: %v", pkg, err)
	}
	sources := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources[file] = string(text)
	}
	return sources
}

// BenchmarkRepository analyses all packages of this repository, which are parsed and type-checked before.
func BenchmarkRepository(b *testing.B) {
	passes := newLoader(b).repository(b)
	for b.Loop() {
		for _, pass := range passes {
			if _, err := duroxidevet.Analyzer.Run(pass); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(passes)), "packages")
}

// repository loads the packages of the library's module, each after those that it imports.
func (l *loader) repository(tb testing.TB) (passes []*analysis.Pass) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), "go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,Module", "./...")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	output, err := cmd.Output()
	if err != nil {
		tb.Fatal(err)
	}
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var pkg struct {
			ImportPath, Dir string
			GoFiles         []string
			Module          struct{ Path string }
		}
		err := decoder.Decode(&pkg) //nolint:musttag // the go command's JSON has Go's own names
		if errors.Is(err, io.EOF) {
			return passes
		}
		if err != nil {
			tb.Fatal(err)
		}
		if pkg.Module.Path != library || len(pkg.GoFiles) == 0 {
			continue
		}
		sources := map[string]string{}
		for _, name := range pkg.GoFiles {
			text, err := os.ReadFile(filepath.Join(pkg.Dir, name))
			if err != nil {
				tb.Fatal(err)
			}
			sources[filepath.Join(pkg.Dir, name)] = string(text)
		}
		pass := l.pass(tb, pkg.ImportPath, sources)
		l.checked[pkg.ImportPath] = pass.Pkg
		passes = append(passes, pass)
	}
}
