package execute

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// CallTable executes a table function with a body and yields the rows of the table that it has filled. Tables are the
// slots of its table-valued arguments.
func CallTable(m *schema.Module, args []Expr, tables []int, columns []Load, text string) *Rows {
	return &Rows{Text: text, Open: func(r *Run) (func() (bool, error), error) {
		values := make([]Value, len(args))
		for i, x := range args {
			var err error
			if values[i], err = x(r); err != nil {
				return nil, err
			}
		}
		given := make([]*schema.Table, len(tables))
		for i, slot := range tables {
			given[i] = r.Frame.Tables[slot]
		}
		t, err := r.Frame.Session.CallTable(r.Frame, m, values, given)
		if err != nil || t == nil || t.Data == nil {
			return nil, err
		}
		cursor := r.Frame.Session.Statement().Scan(t.Indexes[0].Data, store.Range{}, false, store.Access{})
		return func() (bool, error) {
			ok, err := cursor.Next()
			if err != nil || !ok {
				cursor.Close()
				return false, err
			}
			row := cursor.Values()
			for _, c := range columns {
				r.Slots[c.Slot] = row[c.Ordinal]
			}
			return true, nil
		}, nil
	}}
}
