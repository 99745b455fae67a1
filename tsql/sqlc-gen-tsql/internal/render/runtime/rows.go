//nolint:unused // package render copies it into generated packages, which use it
package runtime

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"
)

// A state is what may follow the result sets received so far. The first of a statement is where a call begins.
type state struct {
	next  []edge
	final bool // the call may end here
}

// An edge leads to another state by a result set. Both are indices, into the sets and the flow of the statement.
type edge struct{ set, to int }

// call runs a statement and hands each result set to read, then drains what is left, so that errors that follow the
// rows are seen and the values of output parameters have arrived. Whatever happens, a panic in read included, the rows
// are closed, so that the connection is free again.
func (q *Queries) call(ctx context.Context, s *statement, a *args, read func(set int, rows *sql.Rows) error) error {
	text, list, err := q.prepare(s, a)
	if err != nil {
		return err
	}
	rows, err := q.db.QueryContext(ctx, text, list...)
	if err != nil {
		return s.failed(ctx, err)
	}
	defer func() { _ = rows.Close() }() // checked below when the call went well; a second time does nothing
	err = s.receive(ctx, rows, read)
	if err == nil {
		err = rows.Close() // the driver may have kept an error for it
	}
	if err != nil && !errors.Is(err, errStopped) {
		return s.failed(ctx, err)
	}
	return err
}

// none is the read of a call that has no result sets.
func none(int, *sql.Rows) error { return nil }

// receive walks through the result sets. What is wrong with one of them ends the reading but not the call: the
// statement runs to its end, rather than to wherever it is cancelled, and a transaction can go on behind it. Only a
// caller who wants no more rows cancels it.
func (s *statement) receive(ctx context.Context, rows *sql.Rows, read func(set int, rows *sql.Rows) error) error {
	var wrong error
	at := 0
	for {
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		// Without columns nothing has come at all.
		if len(columns) > 0 && wrong == nil {
			set, to, ok := s.follow(at, columns)
			if ok {
				at, wrong = to, read(set, rows)
			} else {
				wrong = s.unexpected(at, columns)
			}
			if errors.Is(wrong, errStopped) {
				return wrong
			}
		}
		// Only a set that has been read to its end gives way to the next one.
		for rows.Next() {
			continue // nobody wants the rows of an unexpected set
		}
		if !rows.NextResultSet() {
			break
		}
	}
	// What the server says, or the context, is the reason for anything else that went wrong. Package database/sql may
	// keep to itself that the context has ended between two sets.
	if err := rows.Err(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if wrong == nil && !s.final(at) {
		return s.unexpected(at, nil)
	}
	return wrong
}

// next returns what may follow in a state. Without a flow, the state is how many sets have come.
func (s *statement) next(at int) []edge {
	switch {
	case s.flow != nil:
		return s.flow[at].next
	case at < len(s.sets):
		return []edge{{set: at, to: at + 1}}
	default:
		return nil
	}
}

// final says whether the call may end in a state.
func (s *statement) final(at int) bool {
	if s.flow != nil {
		return s.flow[at].final
	}
	return at == len(s.sets)
}

// follow returns which set these columns are, and the state behind it. The case of names
// doesn't count. Two sets that may come in the same place never have the same columns.
func (s *statement) follow(at int, columns []string) (set, to int, ok bool) {
	for _, e := range s.next(at) {
		if slices.EqualFunc(s.sets[e.set], columns, strings.EqualFold) {
			return e.set, e.to, true
		}
	}
	return 0, 0, false
}

// unexpected returns the error for columns, or the end, that can't come here.
func (s *statement) unexpected(at int, columns []string) error {
	came := "the end"
	if columns != nil {
		came = "(" + strings.Join(columns, ", ") + ")"
	}
	var expected []string
	for _, e := range s.next(at) {
		expected = append(expected, "("+strings.Join(s.sets[e.set], ", ")+")")
	}
	if s.final(at) {
		expected = append(expected, "the end")
	}
	return misshapen("got %s, expected %s", came, strings.Join(expected, " or "))
}

// scanned is the error of scanning a row: without the value that didn't fit, which the cause may quote and which has no
// business in a log.
func scanned(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if cause := errors.Unwrap(err); cause != nil {
		text = strings.TrimSuffix(text, cause.Error())
	}
	return misshapen("%sthe value doesn't fit its Go type", text)
}

// readMany reads all rows of a result set. The slice is never nil.
func readMany[T any](rows *sql.Rows, scan func(*sql.Rows, *T) error) ([]T, error) {
	list := []T{}
	for rows.Next() {
		var row T
		if err := scan(rows, &row); err != nil {
			return list, scanned(err)
		}
		list = append(list, row)
	}
	return list, rows.Err()
}

// readOptional reads a result set of at most one row, and returns nil if it has none.
func readOptional[T any](rows *sql.Rows, scan func(*sql.Rows, *T) error) (*T, error) {
	if !rows.Next() {
		return nil, rows.Err()
	}
	row := new(T)
	if err := scan(rows, row); err != nil {
		return nil, scanned(err)
	}
	if rows.Next() {
		return nil, &failure{text: "more than one row where one was expected", causes: []error{ErrShape}}
	}
	return row, rows.Err()
}

// readOne reads a result set of one row. If it has none, the error is sql.ErrNoRows.
func readOne[T any](rows *sql.Rows, scan func(*sql.Rows, *T) error) (T, error) {
	row, err := readOptional(rows, scan)
	if err == nil && row == nil {
		err = sql.ErrNoRows
	}
	if err != nil {
		return *new(T), err
	}
	return *row, nil
}

// errStopped ends a call whose rows nobody wants any longer. No caller sees it.
var errStopped = errors.New("stopped")

// readEach yields the rows of a result set as they arrive.
func readEach[T any](rows *sql.Rows, scan func(*sql.Rows, *T) error, yield func(T, error) bool) error {
	for rows.Next() {
		var row T
		if err := scan(rows, &row); err != nil {
			return scanned(err)
		}
		if !yield(row, nil) {
			return errStopped
		}
	}
	return rows.Err()
}

// end yields the error of a call whose rows were yielded, unless the loop over them was left: nobody is there to take it.
func end[T any](err error, yield func(T, error) bool) {
	if err != nil && !errors.Is(err, errStopped) {
		yield(*new(T), err)
	}
}

var errNull = errors.New("NULL")

// utcTime receives a time without an offset. It holds the clock of UTC, whatever time zone the connection is set to:
// the driver takes the clock for one in that zone. An hour that the zone skips in spring it can't read or send, so a
// connection is best left in UTC.
type utcTime struct{ dst *time.Time }

func utc(dst *time.Time) utcTime { return utcTime{dst} }

// Scan implements [sql.Scanner].
func (u utcTime) Scan(src any) error {
	t, ok := src.(time.Time)
	if !ok {
		return errNull
	}
	*u.dst = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	return nil
}

// utcNullTime is utcTime for a pointer.
type utcNullTime struct{ dst **time.Time }

func utcNull(dst **time.Time) utcNullTime { return utcNullTime{dst} }

// Scan implements [sql.Scanner].
func (u utcNullTime) Scan(src any) error {
	*u.dst = nil
	if src == nil {
		return nil
	}
	*u.dst = new(time.Time)
	return utcTime{*u.dst}.Scan(src)
}

// utcNullTimeSQL is utcTime for a value that may be NULL.
type utcNullTimeSQL struct{ dst *sql.Null[time.Time] }

func utcNullSQL(dst *sql.Null[time.Time]) utcNullTimeSQL { return utcNullTimeSQL{dst} }

// Scan implements [sql.Scanner].
func (u utcNullTimeSQL) Scan(src any) error {
	u.dst.V, u.dst.Valid = time.Time{}, src != nil
	if src == nil {
		return nil
	}
	return utcTime{&u.dst.V}.Scan(src)
}

// notNull receives a binary value that is never NULL, as a copy: the bytes are lent until the next row.
type notNull struct{ dst *[]byte }

// Scan implements [sql.Scanner].
func (b notNull) Scan(src any) error {
	v, ok := src.([]byte)
	if !ok {
		return errNull
	}
	*b.dst = append([]byte{}, v...)
	return nil
}
