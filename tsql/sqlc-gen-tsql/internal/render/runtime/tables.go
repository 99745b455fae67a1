//nolint:unused // package render copies it into generated packages, which use it
package runtime

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"
)

// A jsonKind is a kind that can stand in a table argument: a document with an object for each row, which OPENJSON
// turns into a table again.
type jsonKind[T any] interface {
	json(dst []byte, v T) ([]byte, error)
}

// A table is a table argument being written. The members of a row are c0, c1 and so on: short, and in no need of escapes
// whatever the columns are called.
type table struct {
	doc     []byte
	columns int   // that the row has so far
	err     error // of the first column of the row that doesn't fit
}

// write returns the document for rows; if there is an error, it is that of row n.
func write[R any](rows []R, put func(r *R, t *table)) (doc mssql.NVarCharMax, n int, err error) {
	const guess, most = 64, 1 << 20 // bytes for a row, and for all until it is known how long rows are
	t := table{doc: append(make([]byte, 0, 2+min(guess*int64(len(rows)), most)), '[')}
	for i := range rows {
		if i > 0 {
			t.doc = append(t.doc, ',')
		}
		t.doc = append(t.doc, '{')
		t.columns = 0
		put(&rows[i], &t)
		t.doc = append(t.doc, '}')
		if t.err != nil {
			return "", i, t.err
		}
	}
	return mssql.NVarCharMax(append(t.doc, ']')), 0, nil
}

// sendTable adds a table argument. The document goes by another name than the parameter, which is declared and filled
// in the text of the call.
func sendTable[R any](a *args, name, document string, rows []R, put func(r *R, t *table)) {
	doc, n, err := write(rows, put)
	if err != nil {
		a.fail(name, fmt.Errorf("row %d: column %w", n, err))
		return
	}
	a.send(document, doc)
}

// maxElements is how many elements of a :batch go in one round trip. More would save little: a thousand share its cost.
const maxElements = 1000

// execMany runs a statement for each of many sets of arguments and returns how many rows were changed. It stops at the
// first that fails; the number then tells of the round trips before. Nothing is sent unless all arguments fit.
func execMany[P any](ctx context.Context, q *Queries, s *statement, list []P, put func(p *P, t *table)) (int64, error) {
	var docs []mssql.NVarCharMax
	for chunk := range slices.Chunk(list, maxElements) {
		doc, n, err := write(chunk, put)
		if err != nil {
			return 0, s.failure(fmt.Sprintf("argument of element %d: @%v", len(docs)*maxElements+n, err), ErrArgument)
		}
		docs = append(docs, doc)
	}
	var total int64
	for _, doc := range docs {
		a := newArgs(2)
		a.send("gen_json", doc)
		changed := output(&a, "gen_changed", sqlBigInt{}, nil)
		if _, err := q.exec(ctx, s, &a); err != nil {
			return total, err
		}
		// The batch counts for itself: the driver's count is of everything that it runs.
		if rows := changed(); rows != nil {
			total += *rows
		}
	}
	return total, nil
}

// next writes the name of the next column.
func (t *table) next() {
	if t.columns > 0 {
		t.doc = append(t.doc, ',')
	}
	t.doc = append(strconv.AppendInt(append(t.doc, `"c`...), int64(t.columns), 10), `":`...)
	t.columns++
}

// column adds a value to the row.
func column[T any, K jsonKind[T]](t *table, name string, k K, v T) {
	t.next()
	var err error
	if t.doc, err = k.json(t.doc, v); err != nil && t.err == nil {
		t.err = fmt.Errorf("%s %w", name, err)
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

// appendJSONText writes a string. Package encoding/json would also escape what only matters in HTML.
func appendJSONText(dst []byte, v string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := range len(v) {
		b := v[i]
		if b >= ' ' && b != '"' && b != '\\' {
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
type tvpRow struct{ err error } // of the first column that doesn't fit

var errTypeName = errors.New("has a table type whose name the driver can't send")

// sendTVP adds a table argument in the driver's own form, a slice of structs. Of the type's name, [schema].[name], the
// driver drops every bracket and takes every point for the one in the middle, so that another name would be meant.
func sendTVP[R, W any](a *args, name, typeName string, rows []R, convert func(r *R, t *tvpRow) W) {
	if strings.Count(typeName, "[") != 2 || strings.Count(typeName, "]") != 2 || strings.Count(typeName, ".") != 1 {
		a.fail(name, errTypeName)
		return
	}
	if len(rows) == 0 { // a table that is not passed is empty
		return
	}
	list := make([]W, len(rows))
	var t tvpRow
	for i := range rows {
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

// tvpText returns what the driver takes for a text, of which nil is NULL.
func tvpText[K textKind](t *tvpRow, name string, k K, v *string) sql.NullString {
	if v == nil {
		return sql.NullString{}
	}
	if err := k.check(*v); err != nil && t.err == nil {
		t.err = fmt.Errorf("column %s %w", name, err)
	}
	return sql.NullString{String: *v, Valid: true}
}

// tvpNull returns what the driver takes for a value that may be NULL: what also receives the value of an output
// parameter.
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
