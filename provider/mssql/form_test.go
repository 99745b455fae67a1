package mssql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"testing"
)

// kindly is a driver of a server that tells what kind it is, or fails to.
type kindly struct {
	kind  driver.Value
	err   error
	asked int
}

func (k *kindly) Connect(context.Context) (driver.Conn, error) { return &kindlyConn{kindly: k}, nil }
func (k *kindly) Driver() driver.Driver                        { panic("not used") }

type kindlyConn struct {
	fakeConn
	kindly *kindly
}

func (c *kindlyConn) IsValid() bool                            { return true }
func (c *kindlyConn) Close() error                             { return nil }
func (c *kindlyConn) CheckNamedValue(*driver.NamedValue) error { return nil }

func (c *kindlyConn) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	c.kindly.asked++
	if c.kindly.err != nil {
		return nil, c.kindly.err
	}
	return &oneRow{value: c.kindly.kind}, nil
}

// oneRow is the answer to the question for the server's kind.
type oneRow struct {
	value driver.Value
	read  bool
}

func (*oneRow) Columns() []string { return []string{"babelfish"} }
func (*oneRow) Close() error      { return nil }

func (r *oneRow) Next(values []driver.Value) error {
	if r.read {
		return io.EOF
	}
	values[0], r.read = r.value, true
	return nil
}

// What the server is decides how lists travel. It is asked once, and before the first call that has any.
func TestServerDecidesHowListsTravel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind      driver.Value
		documents bool
	}{
		"SQL Server":          {nil, false},
		"Babelfish":           {"1", true},
		"not quite Babelfish": {"0", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &kindly{kind: c.kind, err: errTest}
			db := sql.OpenDB(server)
			t.Cleanup(func() { _ = db.Close() })
			f := newForms(db, DefaultSchema)
			_, err := f.on(t.Context(), db)
			if _, unsent := errors.AsType[*unconnected](err); !unsent || !errors.Is(err, errTest) || f.chosen.Load() != nil {
				t.Errorf("the server did not answer: got %v", err)
			}
			server.err = nil
			for range 2 {
				if _, err := f.on(t.Context(), db); err != nil {
					t.Fatal(err)
				}
			}
			want := f.native
			if c.documents {
				want = f.documents
			}
			if f.chosen.Load() != want || server.asked != 2 {
				t.Errorf("the wrong form, or asked %d times", server.asked)
			}
		})
	}
}

// The driver cannot send such a schema as part of a table type's name, so there is nothing to ask.
func TestSchemaThatTheDriverCannotSend(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{"a[b", "a]b", "a.b"} {
		f := newForms(nil, schema)
		if q, err := f.on(t.Context(), nil); err != nil || q == nil || f.chosen.Load() != f.documents {
			t.Errorf("%s: got %v, %v", schema, q, err)
		}
	}
}
