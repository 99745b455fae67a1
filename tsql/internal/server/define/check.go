package define

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// verify checks the rows that are there against new constraints, apart from those that were added WITH NOCHECK.
func (b *builder) verify(checks []*schema.Check, foreign []*schema.ForeignKey) error {
	var rows [][]value.Value
	if len(checks)+len(foreign) > 0 {
		var err error
		if rows, err = b.rows(); err != nil {
			return err
		}
	}
	for _, ck := range checks {
		if ck.Untrusted {
			continue
		}
		test, err := planner.RowTest(b.env(ck.File, b.schemaName()), b.t, ck.Expr)
		if err != nil {
			return err
		}
		for _, values := range rows {
			truth, err := test(b.Frame(), values)
			if err != nil {
				return err
			}
			if truth == execute.False {
				return b.t.Conflict(ck, "ALTER TABLE")
			}
		}
	}
	for _, fk := range foreign {
		if fk.Untrusted {
			continue
		}
		if err := b.verifyForeign(fk, rows); err != nil {
			return err
		}
	}
	return nil
}

// verifyForeign looks for rows that refer to none. A row with a NULL among the columns refers to nothing.
func (b *builder) verifyForeign(fk *schema.ForeignKey, rows [][]value.Value) error {
	if len(rows) == 0 {
		return nil
	}
	to := &builder{definer: b.definer, t: fk.References}
	referred, err := to.rows()
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, values := range referred {
		if key, ok := keyFor(fk.References, fk.Referenced, values, fk); ok {
			known[key] = true
		}
	}
	for _, values := range rows {
		if key, ok := keyFor(fk.References, fk.Columns, values, fk); ok && !known[key] {
			return fk.Orphan("ALTER TABLE")
		}
	}
	return nil
}

// keyFor encodes the columns of one side of a foreign key as the other side has them. False means that one is NULL.
func keyFor(t *schema.Table, ordinals []int, values []value.Value, fk *schema.ForeignKey) (string, bool) {
	var key []byte
	for i, ordinal := range ordinals {
		if values[ordinal].IsNull() {
			return "", false
		}
		key = value.AppendKey(key, values[ordinal], t.Columns[fk.Referenced[i]].Type, false)
	}
	return string(key), true
}
