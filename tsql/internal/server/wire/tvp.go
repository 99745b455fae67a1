package wire

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// The tokens within a table-valued parameter.
const (
	tableEnd     = 0x00
	tableRow     = 0x01
	tableUnique  = 0x10 // what the rows are sorted by and unique in, which nobody has to know
	tableOrder   = 0x11 // the columns come in another order than that of the type
	tableDefault = 0x0200
	noColumns    = 0xFFFF
)

const (
	// maxTableColumns is SQL Server's limit.
	maxTableColumns = 1024
	// maxTableDefaults bounds the cells of a table for which the client sends nothing.
	maxTableDefaults = 16 << 20
)

// tableType is the type of a table-valued parameter.
func tableType(t *request.TableValue) value.Type {
	name := t.TypeName
	if t.TypeSchema != "" {
		name = t.TypeSchema + "." + name
	}
	return value.Type{Type: sqltype.Type{Kind: sqltype.Table, Name: name}}
}

// tableReader reads a table-valued parameter.
type tableReader struct {
	*callReader
	table *request.TableValue
	types []typeInfo
	order []int // the places of the columns, if they are not in order
}

// table reads a table-valued parameter.
func (r *callReader) table() (*request.TableValue, error) {
	t := &tableReader{callReader: r, table: &request.TableValue{}}
	r.take(1) // the type
	r.shortText()
	t.table.TypeSchema, t.table.TypeName = r.shortText(), r.shortText()
	if err := t.columns(); err != nil {
		return nil, err
	}
	t.options()
	err := t.rows()
	if r.err != nil {
		return nil, r.err
	}
	if err == nil {
		t.reorder()
	}
	return t.table, err
}

// columns reads the description of the columns.
func (t *tableReader) columns() error {
	n := int(t.uint16())
	if n == noColumns {
		return nil
	}
	if n > maxTableColumns {
		t.fail("a table of %d columns", n)
	}
	t.types, t.table.Columns, t.table.Defaulted = make([]typeInfo, 0, n), make([]request.Column, 0, n), make([]bool, 0, n)
	for range n {
		if t.err != nil {
			return t.err
		}
		t.uint32() // the user's type
		flags := t.uint16()
		info, err := t.typeInfo(t.collation)
		if err != nil {
			return err
		}
		t.types = append(t.types, info)
		t.table.Columns = append(t.table.Columns, request.Column{
			Name: t.shortText(), Type: info.typ, Nullable: flags&flagNullable != 0,
			Identity: flags&flagIdentity != 0, Computed: flags&flagComputed != 0,
		})
		t.table.Defaulted = append(t.table.Defaulted, flags&tableDefault != 0)
	}
	return t.err
}

// options reads what may stand between the columns and the rows.
func (t *tableReader) options() {
	for t.err == nil {
		switch token := t.byte(); token {
		case tableEnd:
			return
		case tableUnique:
			t.take(3 * int(t.uint16()))
		case tableOrder:
			t.columnOrder()
		default:
			t.fail("the token 0x%02x in the description of a table", token)
		}
	}
}

// columnOrder reads which column of the type each column is, from 1.
func (t *tableReader) columnOrder() {
	n := int(t.uint16())
	if n != len(t.types) {
		t.fail("an order of %d columns for %d", n, len(t.types))
		return
	}
	seen := make([]bool, n)
	t.order = make([]int, n)
	for i := range t.order {
		at := int(t.uint16()) - 1
		if at < 0 || at >= n || seen[at] {
			t.fail("an order of columns with the column %d", at+1)
			return
		}
		seen[at], t.order[i] = true, at
	}
}

// rows reads the rows. Columns that are left to their defaults have no value in them. The error is errInvalid.
func (t *tableReader) rows() (invalid error) {
	sent := 0
	for _, left := range t.table.Defaulted {
		if !left {
			sent++
		}
	}
	empty := make([]value.Value, len(t.types))
	defaults := 0
	for t.err == nil {
		switch token := t.byte(); token {
		case tableEnd:
			return invalid
		case tableRow:
			if defaults += max(len(t.types)-sent, choose(sent == 0, 1, 0)); defaults > maxTableDefaults {
				return unsupported("a table with more than %d cells that are left to defaults", maxTableDefaults)
			}
			if sent == 0 {
				t.table.Rows = append(t.table.Rows, empty)
			} else if err := t.row(); err != nil {
				invalid = err
			}
		default:
			t.fail("the token 0x%02x among the rows of a table", token)
		}
	}
	return invalid
}

// row reads a row.
func (t *tableReader) row() (invalid error) {
	row := make([]value.Value, len(t.types))
	for i := range t.types {
		if t.table.Defaulted[i] {
			continue
		}
		var err error
		if row[i], err = t.value(&t.types[i]); err != nil {
			invalid = err
		}
		if t.err != nil {
			return t.err
		}
	}
	t.table.Rows = append(t.table.Rows, row)
	return invalid
}

// reorder brings the columns into the order of the type.
func (t *tableReader) reorder() {
	if t.order == nil {
		return
	}
	columns, defaulted := make([]request.Column, len(t.order)), make([]bool, len(t.order))
	for i, at := range t.order {
		columns[at], defaulted[at] = t.table.Columns[i], t.table.Defaulted[i]
	}
	t.table.Columns, t.table.Defaulted = columns, defaulted
	for r, row := range t.table.Rows {
		ordered := make([]value.Value, len(row))
		for i, at := range t.order {
			ordered[at] = row[i]
		}
		t.table.Rows[r] = ordered
	}
}
