package catalog

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// TestKnown follows variables up to the text that the last statement executes. What isn't known of it is written ?, and
// ! if it is the name of a constraint that is no key. The server cuts texts as the reference of +, nvarchar and EXECUTE
// says.
func TestKnown(t *testing.T) {
	t.Parallel()
	long, short := strings.Repeat("x", 3000), strings.Repeat("x", 1000)
	for _, test := range []struct{ title, script, want string }{
		{"a literal", `EXEC (N'a ''b''')`, "a 'b'"},
		{"a concatenation", `DECLARE @b varchar(10) = 'b'; EXEC ('a' + @b + N'c')`, "abc"},
		{"a variable that grows", `DECLARE @a varchar(10); SET @a = 'a'; SET @a += 'b'; SELECT @a = @a + 'c', @a += 'd'; EXEC (@a)`, "abcd"},
		{"cut by its type", `DECLARE @a varchar(3) = 'abcdef'; EXEC (@a)`, "abc"},
		{"filled up by its type", `DECLARE @a char(3) = 'a'; EXEC (@a + '|')`, "a  |"},
		{"cut by UTF-16 units", `DECLARE @a nvarchar(3) = N'ab🦉'; EXEC (@a)`, "ab\uFFFD"},
		{"a short concatenation is cut", `DECLARE @a nvarchar(max) = N'` + long + `' + N'` + long + `'; EXEC (@a)`, long + short},
		{"one of (max) is not", `DECLARE @a nvarchar(max) = N'` + long + `'; SET @a = @a + N'` + long + `'; EXEC (@a)`, long + long},
		{"CAST and COLLATE", `EXEC (CAST('abcdef' AS varchar(4)) + 'x' COLLATE Latin1_General_BIN2)`, "abcdx"},
		{"functions", `EXEC (CONCAT(QUOTENAME('a]b'), CHAR(10), NULL, NCHAR(65)))`, "[a]]b]\nA"},
		{"NULL", `DECLARE @a varchar(10); SET @a = @a + 'x'; EXEC (@a)`, ""},
		{"COALESCE", `DECLARE @a varchar(10); SET @a = COALESCE(@a + ',', '') + 'x'; EXEC (@a)`, "x"},
		{"a column", `DECLARE @a sysname; SELECT @a = t.name FROM sys.tables AS t; EXEC ('DROP TABLE ' + @a)`, "DROP TABLE ?"},
		{"a default's name", `DECLARE @a sysname; SELECT @a = d.name FROM sys.default_constraints AS d; EXEC ('a' + QUOTENAME(@a))`, "a[!]"},
		{"a subquery", `DECLARE @a sysname = (SELECT f.name FROM sys.foreign_keys AS f); EXEC ('a' + @a)`, "a!"},
		{"a row's text", `DECLARE @a nvarchar(max) = N''; SELECT @a += N'x ' + t.name FROM sys.tables AS t; EXEC (@a)`, "x ?"},
		{"STRING_AGG", `DECLARE @a nvarchar(max) = (SELECT STRING_AGG('x ' + t.name, ';') FROM sys.tables AS t); EXEC (@a)`, "x ?;"},
		{"a function that isn't followed", `EXEC ('a' + DB_NAME())`, "a?"},
		{"FETCH", `DECLARE @a sysname = 'a'; FETCH NEXT FROM c INTO @a; EXEC (@a)`, "?"},
		{"an OUTPUT argument", `DECLARE @a sysname = 'a'; EXEC p @a OUTPUT; EXEC (@a)`, "?"},
		{"an argument", `DECLARE @a sysname = 'a'; EXEC p @a; EXEC (@a)`, "a"},
		{"UPDATE", `DECLARE @a sysname = 'a'; UPDATE t SET @a = n; EXEC (@a)`, "?"},
		{"a text that doubles", `DECLARE @a nvarchar(max) = N'aaaaaaaa'; ` + strings.Repeat("SET @a += @a; ", 40) + `EXEC (@a)`, "?"},
		{"a number", `DECLARE @a int = 1; EXEC ('a' + @a)`, "?"},
	} {
		t.Run(test.title, func(t *testing.T) {
			t.Parallel()
			script, found := syntax.Parse(diag.NewFile("1.sql", test.script))
			if len(found) > 0 {
				t.Fatal(found.Format())
			}
			stmts := script.Batches[0].Stmts
			known := NewKnown(newCatalog("dbo"))
			for _, s := range stmts[:len(stmts)-1] {
				known.Follow(s)
			}
			last, ok := stmts[len(stmts)-1].(*syntax.Exec)
			if !ok {
				t.Fatal("the last statement executes no text")
			}
			got := strings.NewReplacer(Hole, "?", noKey, "!").Replace(known.Text(Executed(last)))
			if got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
