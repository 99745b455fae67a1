package archtest

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A goModule is a folder with a go.mod, and so a list of requirements of its own.
type goModule struct {
	why string
	// replaced says that its go.mod may take the library from the tree. `go install` refuses such a module, so that
	// nothing in it may be meant for users.
	replaced bool
}

// modules are all of them, by their folders below the root.
var modules = map[string]goModule{
	".": {why: "the library, its commands and the generator: whatever users import and install"},
	"duroxidevet": {why: "an analyser for users' code, with what golangci-lint and the drivers of go/analysis ask for: " +
		"it links nothing of the library, and nobody who imports the library lists it"},
	"otel":                   {why: "traces and metrics, with OpenTelemetry's libraries: whoever does not ask for them neither links nor lists them"},
	"examples/telemetry":     {why: "an example with OpenTelemetry's exporters, gRPC's and Prometheus's libraries", replaced: true},
	"provider/mssql/azuread": {why: "logins by Entra ID, with Azure's libraries: whoever does not ask for them neither links nor lists them"},
	"cmd/duroxide-azuread":   {why: "the command line with logins by Entra ID: it stands beside the command without"},
	"tools/pinned":           {why: "sqlc and golangci-lint with hundreds of modules, at one version for every developer"},
	"tools/acceptance":       {why: "tests with libraries that must reach nobody who imports ours: testscript, teesql and Porcupine", replaced: true},
	"tools/sqlserver":        {why: "SQL Server in a container for tests, with Docker's forty modules"},
}

// TestModules finds every go.mod and compares it with the table.
func TestModules(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.Name() == "go.mod":
			found[strings.TrimSuffix(strings.TrimSuffix(path, "go.mod"), "/")] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found[""] {
		delete(found, "")
		found["."] = true
	}
	for _, folder := range slices.Sorted(maps.Keys(found)) {
		known, ok := modules[folder]
		if !ok || known.why == "" {
			t.Errorf("%s/go.mod is not in the table of modules; say there why it is one", folder)
		}
		checkModule(t, folder, known)
	}
	for folder := range modules {
		if !found[folder] {
			t.Errorf("the table of modules has %s, where there is no go.mod", folder)
		}
	}
}

// checkModule holds a module to its folder, to the version of Go, and to what go install takes. What several modules
// require directly has one version in all of them: the tests of one are worth nothing for another version.
func checkModule(t *testing.T, folder string, m goModule) {
	t.Helper()
	main, mod := readModule(t, root+"/go.mod"), readModule(t, filepath.Join(root, folder, "go.mod"))
	if want := strings.TrimSuffix(module+"/"+folder, "/."); mod.Module.Path != want {
		t.Errorf("%s/go.mod is called %s; its folder asks for %s", folder, mod.Module.Path, want)
	}
	if mod.Go != main.Go {
		t.Errorf("%s/go.mod is for Go %s, and the library for %s", folder, mod.Go, main.Go)
	}
	if len(mod.Replace) > 0 && !m.replaced {
		t.Errorf("%s/go.mod has a replace, with which go install refuses it", folder)
	}
	versions := main.versions()
	for _, r := range mod.Require {
		if want, ok := versions[r.Path]; ok && !r.Indirect && r.Version != want {
			t.Errorf("%s/go.mod requires %s %s, and the library %s", folder, r.Path, r.Version, want)
		}
	}
}

// TestPinnedToolsStayApart: a user of the library must never download sqlc or a linter, and the file that pins them
// holds nothing else, so that an upgrade of a linter is a change of one file that touches no code.
func TestPinnedToolsStayApart(t *testing.T) {
	t.Parallel()
	const pins = "tools/pinned"
	main, pinned := readModule(t, root+"/go.mod").versions(), readModule(t, filepath.Join(root, pins, "go.mod"))
	for _, path := range []string{"github.com/sqlc-dev/sqlc", "github.com/golangci/golangci-lint/v2"} {
		if _, ok := main[path]; ok {
			t.Errorf("go.mod requires %s; tools are pinned in %s, so that users never download them", path, pins)
		}
		if _, ok := pinned.versions()[path]; !ok {
			t.Errorf("%s/go.mod does not pin %s", pins, path)
		}
	}
	sources, err := filepath.Glob(filepath.Join(root, pins, "*.go"))
	if err != nil || len(sources) > 0 {
		t.Errorf("%v in %s, which has no packages: %v", sources, pins, err)
	}
}

// mostModules is how many modules a program that runs orchestrations on SQLite may find in its `go list -m all`, itself
// included. docs/decisions/2026-11-29-modules.md says what they are.
const mostModules = 40

// TestImportersListFewModules makes a program that imports the runtime and the SQLite store, and counts its modules.
// What is in our go.mod reaches that list although the program links none of it.
func TestImportersListFewModules(t *testing.T) {
	t.Parallel()
	library, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, content []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := os.ReadFile(filepath.Join(library, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write("go.sum", sums)
	var mod strings.Builder
	mod.WriteString("module example.com/importer\n\ngo " + readModule(t, root+"/go.mod").Go + "\n\n" +
		"require " + module + " v0.0.0\nreplace " + module + " => " + library + "\n")
	// What go mod tidy would add: the modules of all packages that are linked.
	linked := goCommand(t, root, "list", "-deps", "-f", "{{with .Module}}{{if .Version}}require {{.Path}} {{.Version}}{{end}}{{end}}",
		"./orchestration", "./provider/sqlite")
	lines := strings.Split(strings.TrimSpace(string(linked)), "\n")
	slices.Sort(lines)
	mod.WriteString(strings.Join(slices.Compact(lines), "\n") + "\n")
	write("go.mod", []byte(mod.String()))

	list := strings.Fields(string(goCommand(t, dir, "list", "-mod=mod", "-m", "-f", "{{.Path}}", "all")))
	if len(list) > mostModules {
		t.Errorf("an importer lists %d modules, and %d are the most:\n%s", len(list), mostModules, strings.Join(list, "\n"))
	}
	for _, path := range list {
		for _, unwanted := range []string{"docker", "azure", "grpc", "protobuf", "sqlc"} {
			if strings.Contains(strings.ToLower(path), unwanted) {
				t.Errorf("an importer lists %s", path)
			}
		}
	}
}

// TestTheDemoCompilesFewModules keeps a newcomer's first command short: the demo links what the SQLite store is made
// of, and a few lines that know a terminal.
func TestTheDemoCompilesFewModules(t *testing.T) {
	t.Parallel()
	allowed := append(linkedModules(t, "./provider/sqlite"), "github.com/mattn/go-isatty")
	for _, path := range linkedModules(t, "./cmd/duroxide/demo") {
		if !slices.Contains(allowed, path) {
			t.Errorf("the demo links %s, and the SQLite store does not", path)
		}
	}
}

// TestTheCommandCompilesNothingOfAzure keeps the command small: Azure's libraries would take as long to compile as
// everything else together.
func TestTheCommandCompilesNothingOfAzure(t *testing.T) {
	t.Parallel()
	const most = 20
	modules := linkedModules(t, "./cmd/duroxide")
	if len(modules) > most {
		t.Errorf("duroxide links %d modules, and %d are the most:\n%s", len(modules), most, strings.Join(modules, "\n"))
	}
	for _, path := range modules {
		if strings.Contains(strings.ToLower(path), "azure") {
			t.Errorf("duroxide links %s", path)
		}
	}
}

// linkedModules lists the modules whose packages a package links.
func linkedModules(t *testing.T, pkg string) []string {
	t.Helper()
	linked := strings.Fields(string(goCommand(t, root, "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", pkg)))
	slices.Sort(linked)
	return slices.Compact(linked)
}

// TestLibcIsTheOneSQLiteAsksFor keeps two versions together that belong together. modernc.org/sqlite is C translated to
// Go on top of modernc.org/libc; its authors test, and support, only the pair that stands in its own go.mod, but an
// upgrade of other modules can raise libc alone.
func TestLibcIsTheOneSQLiteAsksFor(t *testing.T) {
	t.Parallel()
	const libc = "modernc.org/libc"
	sqliteMod := goCommand(t, root, "list", "-m", "-f", "{{.GoMod}}", "modernc.org/sqlite")
	want := readModule(t, strings.TrimSpace(string(sqliteMod))).versions()[libc]
	if got := readModule(t, root+"/go.mod").versions()[libc]; got != want {
		t.Errorf("go.mod has %s %s, and modernc.org/sqlite was tested with %s; repair with: go get %s@%s",
			libc, got, want, libc, want)
	}
}

// modFile is what a go.mod says, as `go mod edit -json` prints it.
type modFile struct {
	Module  struct{ Path string }
	Go      string
	Require []struct {
		Path, Version string
		Indirect      bool
	}
	Replace []struct{ Old struct{ Path string } }
}

// versions returns the modules that the file requires, directly or not.
func (m modFile) versions() map[string]string {
	versions := map[string]string{}
	for _, require := range m.Require {
		versions[require.Path] = require.Version
	}
	return versions
}

func readModule(t *testing.T, file string) (mod modFile) {
	t.Helper()
	if err := json.Unmarshal(goCommand(t, "", "mod", "edit", "-json", file), &mod); err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
	return mod
}

// goCommand returns what the go command prints, run in a folder.
func goCommand(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return output
}
