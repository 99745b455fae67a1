// Package program builds the commands of the main module for tests that run them.
package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// root is the root of the repository, as seen from the folder of a test in this module.
const root = "../../.."

// Run builds commands of the main module, given as ./cmd/duroxide, into a folder at the beginning of the PATH, runs the
// tests, and returns the exit code. Under the race detector the commands have it, too. It is what a TestMain calls.
func Run(m *testing.M, commands ...string) int {
	bin, err := os.MkdirTemp("", "duroxide-acceptance-")
	if err == nil {
		defer os.RemoveAll(bin) //nolint:errcheck // nobody is left to tell
		err = build(bin, commands)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func build(bin string, commands []string) error {
	absolute, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	args := append([]string{"build", "-o", absolute + string(filepath.Separator)}, raceFlag...)
	cmd := exec.Command("go", append(args, commands...)...) //nolint:noctx // a TestMain has no context
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %q: %w\n%s", commands, err, output)
	}
	return os.Setenv("PATH", absolute+string(os.PathListSeparator)+os.Getenv("PATH"))
}
