package mssql

import (
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// TestAmendmentIsFound runs one scenario of the kit as tools/mutate does, on a procedure that compares the end of a
// lease the wrong way: the scenario fails.
func TestAmendmentIsFound(t *testing.T) {
	t.Parallel()
	if !mssqltest.Server(t).InProcess {
		t.Skip("SKIPPED: a second process would need a server of its own")
	}
	text, err := os.ReadFile("../../sql/procedures/renew_work_item_lock.sql")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "amend.sql")
	amended := strings.Replace(string(text), "AND locked_until > @now", "AND locked_until < @now", 1)
	if err := os.WriteFile(file, []byte(amended), 0o600); err != nil {
		t.Fatal(err)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := osexec.CommandContext(t.Context(), binary, "-test.run", "^TestConformance$/^lock_expiration$/^worker_lock_renewal_success$", "-test.v")
	cmd.Env = append(os.Environ(), mssqltest.AmendVariable+"="+file)
	said, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*osexec.ExitError](err); !ok || exit.ExitCode() != 1 || !strings.Contains(string(said), "violates") {
		t.Errorf("%v: %s", err, said)
	}
}
