package schema

import (
	"errors"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// The longest keys of indexes in bytes, since SQL Server 2016.
const (
	clusteredLimit    = 900
	nonclusteredLimit = 1700
)

// KeyLimit is how many bytes the key columns of a row may take in an index.
func KeyLimit(ix *Index) int {
	if ix.Clustered {
		return clusteredLimit
	}
	return nonclusteredLimit
}

// MeasureKey finds out whether a key of the index may be too long, from the types of its columns. It returns the most
// bytes that a key takes.
func (ix *Index) MeasureKey() int {
	most := 0
	for _, c := range ix.Columns {
		most += max(0, MaxLength(ix.Table.Columns[c.Ordinal].Type))
	}
	ix.LongKeys = most > KeyLimit(ix)
	return most
}

// TooLong returns error 1946 if the key columns of a row take more bytes than the index can hold.
func (ix *Index) TooLong(values []value.Value) error {
	if !ix.LongKeys {
		return nil
	}
	limit, length := KeyLimit(ix), 0
	for _, c := range ix.Columns {
		length += int(value.DataLength(values[c.Ordinal], ix.Table.Columns[c.Ordinal].Type))
	}
	if length <= limit {
		return nil
	}
	kind := "nonclustered"
	if ix.Clustered {
		kind = "clustered"
	}
	return fault.New(1946, length, ix.Name, limit, kind)
}

// IndexOf finds the index whose data something is; nil if there is none.
func (t *Table) IndexOf(data *store.Index) *Index {
	for _, ix := range t.Indexes {
		if ix.Data == data {
			return ix
		}
	}
	for _, ix := range t.Indexes {
		if data != nil && ix.ID == data.ID {
			return ix
		}
	}
	return nil
}

// Refused makes error 2627 or 2601 of the error for a row that a unique index has refused. Other errors stay as they
// are.
func (t *Table) Refused(err error) error {
	e, ok := errors.AsType[*store.DuplicateError](err)
	if !ok {
		return err
	}
	ix := t.IndexOf(e.Index)
	if ix == nil {
		return err
	}
	name, key := t.messageName(), ix.KeyText(e.Values)
	switch {
	case ix.Key == nil:
		return fault.New(2601, name, ix.Name, key)
	case ix.Key.Primary:
		return fault.New(2627, "PRIMARY KEY", ix.Name, name, key)
	default:
		return fault.New(2627, "UNIQUE KEY", ix.Name, name, key)
	}
}

// messageName is the table's name in messages about its keys.
func (t *Table) messageName() string {
	if t.Schema == nil {
		return "dbo." + t.Name
	}
	return t.Schema.Name + "." + t.Name
}

// FullName is the table's name in messages about its values: database.schema.table, or that of a variable.
func (t *Table) FullName() string {
	switch {
	case t.Schema == nil || t.Variable:
		return t.Name
	case t.Schema.Database == nil:
		return t.messageName()
	default:
		return t.Schema.Database.Name + "." + t.messageName()
	}
}

// KeyText is a key as messages show it: (1, abc, <NULL>).
func (ix *Index) KeyText(values []value.Value) string {
	parts := make([]string, len(ix.Columns))
	for i, c := range ix.Columns {
		parts[i] = keyPart(values[c.Ordinal], ix.Table.Columns[c.Ordinal].Type)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// maxKeyText is how many characters of a value messages show.
const maxKeyText = 256

// keyPart is one value as messages show it.
func keyPart(v value.Value, t Type) string {
	if v.IsNull() {
		return "<NULL>"
	}
	style := 0
	switch {
	case t.IsBinary():
		style = 1
	case t.IsTemporal():
		style = 121
	}
	to := Type{Type: sqltype.Type{Kind: sqltype.NVarChar, Length: maxKeyText}, Collation: t.Collation}
	s, err := value.Convert(v, t, to, style)
	if err != nil {
		return v.String()
	}
	return s.Str()
}

// Conflict returns error 547 for a row that a CHECK has refused.
func (t *Table) Conflict(ck *Check, statement string) error {
	return fault.New(547, statement, "CHECK", ck.Name, t.databaseName(), t.messageName(), t.checked(ck))
}

// checked names the column of a check that is about one column alone.
func (t *Table) checked(ck *Check) string {
	if ck.Column >= 0 {
		return ", column '" + t.Columns[ck.Column].Name + "'"
	}
	name := ""
	for ref := range syntax.All[*syntax.ColumnRef](ck.Expr) {
		c := t.Column(ref.Last().Value, strings.ToLower)
		if c == nil || name != "" && c.Name != name {
			return ""
		}
		name = c.Name
	}
	if name == "" {
		return ""
	}
	return ", column '" + name + "'"
}

// Orphan returns error 547 for a row that refers to no row.
func (fk *ForeignKey) Orphan(statement string) error {
	kind := "FOREIGN KEY"
	if fk.Parent == fk.References.ID {
		kind = "FOREIGN KEY SAME TABLE"
	}
	t, column := fk.References, ""
	if len(fk.Referenced) == 1 {
		column = ", column '" + t.Columns[fk.Referenced[0]].Name + "'"
	}
	return fault.New(547, statement, kind, fk.Name, t.databaseName(), t.messageName(), column)
}

// Referred returns error 547 for a row that others refer to, those of child.
func (fk *ForeignKey) Referred(child *Table, statement string) error {
	kind := "REFERENCE"
	if child == fk.References {
		kind = "SAME TABLE REFERENCE"
	}
	column := ""
	if len(fk.Columns) == 1 {
		column = ", column '" + child.Columns[fk.Columns[0]].Name + "'"
	}
	return fault.New(547, statement, kind, fk.Name, child.databaseName(), child.messageName(), column)
}

func (t *Table) databaseName() string {
	if t.Schema == nil || t.Schema.Database == nil {
		return "tempdb"
	}
	return t.Schema.Database.Name
}
