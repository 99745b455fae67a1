package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// app is a program with a finding, and as much of the library as the analyser asks for.
var app = map[string]string{
	"go.mod":                         "module github.com/duroxide/duroxide-go\n\ngo 1.26.0\n",
	"orchestration/orchestration.go": "package orchestration\n\nimport \"time\"\n\ntype Context struct{}\n\nfunc (c *Context) Sleep(d time.Duration) {}\n",
	"app/app.go": "package app\n\nimport (\n\t\"time\"\n\n\t\"github.com/duroxide/duroxide-go/orchestration\"\n)\n\n" +
		"func Order(ctx *orchestration.Context, d time.Duration) {\n\ttime.Sleep(d)\n}\n",
}

// TestCommand runs the command by itself and under go vet, and lets it repair what it finds.
func TestCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range app {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	command := filepath.Join(t.TempDir(), "duroxidevet.exe")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", command, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	run := func(name string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		output, err := cmd.CombinedOutput()
		return string(output), err
	}
	const want = "app.go:10:2: time.Sleep waits without a record; use ctx.Sleep(d)"
	for _, args := range [][]string{{command, "./..."}, {"go", "vet", "-vettool=" + command, "./..."}} {
		if output, err := run(args[0], args[1:]...); err == nil || !strings.Contains(output, want) {
			t.Errorf("%q said %s, %v; want %s", args, output, err, want)
		}
	}
	if output, err := run(command, "-fix", "./..."); err != nil {
		t.Errorf("-fix: %v: %s", err, output)
	}
	text, err := os.ReadFile(filepath.Join(dir, "app/app.go"))
	if err != nil || !strings.Contains(string(text), "ctx.Sleep(d)") {
		t.Errorf("-fix made %s, %v", text, err)
	}
	if output, err := run(command, "./..."); err != nil {
		t.Errorf("after -fix: %v: %s", err, output)
	}
	if output, err := run(command, "help", "duroxidevet"); err != nil || !strings.Contains(output, "//duroxide:deterministic") {
		t.Errorf("help said %s, %v", output, err)
	}
}
