package wire

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// bulkReader reads the rows of a bulk load: they look like a result set that the server would send.
type bulkReader struct {
	*cursor

	types []typeInfo
	bulk  request.Bulk
}

// parseBulk reads a bulk load. A *fault.Error is about a type that is not supported, or about values that are none of
// their types.
func parseBulk(payload []byte, def *value.Collation) (request.Bulk, error) {
	r := &bulkReader{cursor: newCursor(payload)}
	if err := r.columns(def); err != nil {
		return r.bulk, err
	}
	invalid := r.rows()
	if r.err != nil {
		return r.bulk, r.err // the message is broken, whatever its values are
	}
	return r.bulk, invalid
}

// columns reads the description of the columns.
func (r *bulkReader) columns(def *value.Collation) error {
	if token := r.byte(); token != tokenColumns {
		r.fail("a bulk load that begins with the token 0x%02x", token)
	}
	n := int(r.uint16())
	if n > maxTableColumns {
		r.fail("a bulk load of %d columns", n)
	}
	for range n {
		if r.err != nil {
			return r.err
		}
		r.uint32() // the user's type
		flags := r.uint16()
		info, err := r.typeInfo(def)
		if err != nil {
			return err
		}
		if isPointed(info.code) {
			r.text(int(r.uint16())) // the table
		}
		r.types = append(r.types, info)
		r.bulk.Columns = append(r.bulk.Columns, request.Column{Name: r.shortText(), Type: info.typ, Nullable: flags&flagNullable != 0})
	}
	return r.err
}

// rows reads the rows up to the token behind them. The error is about the values of one.
func (r *bulkReader) rows() (invalid error) {
	for r.err == nil {
		switch token := r.byte(); token {
		case tokenRow:
			row := make([]value.Value, len(r.types))
			for i := range r.types {
				var err error
				if row[i], err = r.cell(&r.types[i]); err != nil {
					// What SQL Server says of a client that sends what a column's type does not have.
					invalid = fault.New(4816, i+1)
				}
			}
			r.bulk.Rows = append(r.bulk.Rows, row)
		case tokenDone:
			return invalid
		default:
			r.fail("the token 0x%02x among the rows of a bulk load", token)
		}
	}
	return invalid
}

// cell reads a value. Those of the old large types have a pointer and a time stamp before them.
func (r *bulkReader) cell(t *typeInfo) (value.Value, error) {
	if isPointed(t.code) {
		n := int(r.byte())
		if n == 0 {
			return value.Value{}, nil
		}
		const timestamp = 8
		r.take(n + timestamp)
	}
	return r.value(t)
}

// isPointed reports whether a type is one of the old large ones.
func isPointed(code typeCode) bool { return code == typeText || code == typeNText || code == typeImage }
