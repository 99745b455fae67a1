package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// TestReadmeShowsThisProgram keeps the README's program the one that is compiled
// and run here.
func TestReadmeShowsThisProgram(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```go\n")
	shown, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatal("README.md has no Go program")
	}
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if shown != string(program) {
		t.Error("the program in README.md is not examples/hello/main.go; copy the file there")
	}
}

// TestHello runs the program twice. The second run finds its instance finished:
// it prints the same, and nothing happens a second time.
func TestHello(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "hello.exe")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var before []provider.Event
	for range 2 {
		command := exec.CommandContext(t.Context(), program)
		command.Dir = dir
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if got, want := string(out), "[Hello, Oslo! Hello, Lima! Hello, Hanoi!]\n"; got != want {
			t.Errorf("it printed %q, want %q", got, want)
		}
		history := historyOf(t, filepath.Join(dir, "hello.db"), "hello-1")
		if before != nil && len(history) != len(before) {
			t.Errorf("the second run made %d events of %d", len(history), len(before))
		}
		before = history
	}
}

// TestReadmeInstalls types the commands by which the README installs the library, in a
// folder that holds the program and nothing else. The clone beside it is this repository.
// No database of checksums is asked, so that the test needs no network.
func TestReadmeInstalls(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(readme), "\n## Install\n")
	section, _, ends := strings.Cut(section, "\n## ")
	program, err := os.ReadFile("main.go")
	if err != nil || !found || !ends {
		t.Fatalf("no section Install in README.md, or no program: %v", err)
	}
	library, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), program, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(arguments ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), "go", arguments...)
		command.Dir = dir
		command.Env = append(os.Environ(), "GOSUMDB=off", "GOWORK=off")
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, out)
		}
		return string(out)
	}

	var last string
	for line := range strings.Lines(section) {
		typed, isCommand := strings.CutPrefix(line, "    go ")
		typed, _, _ = strings.Cut(typed, "#")
		if !isCommand || strings.HasPrefix(typed, "install ") { // TestReadmeInstallsFromAClone
			continue
		}
		arguments := strings.Fields(typed)
		for i := range arguments {
			arguments[i] = strings.Replace(arguments[i], "../duroxide-go", library, 1)
		}
		last = run(arguments...)
	}
	if want := "[Hello, Oslo! Hello, Lima! Hello, Hanoi!]\n"; last != want {
		t.Errorf("at the end it printed %q, want %q", last, want)
	}
}

// TestReadmeInstallsFromAClone plans what the README installs from a clone, without compiling it.
func TestReadmeInstallsFromAClone(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile("\n {4}go (install .*)").FindAllStringSubmatch(string(readme), -1)
	if len(lines) != 3 {
		t.Errorf("README.md installs %d commands from a clone, want 3", len(lines))
	}
	for _, line := range lines {
		arguments := strings.Fields(line[1])
		last := len(arguments) - 1
		command := exec.CommandContext(t.Context(), "go", append(arguments[:last:last], "-n", arguments[last])...)
		command.Dir = "../.."
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("go %s: %v\n%s", line[1], err, out)
		}
	}
}

func historyOf(t *testing.T, path, instance string) []provider.Event {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	history, err := store.Read(t.Context(), instance)
	if err != nil {
		t.Fatal(err)
	}
	return history
}
