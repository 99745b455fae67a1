// Package program lets the test binary of a command be the command, for tests that need it as a process.
package program

import (
	"os"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/leaktest"
)

// variable makes the test binary the program. Whatever process a test starts inherits it.
const variable = "DUROXIDE_TEST_PROGRAM"

// Main runs a package's tests as [leaktest.Main] does, or main, which ends the process, in a process that a test has
// started. It is the body of a TestMain.
func Main(m *testing.M, main func()) {
	if os.Getenv(variable) != "" {
		main()
	}
	if err := os.Setenv(variable, "1"); err != nil {
		panic(err)
	}
	leaktest.Main(m)
}

// Path is the path of the program.
func Path(tb testing.TB) string {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return self
}
