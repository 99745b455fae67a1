package migrate

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"

	sqlserver "github.com/microsoft/go-mssqldb"
)

// TestExplain has every number that may mean missing rights, for a login that is an owner, for one that is not, and for
// one whose server no longer answers.
func TestExplain(t *testing.T) {
	t.Parallel()
	explain := func(answer any, number int32) error {
		db := sql.OpenDB(oneAnswer{answer})
		defer func() { must(t, db.Close()) }()
		m := &Migration{DB: db}
		why := sqlserver.Error{Number: number, Message: "no"}
		why.All = []sqlserver.Error{{Number: 262, Message: "not you"}, why}
		return m.explain(t.Context(), &BatchError{Step: "step", Err: why})
	}
	for _, number := range []int32{229, 230, 262, 297, 300, 2759, 2760, 15151, 15247} {
		if err := explain(int64(0), number); !errors.Is(err, ErrPermission) || !strings.Contains(err.Error(), "not you") || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %d of a login that is not an owner: %v, want ErrPermission with its cause in one line", number, err)
		}
		for _, answer := range []any{int64(1), io.ErrUnexpectedEOF} {
			if _, same := explain(answer, number).(*BatchError); !same { //nolint:errorlint // it must not be wrapped
				t.Errorf("error %d is explained although the server answers %v", number, answer)
			}
		}
	}
	if err := explain(int64(0), 1205); errors.Is(err, ErrPermission) {
		t.Errorf("a deadlock is %v", err)
	}
	must(t, (&Migration{}).explain(t.Context(), nil))
}

// oneAnswer is a server that answers every query by one value, or fails with it.
type oneAnswer struct{ value any }

func (a oneAnswer) Connect(context.Context) (driver.Conn, error) { return a, nil }
func (a oneAnswer) Driver() driver.Driver                        { return nil }
func (a oneAnswer) Prepare(string) (driver.Stmt, error)          { return nil, errors.ErrUnsupported }

func (a oneAnswer) Begin() (driver.Tx, error) { return nil, errors.ErrUnsupported }
func (a oneAnswer) Close() error              { return nil }

// CheckNamedValue implements [driver.NamedValueChecker]: arguments are of the real driver's types.
func (a oneAnswer) CheckNamedValue(*driver.NamedValue) error { return nil }

// QueryContext implements [driver.QueryerContext].
func (a oneAnswer) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	if err, failed := a.value.(error); failed {
		return nil, err
	}
	return &oneRow{value: a.value}, nil
}

// oneRow is a result of one row and column.
type oneRow struct {
	value any
	read  bool
}

func (r *oneRow) Columns() []string { return []string{"is_owner"} }
func (r *oneRow) Close() error      { return nil }

func (r *oneRow) Next(dest []driver.Value) error {
	if r.read {
		return io.EOF
	}
	dest[0], r.read = r.value, true
	return nil
}

// TestUnreadable has a login that may not read modules told so, rather than that they were all edited.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	read, hidden := storedModule{checksum: []byte{1}}, storedModule{}
	for name, test := range map[string]struct {
		recorded bool
		stored   map[string]storedModule
		want     bool
	}{
		"no schema":        {false, nil, false},
		"all read":         {true, map[string]storedModule{"a": read, "b": read}, false},
		"one encrypted":    {true, map[string]storedModule{"a": read, "b": hidden}, false},
		"nothing readable": {true, map[string]storedModule{"a": hidden, "b": hidden}, true},
		"nothing shown":    {true, nil, true},
	} {
		if got := (&state{recorded: test.recorded, stored: test.stored}).isUnreadable(); got != test.want {
			t.Errorf("%s: unreadable is %t", name, got)
		}
	}
	err := (&Migration{Schema: "it's"}).forbidden(errUnreadable)
	if !errors.Is(err, ErrPermission) || !errors.Is(err, errUnreadable) || !strings.Contains(err.Error(), "[it's]") {
		t.Errorf("%v; want one that matches ErrPermission and names the schema", err)
	}
}

// TestOnlyAnOwnerMigrates asks for every part of a migration with a login that has no rights, and finds nothing made.
func TestOnlyAnOwnerMigrates(t *testing.T) {
	t.Parallel()
	owner, other := newMigration(t, releaseOne.load(t)), newMigration(t, releaseOne.load(t))
	up(t, owner)
	_, db := newLogin(t)
	stranger := func(m *Migration) *Migration { return &Migration{DB: db, Schema: m.Schema, release: m.release} }

	done, err := stranger(other).Up(t.Context())
	if !errors.Is(err, ErrPermission) || !strings.Contains(err.Error(), "member of db_owner") || !done.Empty() {
		t.Errorf("Up: %v after %v, want ErrPermission and nothing done", err, done)
	}
	plan, err := other.Plan(t.Context())
	must(t, err)
	if plan.Empty() {
		t.Error("Up without rights has made the schema")
	}
	// Where a stranger sees the schema at all, it may not look into it.
	_, err = stranger(owner).Status(t.Context())
	if err != nil && !errors.Is(err, ErrPermission) {
		t.Errorf("Status: %v, want ErrPermission", err)
	}
	clean(t, owner)
}
