package analyze

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// TestNames says of each column reference whose column it is: the table's name, the column's type, and how many tables
// are in sight.
func TestNames(t *testing.T) {
	t.Parallel()
	const tables = "CREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY, note nvarchar(20) NULL);\n" +
		"CREATE TABLE dbo.lines (order_id int NOT NULL, at date NOT NULL);\n"
	schema := syntaxOf(t, tables)
	cat, _ := catalog.Build([]*syntax.Script{schema}, catalog.Options{})
	for _, test := range []struct{ text, want string }{
		{"SELECT o.id, at FROM dbo.orders AS o JOIN dbo.lines AS l ON l.order_id = o.id", "o.id=o int 2, at=l date 2, l.order_id=l int 2, o.id=o int 2"},
		{"SELECT x.id FROM dbo.gone AS x", "x.id=x ? 1"},
		{"SELECT id FROM dbo.orders WHERE EXISTS (SELECT 1 FROM dbo.lines WHERE order_id = id)", "id=orders int 1, order_id=lines int 2, id=orders int 2"},
		{"WITH c (a, b) AS (SELECT id, id + 1 FROM dbo.orders) SELECT a, b FROM c", "id=orders int 1, id=orders int 1, a=c int 1, b=c ? 1"},
		{"SELECT id AS key_of, note FROM dbo.orders ORDER BY key_of, note", "id=orders int 1, note=orders nvarchar(20) 1, key_of=exempt, note=orders nvarchar(20) 1"},
		{
			"UPDATE o SET note = N'' OUTPUT deleted.id FROM dbo.orders AS o JOIN dbo.lines AS l ON l.order_id = o.id",
			"note=exempt, deleted.id=deleted int 2, l.order_id=l int 2, o.id=o int 2",
		},
		{"DECLARE @t TABLE (n int); SELECT n FROM @t; SELECT dbo.gone(t.n) FROM @t AS t", "n= int 1, t.n=t int 1"},
		{"CREATE TRIGGER dbo.tr ON dbo.orders AFTER UPDATE AS SELECT i.note FROM inserted AS i", "i.note=i nvarchar(20) 1"},
		{"CREATE INDEX ix ON dbo.orders (note) WHERE id > 1", "id=orders int 1"},
	} {
		script := syntaxOf(t, test.text)
		names := NewResolver(cat).Names(script.File, script)
		if diff := cmp.Diff(test.want, described(script, names)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.text, diff)
		}
	}
}

func syntaxOf(t *testing.T, text string) *syntax.Script {
	t.Helper()
	script, found := syntax.Parse(diag.NewFile("script.sql", text))
	if len(found) > 0 {
		t.Fatal(found)
	}
	return script
}

// described lists the references in the order of the text.
func described(script *syntax.Script, names *Names) string {
	var refs []*syntax.ColumnRef
	for ref := range names.Refs {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, func(a, b *syntax.ColumnRef) int { return int(a.From - b.From) })
	var out []string
	for _, ref := range refs {
		r, typ := names.Refs[ref], "?"
		text := script.File.Slice(ref.Span)
		if r.Column != nil && r.Column.Type.Kind != sqltype.Invalid {
			typ = r.Column.Type.String()
		}
		switch {
		case r.Exempt:
			out = append(out, text+"=exempt")
		case r.Source == nil:
			out = append(out, fmt.Sprintf("%s=? %d", text, r.Visible))
		default:
			out = append(out, fmt.Sprintf("%s=%s %s %d", text, r.Source.Name, typ, r.Visible))
		}
	}
	return strings.Join(out, ", ")
}
