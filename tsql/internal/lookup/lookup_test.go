package lookup_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// table is a table with an alias, or with a schema and a name.
type table struct {
	schema, name string
	columns      []string
}

func (t *table) Exposed() (name, schema string) { return t.name, t.schema }
func (t *table) Width() int                     { return len(t.columns) }
func (t *table) NameOf(i int) string            { return t.columns[i] }

func TestFind(t *testing.T) {
	t.Parallel()
	orders := &table{"dbo", "orders", []string{"id", "", "note"}}
	lines := &table{"", "l", []string{"Order_Id", "note"}}
	level := lookup.Level[*table]{Sources: []*table{orders, lines, {"", "", []string{"note"}}}}
	for text, want := range map[string]string{
		"id":            "dbo.orders.id",
		"ORDER_ID":      ".l.Order_Id",
		"note":          "dbo.orders.note .l.note ..note",
		"l.note":        ".l.note",
		"orders.id":     "dbo.orders.id",
		"dbo.orders.id": "dbo.orders.id",
		"dbo.l.note":    "",
		"gone.id":       "",
		"l.id":          "",
	} {
		script, _ := syntax.Parse(diag.NewFile("q.sql", "SELECT "+text))
		refs := slices.Collect(syntax.All[*syntax.ColumnRef](script))
		var got []string
		places, _ := level.Find(refs[0], strings.EqualFold)
		for _, p := range places {
			got = append(got, p.Table.schema+"."+p.Table.name+"."+p.Table.columns[p.Column])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: found %q, want %q", text, got, want)
		}
	}
}
