package builtin

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// The parser takes a name with @@ for a variable of the server if it is one of this table, else for one of the
// script's.
func TestSystemVariablesAreReadAsSuch(t *testing.T) {
	t.Parallel()
	for name := range systemVariables {
		script, found := syntax.Parse(diag.NewFile("t.sql", "SELECT "+name+" AS x;"))
		if len(found) > 0 {
			t.Fatal(found.Format())
		}
		for range syntax.All[*syntax.Variable](script.Batches[0].Stmts[0]) {
			t.Errorf("%s is read as a variable of the script", name)
		}
	}
}
