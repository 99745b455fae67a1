package runtime

import (
	"database/sql"
	"fmt"
	"unicode/utf8"

	mssql "github.com/microsoft/go-mssqldb"
)

// A jsonKind is a kind that can stand in a table argument: a document with an array for each row, which OPENJSON turns
// into a table again.
type jsonKind[T any] interface {
	json(dst []byte, v T) ([]byte, error)
}

// A table is a table argument being written.
type table struct {
	doc   []byte
	first bool // the next value begins its row
	err   error
}

// sendTable adds a table argument. The document goes by another name than the parameter, which is declared and filled
// in the text of the call.
func sendTable[R any](a *args, name, document string, rows []R, put func(r *R, t *table)) {
	t := table{doc: append(make([]byte, 0, 2+64*len(rows)), '[')}
	for i := range rows {
		if i > 0 {
			t.doc = append(t.doc, ',')
		}
		t.doc = append(t.doc, '[')
		t.first = true
		put(&rows[i], &t)
		t.doc = append(t.doc, ']')
		if t.err != nil {
			a.fail(name, fmt.Errorf("row %d: %w", i, t.err))
			return
		}
	}
	a.send(document, mssql.NVarCharMax(append(t.doc, ']')))
}

func (t *table) next() {
	if !t.first {
		t.doc = append(t.doc, ',')
	}
	t.first = false
}

// column adds a value to the row.
func column[T any, K jsonKind[T]](t *table, name string, k K, v T) {
	t.next()
	var err error
	if t.doc, err = k.json(t.doc, v); err != nil && t.err == nil {
		t.err = fmt.Errorf("column %s %w", name, err)
	}
}

// columnNull adds a value to the row; nil is NULL.
func columnNull[T any, K jsonKind[T]](t *table, name string, k K, v *T) {
	if v == nil {
		t.next()
		t.doc = append(t.doc, "null"...)
		return
	}
	column(t, name, k, *v)
}

// columnNullSQL adds a value that may be NULL to the row.
func columnNullSQL[T any, K jsonKind[T]](t *table, name string, k K, v sql.Null[T]) {
	columnNull(t, name, k, pointer(v))
}

// columnNullBytes adds a value to the row; nil is NULL.
func columnNullBytes[K jsonKind[[]byte]](t *table, name string, k K, v []byte) {
	if v == nil {
		t.next()
		t.doc = append(t.doc, "null"...)
		return
	}
	column(t, name, k, v)
}

// appendJSONText writes a string. JSON asks for no more than quotes, backslashes and control characters to be escaped.
func appendJSONText(dst []byte, v string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := range len(v) {
		b := v[i]
		if b >= ' ' && b != '"' && b != '\\' || b >= utf8.RuneSelf {
			continue
		}
		dst = append(dst, v[from:i]...)
		from = i + 1
		if b < ' ' {
			dst = append(dst, '\\', 'u', '0', '0', digits[b>>4], digits[b&15])
		} else {
			dst = append(dst, '\\', b)
		}
	}
	dst = append(dst, v[from:]...)
	return append(dst, '"')
}

// A tvpRow checks the values of a row on their way into the driver's form.
type tvpRow struct{ err error }

// sendTVP adds a table argument in the driver's own form, a slice of structs.
func sendTVP[R, W any](a *args, name, typeName string, rows []R, convert func(r *R, t *tvpRow) W) {
	list := make([]W, len(rows))
	for i := range rows {
		var t tvpRow
		if list[i] = convert(&rows[i], &t); t.err != nil {
			a.fail(name, fmt.Errorf("row %d: %w", i, t.err))
			return
		}
	}
	a.send(name, mssql.TVP{TypeName: typeName, Value: list})
}

// tvpColumn returns what the driver takes for a value.
func tvpColumn[W, T any, K kind[T]](t *tvpRow, name string, k K, v T) W {
	wire, err := k.wire(v)
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("column %s %w", name, err)
	}
	w, _ := wire.(W)
	return w
}

// tvpNull returns what the driver takes for a value that may be NULL.
func tvpNull[W, T any, K outKind[T]](t *tvpRow, name string, k K, v *T) W {
	if v != nil {
		if _, err := k.wire(*v); err != nil && t.err == nil {
			t.err = fmt.Errorf("column %s %w", name, err)
		}
	}
	dest, _ := k.out(v)
	w, _ := dest.(*W)
	return *w
}

// tvpBytes returns what the driver takes for a binary value, of which nil is NULL.
func tvpBytes[W ~[]byte, K kind[[]byte]](t *tvpRow, name string, k K, v []byte) W {
	if v == nil {
		return nil
	}
	return tvpColumn[W](t, name, k, v)
}
