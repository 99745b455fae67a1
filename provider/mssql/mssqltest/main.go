package mssqltest

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/leaktest"
)

// The environment variables that the package reads.
const (
	// URLVariable holds the URL of the server to use.
	URLVariable = "DUROXIDE_TEST_MSSQL"
	// RequiredVariable, set to 1, makes it a failure that URLVariable names no server.
	RequiredVariable = "DUROXIDE_TEST_MSSQL_REQUIRED"
)

// exitInterrupted is what a shell expects of a program that Ctrl-C has ended: 128 and the signal's number.
const exitInterrupted = 130

// process is what the tests of this process share. Its zero value has looked for nothing yet.
var process = &host{getenv: os.Getenv}

// Run runs a package's tests and ends the process. It first says on stderr which server they use. Afterwards, and
// when the process is interrupted, it drops the schemas; a goroutine that is left over then fails the run (leaktest).
func Run(m *testing.M) {
	os.Exit(run(m, process, os.Stderr))
}

func run(m *testing.M, h *host, stderr io.Writer) int {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		select {
		case <-interrupted:
			h.close(stderr)
			os.Exit(exitInterrupted)
		case <-ended:
		}
	}()

	h.begin()
	fmt.Fprintln(stderr, h.describe())
	code := m.Run()
	h.close(stderr)
	signal.Stop(interrupted)
	close(ended)
	<-watching
	if code == 0 {
		if err := leaktest.Find(); err != nil {
			fmt.Fprintln(stderr, "goroutines are left over:", err)
			return 1
		}
	}
	return code
}
