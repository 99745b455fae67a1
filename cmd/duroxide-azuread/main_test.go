package main

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// programVariable makes this test binary the program.
const programVariable = "DUROXIDE_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		main() // ends the process
	}
	os.Exit(m.Run())
}

// TestLoginsByEntraIDAreKnown runs the program with URLs that the plain build refuses.
func TestLoginsByEntraIDAreKnown(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "sqlserver://:s3cret@" + l.Addr().String() + "?database=d&fedauth="
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for workflow, want := range map[string]struct {
		code int
		text string
	}{
		"ActiveDirectoryManagedIdentity": {1, "cannot connect to the server"},
		"NoSuchWorkflow":                 {2, "the connection string cannot be used"},
	} {
		for _, command := range []string{"list", "doctor"} {
			cmd := exec.CommandContext(t.Context(), self, command, "--store", url+workflow)
			cmd.Env = append(os.Environ(), programVariable+"=1")
			output, _ := cmd.CombinedOutput() // the exit code is looked at
			if code := cmd.ProcessState.ExitCode(); code != want.code ||
				!strings.Contains(string(output), want.text) || strings.Contains(string(output), "s3cret") {
				t.Errorf("%s, %s: exit code %d, %q; want %d, %q", command, workflow, code, output, want.code, want.text)
			}
		}
	}
}
