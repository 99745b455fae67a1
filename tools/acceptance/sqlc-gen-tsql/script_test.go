package sqlcgentsql

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/duroxide/duroxide-go/tools/acceptance/program"
)

func TestMain(m *testing.M) { os.Exit(program.Run(m, "./tsql/sqlc-gen-tsql")) }

// TestCommand runs the command as people do. The scripts have testscript's own commands.
func TestCommand(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", ContinueOnError: true})
}
