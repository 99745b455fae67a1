package duroxidevet_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReplayCheckFindsTheOthers makes the mistakes of which the analyser tells nothing, and runs the replay check of
// package orchestrationtest on each: every run is replayed at every prefix, and the histories of before the mistake are
// replayed against the code with it. Both together must find 95 % of all mistakes. With DUROXIDEVET_REPLAY_ALL set the
// replay check tries the other mistakes too, and the log says what it would find without the analyser.
func TestReplayCheckFindsTheOthers(t *testing.T) {
	t.Parallel()
	all := os.Getenv("DUROXIDEVET_REPLAY_ALL") != ""
	dir := app(t)
	packages := map[string]string{} // the mutation of each
	check := mutation{name: "none", file: orders, old: large, new: large}
	for folder, m := range map[string]mutation{"order": check, "hello": {name: "none", file: hello, old: greets, new: greets}} {
		writeMutant(t, dir, folder, m)
	}
	for i, m := range mutations {
		if m.kind == "" || all {
			name := fmt.Sprintf("m%02d", i)
			packages[name] = m.name
			writeMutant(t, dir, name, m)
		}
	}
	histories := t.TempDir()
	writeRunner(t, dir, histories, packages)
	runner := filepath.Join(histories, "runner.exe")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", runner, "./runner")
	build.Dir = dir
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if output, err := exec.CommandContext(t.Context(), runner, "-test.run=^TestSound$").CombinedOutput(); err != nil {
		t.Fatalf("the examples without a mistake do not pass the replay check: %v: %s", err, output)
	}
	found := 0
	for i, m := range mutations {
		if m.kind != "" {
			found++
		}
		name := fmt.Sprintf("m%02d", i)
		if packages[name] == "" {
			continue
		}
		// A process for each, since a goroutine that a mistake leaves behind may end it.
		output, _ := exec.CommandContext(t.Context(), runner, "-test.timeout=1m", "-test.run=^TestMutants$/^"+name+"$").CombinedOutput()
		tells := replayFinding.Match(output)
		t.Logf("the replay check finds %q: %t", m.name, tells)
		if m.kind == "" && tells {
			found++
		}
	}
	t.Logf("analyser and replay check find %d of %d mistakes", found, len(mutations))
	if found*100 < len(mutations)*95 {
		t.Errorf("analyser and replay check find %d of %d mistakes, want 95 %%", found, len(mutations))
	}
}

// replayFinding is what the replay check says of code that does not repeat itself, does not fit a history, or waits
// outside its context.
var replayFinding = regexp.MustCompile(`does not repeat itself|the code now asks for|but history goes on with|is not registered \(versions that are|blocked for`)

// writeMutant writes an example with a mistake as a package, and beside it what checks it.
func writeMutant(t *testing.T, dir, name string, m mutation) {
	t.Helper()
	folder := filepath.Dir(m.file)
	sources := example(t, folder)
	sources[filepath.Base(m.file)] = m.apply(t, sources[filepath.Base(m.file)])
	for file, source := range sources {
		source = withImports(t, source)
		sources[file] = regexp.MustCompile(`(?m)^package main\b`).ReplaceAllLiteralString(source, "package "+name)
	}
	check, err := os.ReadFile(filepath.Join("testdata/replaycheck", folder+".go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	sources["check.go"] = strings.Replace(string(check), "PACKAGE", name, 1)
	for file, source := range sources {
		write(t, filepath.Join(dir, name, file), source)
	}
}

// writeRunner writes the test that runs all checks in one process.
func writeRunner(t *testing.T, dir, histories string, packages map[string]string) {
	t.Helper()
	var imports, calls strings.Builder
	for name := range packages {
		fmt.Fprintf(&imports, "\t\"example.com/app/%s\"\n", name)
		fmt.Fprintf(&calls, "\tt.Run(%q, func(t *testing.T) { %s.Check(t, %q, false) })\n", name, name, histories)
	}
	write(t, filepath.Join(dir, "runner/runner_test.go"), fmt.Sprintf(`package runner

import (
	"testing"

	"example.com/app/hello"
	"example.com/app/order"
%s)

func TestSound(t *testing.T) {
	for _, save := range []bool{true, false} {
		order.Check(t, %[2]q, save)
		hello.Check(t, %[2]q, save)
	}
}

func TestMutants(t *testing.T) {
%[3]s}
`, imports.String(), histories, calls.String()))
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
