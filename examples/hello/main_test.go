package main

import (
	"os"
	"os/exec"
	"path/filepath"
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

func historyOf(t *testing.T, path, instance string) []provider.Event {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path, nil)
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
