package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/program"
)

func TestMain(m *testing.M) { program.Main(m, main) }

// full is a standard output on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestWhatCannotRun shows what the program says of a command line that it does not understand, of an output that it
// cannot write, and where it cannot start itself.
func TestWhatCannotRun(t *testing.T) {
	t.Parallel()
	const usage = "\nRun 'demo -h' for how to use it.\n"
	file := filepath.Join(t.TempDir(), "demo.db")
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"surplus"}, exitUsage, "demo: wrong number of arguments (1): write 'demo'" + usage},
		{[]string{"-frobnicate"}, exitUsage, "demo: flag provided but not defined: -frobnicate" + usage},
		{[]string{workerArgument, "-db", ":memory:"}, exitUsage, "demo: open: the path must name a file; for a database in memory call OpenMemory" + usage},
		{[]string{workerArgument, "-slots", "many"}, exitUsage, `demo: invalid value "many" for flag -slots: parse error` + usage},
		{[]string{"-h"}, exitFailure, "demo: the demo has run, but its output could not be written: no space left on device\n"},
		{[]string{"-db", file}, exitFailure, "demo: finding this program, to run it as the worker: there is no program\n"},
	} {
		var stderr bytes.Buffer
		code := run(t.Context(), environment{
			args: test.args, stdin: strings.NewReader(""), stdout: full{}, stderr: &stderr, getenv: func(string) string { return "" },
			executable: func() (string, error) { return "", errors.New("there is no program") },
		})
		if code != test.code || stderr.String() != test.want {
			t.Errorf("%q: exit code %d, %q; want %d, %q", test.args, code, stderr.String(), test.code, test.want)
		}
	}
}

// TestCommandsNameDuroxide has the demo without duroxide, beside it, and built by go run.
func TestCommandsNameDuroxide(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "my programs")
	self := filepath.Join(folder, "demo")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	expect := func(program, want string) {
		t.Helper()
		if got := duroxide(program); got != want {
			t.Errorf("%s says %s, want %s", program, got, want)
		}
	}
	t.Setenv("PATH", "")
	expect(self, "duroxide")
	beside := filepath.Join(folder, "duroxide")
	if runtime.GOOS == "windows" {
		beside += ".exe"
	}
	if err := os.WriteFile(beside, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	expect(self, `"`+beside+`"`)
	t.Setenv("PATH", folder)
	expect(self, "duroxide")
	expect("/tmp/go-build1/b001/exe/demo", "go run ./cmd/duroxide")
}
