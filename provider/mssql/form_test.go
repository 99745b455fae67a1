package mssql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// kindly is a driver of a server that tells what kind it is, or fails to.
type kindly struct {
	kind  driver.Value
	level int64
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
	return &oneRow{values: []driver.Value{c.kindly.kind, "or]ders", c.kindly.level}}, nil
}

// oneRow is the answer to the question for the server's kind.
type oneRow struct {
	values []driver.Value
	read   bool
}

func (*oneRow) Columns() []string {
	return []string{"babelfish", "database_name", "compatibility_level"}
}
func (*oneRow) Close() error { return nil }

func (r *oneRow) Next(values []driver.Value) error {
	if r.read {
		return io.EOF
	}
	copy(values, r.values)
	r.read = true
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

// The driver cannot send such a schema as part of a table type's name. Documents take compatibility level 130, which
// nothing else does.
func TestCompatibilityLevel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		schema  string
		kind    driver.Value
		level   int64
		refused bool
	}{
		{"a[b", nil, 130, false},
		{"a]b", nil, 160, false},
		{"a.b", nil, 120, true},
		{"a.b", nil, 100, true},
		{"a.b", "1", 120, false},
		{DefaultSchema, nil, 120, false},
		{DefaultSchema, "1", 120, false},
	} {
		db := sql.OpenDB(&kindly{kind: c.kind, level: c.level})
		t.Cleanup(func() { _ = db.Close() })
		f := newForms(db, c.schema)
		_, err := f.on(t.Context(), db)
		if !c.refused {
			if want := c.schema != DefaultSchema || c.kind != nil; err != nil || (f.chosen.Load() == f.documents) != want {
				t.Errorf("%+v: %v, documents %v, want %v", c, err, f.chosen.Load() == f.documents, want)
			}
			continue
		}
		opening := openError(t.Context(), err)
		if !errors.Is(opening, errors.ErrUnsupported) || provider.IsRetryable(opening) || f.chosen.Load() != nil {
			t.Errorf("%+v: %v", c, opening)
		}
		for _, part := range []string{fmt.Sprintf("is at compatibility level %d", c.level), "needs level 130", "ALTER DATABASE [or]]ders] SET COMPATIBILITY_LEVEL = 130"} {
			if !strings.Contains(opening.Error(), part) {
				t.Errorf("%v does not say %q", opening, part)
			}
		}
	}
}
