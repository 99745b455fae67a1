package session

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/sysview"
)

// A procedure that this server has is in no list of those that it has not.
func TestProceduresElsewhere(t *testing.T) {
	t.Parallel()
	for name := range systemProcedures {
		if sysview.ProcedureElsewhere(name) {
			t.Errorf("%s is here and elsewhere", name)
		}
	}
}
