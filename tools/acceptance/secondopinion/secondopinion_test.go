package secondopinion

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	teesql "github.com/sqlc-dev/teesql/parser"

	"github.com/duroxide/duroxide-go/internal/tsql/diag"
	"github.com/duroxide/duroxide-go/internal/tsql/syntax"
)

// statements holds the texts that the tests of our parser can read; a test there keeps it up to date.
const statements = "../../../internal/tsql/syntax/testdata/statements.json"

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
	var texts []string
	if err := json.Unmarshal(content, &texts); err != nil {
		t.Fatal(err)
	}
	// teesql takes the SELECT of a cursor variable for a statement of its own.
	texts = slices.DeleteFunc(texts, func(text string) bool { return strings.Contains(text, "CURSOR SCROLL FOR") })
	refused := 0
	for _, text := range texts {
		other, err := teesql.Parse(t.Context(), strings.NewReader(text))
		if err != nil {
			refused++
			continue
		}
		script, found := syntax.Parse(diag.NewFile("t.sql", text))
		if len(found) > 0 {
			t.Fatal(found.Format())
		}
		var theirs, ours []string
		for _, b := range other.Batches {
			if names := typeNames(b.Statements, "*ast."); len(names) > 0 {
				theirs = append(theirs, strings.Join(names, " "))
			}
		}
		for _, b := range script.Batches {
			ours = append(ours, strings.Join(typeNames(apart(b.Stmts), "*syntax."), " "))
		}
		if !slices.Equal(ours, theirs) {
			t.Errorf("%s\nbatches %q\nteesql  %q", text, ours, theirs)
		}
	}
	// It can't read them all: it doesn't know READONLY of functions, EXEC of a variable with arguments, and others.
	if most := len(texts) / 10; refused > most {
		t.Errorf("teesql refused %d of %d texts, more than %d: the comparison means little", refused, len(texts), most)
	}
}

// apart leaves out statements that come of the same text as the one before: SET NOCOUNT, XACT_ABORT ON.
func apart(stmts []syntax.Stmt) []syntax.Stmt {
	return slices.CompactFunc(slices.Clone(stmts), func(a, b syntax.Stmt) bool { return a.Range() == b.Range() })
}

// typeNames returns the kinds of statements by the names of their types, in our words.
func typeNames[S any](stmts []S, prefix string) []string {
	var names []string
	for _, s := range stmts {
		name := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", s), prefix), "Statement")
		if known, ok := kinds[name]; ok {
			name = known
		}
		names = append(names, name)
	}
	return names
}
