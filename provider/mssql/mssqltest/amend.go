package mssqltest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

// AmendVariable is an environment variable that names a file of T-SQL: a procedure of the schema duroxide with a defect
// in it. It replaces the procedure in every schema that tests make. The program tools/mutate sets it to see which tests
// notice.
const AmendVariable = "DUROXIDE_TEST_MSSQL_AMEND"

// Amendment is the text of the file that [AmendVariable] names, empty without one: for tests that make schemas
// themselves.
func Amendment(t testing.TB) string {
	t.Helper()
	text, err := amendment()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func amendment() (string, error) {
	path := os.Getenv(AmendVariable)
	if path == "" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", AmendVariable, err)
	}
	return string(text), nil
}

// up makes a schema, with what has been amended.
func up(ctx context.Context, db *sql.DB, schema string) error {
	if _, err := migration(db, schema).Up(ctx); err != nil {
		return err
	}
	text, err := amendment()
	if err != nil || text == "" {
		return err
	}
	text, _, _ = strings.Cut(text, "\nGO\n") // the rights are there already
	_, err = db.ExecContext(ctx, ours.ReplaceAllString(text, migrate.Quote(schema)+"."))
	return err
}

// ours is the schema's name in the scripts.
var ours = regexp.MustCompile(`\bduroxide\.`)
