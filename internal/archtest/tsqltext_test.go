package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// tsqlPlaces are the files of the module that may hold T-SQL as text. All else is a file of sql/, reviewed and linted
// as such and typed by the generator.
var tsqlPlaces = map[string]string{
	"provider/mssql/migrate/statements.go":     "a plan is text, with values and names in it, and the lock is taken before there is a schema",
	"provider/mssql/migrate/definition.go":     "messages say which statements a script may have",
	"cmd/duroxide/internal/server/checks.go":   doctorAdvises,
	"cmd/duroxide/internal/server/settings.go": doctorAdvises,
	"cmd/duroxide/internal/server/tables.go":   doctorAdvises,
	"cmd/duroxide/internal/rig/sqlitefile.go":  "SQLite's SQL, in a file that the rig makes and removes",
}

const doctorAdvises = "what the doctor tells an administrator to execute, with names in it"

// otherFolders are not looked at: SQLite's SQL, generated code, what an application writes, what T-SQL is the subject
// of, programs of developers, and what only tests import.
var otherFolders = []string{"provider/sqlite", "gen", "examples", "tsql", "tools", "internal/testsupport", "provider/mssql/mssqltest", "provider/mssql/internal", "provider/providertest"}

// statement is the beginning of a statement in T-SQL as this project writes it, or an object that only T-SQL names.
var statement = regexp.MustCompile(`(?m)(?:^|;)\s*(?:` +
	`(?:SELECT|INSERT|DELETE|MERGE|EXEC|EXECUTE|GRANT|REVOKE|DENY|TRUNCATE|DBCC|USE|WAITFOR|RAISERROR)\s` +
	`|UPDATE\s+(?:\S+\s+SET\s|[[%]|$)|DECLARE\s+@|SET\s+[@A-Z]|IF\s+[(@A-Z]` +
	`|(?:CREATE|ALTER|DROP)\s+[A-Z%]|(?:BEGIN|COMMIT|ROLLBACK|SAVE)\s+TRAN)` +
	`|\b(?:sys|information_schema|duroxide)\.\w+_\w+|@@[A-Z]+`)

// texts yields the string literals of a file that hold T-SQL, with their lines.
func texts(t *testing.T, name string) (list []string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		if statement.MatchString(text) {
			list = append(list, strconv.Itoa(files.Position(literal.Pos()).Line)+": "+text)
		}
		return true
	})
	return list
}

// TestTSQLIsInFiles finds T-SQL in Go. A statement of its own belongs into sql/queries, with an annotation.
func TestTSQLIsInFiles(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../..")
	used := map[string]bool{}
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if strings.HasPrefix(entry.Name(), ".") && path != "." || slices.Contains(otherFolders, path) {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		found := texts(t, filepath.Join("../..", path))
		if _, allowed := tsqlPlaces[path]; allowed {
			used[path] = len(found) > 0
			return nil
		}
		for _, text := range found {
			t.Errorf("%s:%.200s\nis T-SQL in Go: put it into sql/queries, and name it", path, text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for place := range tsqlPlaces {
		if !used[place] {
			t.Errorf("%s has no T-SQL any more: it needs no exception", place)
		}
	}
}

// TestStatementsAreTold has what the search finds, pieces of a statement that is put together among it, and what is no
// T-SQL.
func TestStatementsAreTold(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"SELECT 1", "\n\tSELECT o.name", "INSERT INTO ", "UPDATE ", "UPDATE %s SET a = 1", "UPDATE [t] SET", "DELETE FROM t", "EXEC p",
		"DECLARE @a INT", "SET NOCOUNT ON;", "SET @a = 1", "IF @a = 1", "CREATE TABLE t", "ALTER DATABASE ", "DROP %s %s", "x; DROP TABLE t",
		"BEGIN TRANSACTION;", "FROM sys.sql_modules AS m", "duroxide.dead_letters", "WHERE @@TRANCOUNT > 0", "GRANT EXECUTE ON SCHEMA::",
	} {
		if !statement.MatchString(text) {
			t.Errorf("%q is not seen", text)
		}
	}
	for _, text := range []string{
		"", "select the oldest", "deploy it with other SET options", "UPDATE", "there is no CREATE OR ALTER at the beginning", "SELECT", "duroxide.db",
		"Update the program", "a lock; drop it",
	} {
		if statement.MatchString(text) {
			t.Errorf("%q is taken for T-SQL", text)
		}
	}
}
