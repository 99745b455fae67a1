package define

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// checkLength refuses a key that can't fit, and warns of one that may not: rows that are too long for it will be
// refused with error 1946.
func (b *builder) checkLength(ix *schema.Index, k key) error {
	fixed := 0
	for _, column := range ix.Columns {
		t := b.t.Columns[column.Ordinal].Type
		switch t.Kind {
		case sqltype.VarChar, sqltype.NVarChar, sqltype.VarBinary, sqltype.SQLVariant:
		default:
			fixed += schema.MaxLength(t)
		}
	}
	most := ix.MeasureKey()
	limit := schema.KeyLimit(ix)
	if fixed > limit {
		err := fault.New(1944, ix.Name, fixed, limit)
		if k.kind != "INDEX" {
			return followed(err, 1750)
		}
		return err
	}
	if most > limit {
		kind := "nonclustered"
		if ix.Clustered {
			kind = "clustered"
		}
		name := ix.Name
		if name == "" {
			name = strings.ToLower(k.kind)
		}
		warning := fault.New(1945, kind, limit, name, most)
		b.Message(warning.Number, 0, warning.Message)
	}
	return nil
}
