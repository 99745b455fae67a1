package main

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/generate"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/render/rendertest"
)

// A golden case is a txtar file below testdata/golden. It begins with a sentence on what it is about; then come
//
//	name.sql      the scripts, in their order
//	options.yaml  keys of the configuration, if it takes any; the package is called db
//	server        for TestGoldenLive, if a server can't run the case: "skip-tsqltest: reason", and "skip-any: reason" if
//	              none can
//
// and what they come to, written by go test -run TestGolden -update:
//
//	want/name.go  the Go files that come from the scripts: one for each of these, types.go, and the sentinels of errors.go;
//	              all files, what is the same in every package too, only in a case that has want/db.go
//	diagnostics   the findings, if there are any
//
// Read what -update has written before you commit it: it is the specification.
const goldenFolder = "testdata/golden"

// everyServer stands for all of them in the section server.
const everyServer = "any"

var update = flag.Bool("update", false, "rewrite what golden cases expect")

// A golden is one case.
type golden struct {
	path    string
	archive *txtar.Archive
	sources []generate.Source
	config  config.Config
	skips   map[string]string // reasons by server
}

// goldenPaths lists the cases by their path below the folder, without the extension.
func goldenPaths(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := fs.WalkDir(os.DirFS(goldenFolder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, found := strings.CutSuffix(path, ".txtar")
			if !found {
				return fmt.Errorf("%s is not a golden case", path)
			}
			paths = append(paths, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// readGolden reads a case.
func readGolden(t *testing.T, name string) *golden {
	t.Helper()
	g := &golden{path: filepath.Join(goldenFolder, filepath.FromSlash(name)+".txtar"), skips: map[string]string{}}
	archive, err := txtar.ParseFile(g.path)
	if err != nil {
		t.Fatal(err)
	}
	g.archive = archive
	options := ""
	for _, f := range archive.Files {
		switch {
		case strings.HasSuffix(f.Name, ".sql"):
			g.sources = append(g.sources, generate.Source{Name: f.Name, Text: string(f.Data), Role: generate.Any})
		case f.Name == "options.yaml":
			options = string(f.Data)
		case f.Name == "server":
			g.readSkips(t, string(f.Data))
		case f.Name != "diagnostics" && !strings.HasPrefix(f.Name, "want/"):
			t.Fatalf("%s: unknown section %s", g.path, f.Name)
		}
	}
	if len(bytes.TrimSpace(archive.Comment)) == 0 || len(g.sources) == 0 {
		t.Fatalf("%s: a case begins with a sentence on what it is about, and has scripts", g.path)
	}
	g.config = goldenConfig(t, g.path, options)
	return g
}

// packageKey finds out whether a case names its package.
var packageKey = regexp.MustCompile(`(?m)^package:`)

// goldenConfig reads the options of a case, with what every case has in common.
func goldenConfig(t *testing.T, path, options string) config.Config {
	t.Helper()
	if !packageKey.MatchString(options) {
		options += "\npackage: db\n"
	}
	c, findings := config.Read(diag.NewFile("options.yaml", options+"\nschema: '*.sql'\n"))
	if len(findings) > 0 {
		t.Fatalf("%s: %s", path, findings.Format())
	}
	return c
}

// readSkips reads the lines of the section server.
func (g *golden) readSkips(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		server, reason, _ := strings.Cut(strings.TrimSpace(line), ": ")
		name, ok := strings.CutPrefix(server, "skip-")
		if !ok || reason == "" {
			t.Fatalf("%s: section server: %q is not skip-server: reason", g.path, line)
		}
		g.skips[name] = reason
	}
}

// positive reports whether the case expects code rather than findings.
func (g *golden) positive() bool {
	for _, f := range g.archive.Files {
		if f.Name == "diagnostics" {
			return false
		}
	}
	return true
}

// got returns the sections that a result comes to.
func (g *golden) got(result generate.Result, findings diag.List) []txtar.File {
	if len(findings) > 0 {
		return []txtar.File{{Name: "diagnostics", Data: []byte(findings.Format())}}
	}
	var files []txtar.File
	for _, name := range generate.SortedNames(result.Files) {
		text := result.Files[name]
		switch {
		case g.has("want/db.go"), strings.HasSuffix(name, ".sql.go"), name == "types.go":
		case name == "errors.go" && len(result.Program.Errors) > 0:
			text = sentinels.Find(text)
		default:
			continue
		}
		files = append(files, txtar.File{Name: "want/" + name, Data: text})
	}
	return files
}

// sentinels finds the part of errors.go that comes from the scripts.
var sentinels = regexp.MustCompile(`(?s)// sentinels are .*?\n\n(?:// [^\n]*\nvar Err[^\n]*packageName \+ ": [^\n]*\n\n)*`)

func (g *golden) has(name string) bool {
	for _, f := range g.archive.Files {
		if f.Name == name {
			return true
		}
	}
	return false
}

// wanted returns the sections of a case that say what is expected.
func (g *golden) wanted() []txtar.File {
	var files []txtar.File
	for _, f := range g.archive.Files {
		if f.Name == "diagnostics" || strings.HasPrefix(f.Name, "want/") {
			files = append(files, f)
		}
	}
	return files
}

// rewrite stores what a case has come to.
func (g *golden) rewrite(t *testing.T, got []txtar.File) {
	t.Helper()
	var files []txtar.File
	for _, f := range g.archive.Files {
		if f.Name != "diagnostics" && !strings.HasPrefix(f.Name, "want/") {
			files = append(files, f)
		}
	}
	text := txtar.Format(&txtar.Archive{Comment: g.archive.Comment, Files: append(files, got...)})
	if err := os.WriteFile(g.path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, name := range goldenPaths(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := readGolden(t, name)
			result, findings := generate.Run(g.sources, g.config)
			got := g.got(result, findings)
			if *update {
				g.rewrite(t, got)
			} else if d := cmp.Diff(sections(g.wanted()), sections(got)); d != "" {
				t.Errorf("%s is not what comes out (-expected +actual); if it should be, run go test -run TestGolden -update\n%s",
					g.path, d)
			}
			if len(findings) == 0 {
				if err := rendertest.Check(result.Files); err != nil {
					t.Errorf("the generated code doesn't compile: %v", err)
				}
			}
			sameWithOtherLineEnds(t, g, got)
		})
	}
}

// sections returns the texts by name, so that a difference is shown line by line.
func sections(files []txtar.File) map[string][]string {
	texts := map[string][]string{}
	for _, f := range files {
		texts[f.Name] = strings.Split(string(f.Data), "\n")
	}
	return texts
}

// sameWithOtherLineEnds generates from the same scripts as a checkout on Windows may have them.
func sameWithOtherLineEnds(t *testing.T, g *golden, want []txtar.File) {
	t.Helper()
	windows := make([]generate.Source, len(g.sources))
	for i, s := range g.sources {
		s.Text = strings.ReplaceAll(s.Text, "\n", "\r\n")
		windows[i] = s
	}
	result, findings := generate.Run(windows, g.config)
	if d := cmp.Diff(sections(want), sections(g.got(result, findings))); d != "" {
		t.Errorf("with CRLF line ends something else comes out:\n%s", d)
	}
}
