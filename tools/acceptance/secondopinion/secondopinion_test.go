package secondopinion

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sqlc-dev/teesql/ast"
	teesql "github.com/sqlc-dev/teesql/parser"
)

// statements holds the texts that the tests of our parser can read, and the kinds of the statements that it finds in
// each batch; a test there keeps it up to date.
const statements = "../../../tsql/internal/syntax/testdata/statements.json"

// kinds maps the statements of teesql to ours where the names differ in more than the ending. What is missing is looked
// up without "Statement".
var kinds = map[string]string{
	"AlterAuthorization": "Other", "AlterDatabaseAddFile": "Other", "AlterDatabaseCollate": "Other",
	"AlterDatabaseModifyName": "Other", "AlterSchema": "Other", "AlterServerRole": "Other", "CreateDatabase": "Other",
	"AlterDatabaseSet": "Other", "AlterIndex": "Other", "AlterRole": "CreatePrincipal", "AlterSequence": "Other",
	"AlterTableAddTableElement": "AlterTable", "AlterTableAlterColumn": "AlterTable",
	"AlterTableConstraintModification": "AlterTable", "AlterTableDropTableElement": "AlterTable",
	"AlterTableRebuild": "AlterTable", "AlterTableSet": "AlterTable", "AlterTableSwitch": "AlterTable",
	"AlterTableTriggerModification": "AlterTable", "BackupDatabase": "Other", "BeginEndAtomicBlock": "Block",
	"BeginEndBlock": "Block", "BeginTransaction": "Transaction", "BulkInsert": "Other", "Checkpoint": "Other",
	"CloseCursor": "CursorStmt", "CommitTransaction": "Transaction", "CreateColumnStoreIndex": "CreateIndex",
	"CreateOrAlterProcedure": "CreateProcedure", "CreatePartitionFunction": "Other", "CreateRole": "CreatePrincipal",
	"CreateStatistics": "Other", "CreateTypeTable": "CreateType", "CreateTypeUddt": "CreateType",
	"CreateUser": "CreatePrincipal", "Dbcc": "Other", "DeallocateCursor": "CursorStmt", "DeclareCursor": "CursorStmt",
	"DeclareTableVariable": "Declare", "DeclareVariable": "Declare", "Deny": "Permission", "DropFulltextIndex": "Other",
	"DropIndex": "Drop", "DropProcedure": "Drop", "DropSchema": "Drop", "DropSequence": "Drop", "DropTable": "Drop",
	"DropTrigger": "Drop", "DropType": "Drop", "DropUser": "Drop", "EnableDisableTrigger": "Other", "Execute": "Exec",
	"ExecuteAs": "Other", "FetchCursor": "CursorStmt", "GoTo": "Goto", "Grant": "Permission", "Kill": "Other",
	"OpenCursor": "CursorStmt", "PredicateSet": "SetOption", "RaiseError": "Raiserror", "Reconfigure": "Other",
	"Revert": "Other", "Revoke": "Permission", "RollbackTransaction": "Transaction", "SaveTransaction": "Transaction",
	"Select": "SelectStmt", "SetCommand": "SetOption", "SetIdentityInsert": "SetOption", "SetRowCount": "SetOption",
	"SetStatistics": "SetOption", "SetTextSize": "SetOption", "SetTransactionIsolationLevel": "SetOption",
	"TruncateTable": "Truncate", "UpdateStatistics": "Other", "WaitFor": "Waitfor",
}

// TestSecondOpinion compares the number and the kinds of the statements in each batch with what another parser finds,
// wherever it can read the text.
func TestSecondOpinion(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(statements)
	if err != nil {
		t.Fatal(err)
	}
	var texts []struct {
		Text    string   `json:"text"`
		Batches []string `json:"batches"`
	}
	if err := json.Unmarshal(content, &texts); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, ours := range texts {
		if strings.Contains(ours.Text, "CURSOR SCROLL FOR") {
			continue // teesql takes the SELECT of a cursor variable for a statement of its own
		}
		other, err := teesql.Parse(t.Context(), strings.NewReader(ours.Text))
		if err != nil {
			refused++
			continue
		}
		theirs := []string{}
		for _, b := range other.Batches {
			if names := typeNames(b.Statements); names != "" {
				theirs = append(theirs, names)
			}
		}
		if !slices.Equal(ours.Batches, theirs) {
			t.Errorf("%s\nbatches %q\nteesql  %q", ours.Text, ours.Batches, theirs)
		}
	}
	// It can't read them all: it doesn't know READONLY of functions, EXEC of a variable with arguments, and others.
	if most := len(texts) / 10; refused > most {
		t.Errorf("teesql refused %d of %d texts, more than %d: the comparison means little", refused, len(texts), most)
	}
}

// typeNames returns the kinds of statements by the names of their types, in our words.
func typeNames(stmts []ast.Statement) string {
	names := make([]string, len(stmts))
	for i, s := range stmts {
		names[i] = strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", s), "*ast."), "Statement")
		if known, ok := kinds[names[i]]; ok {
			names[i] = known
		}
	}
	return strings.Join(names, " ")
}
