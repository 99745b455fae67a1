package interleave

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// databaseOf is a player as connections of database/sql, for Go code that the scheduler is to interrupt at each
// statement. There is but one session behind them, so one is open at a time.
func databaseOf(p *tsqltest.Player) *sql.DB { return sql.OpenDB(connector{p}) }

type connector struct{ player *tsqltest.Player }

func (c connector) Connect(context.Context) (driver.Conn, error) { return &connection{c.player}, nil }
func (c connector) Driver() driver.Driver                        { return nil }

type connection struct{ player *tsqltest.Player }

func (c *connection) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (c *connection) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }

// Close gives up what ends with a session: its transaction, its application locks and its options.
func (c *connection) Close() error {
	_, err := c.player.Exec(`IF @@TRANCOUNT > 0
    ROLLBACK TRANSACTION;
SET LOCK_TIMEOUT -1;
DECLARE @name NVARCHAR(255) = N'duroxide migration of duroxide';
IF APPLOCK_MODE('public', @name, 'Session') <> 'NoLock'
    EXEC sp_releaseapplock @Resource = @name, @LockOwner = 'Session';`)
	return err
}

func (c *connection) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	_, err := c.player.Exec("BEGIN TRANSACTION;") //nolint:contextcheck // the schedule has one
	return transaction{c.player}, numbered(err)
}

type transaction struct{ player *tsqltest.Player }

func (t transaction) Commit() error {
	_, err := t.player.Exec("COMMIT TRANSACTION;")
	return numbered(err)
}

func (t transaction) Rollback() error {
	_, err := t.player.Exec("IF @@TRANCOUNT > 0\n    ROLLBACK TRANSACTION;")
	return numbered(err)
}

func (c *connection) ExecContext(_ context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	_, err := c.call(query, args) //nolint:contextcheck // the schedule has one
	return driver.ResultNoRows, err
}

func (c *connection) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	r, err := c.call(query, args) //nolint:contextcheck // the schedule has one
	if err != nil {
		return nil, err
	}
	return &resultSets{sets: r.Sets}, nil
}

// call executes a batch, or a procedure if the text is a name. The parameters of a batch are numbered.
func (c *connection) call(query string, args []driver.NamedValue) (r *tsqltest.Result, err error) {
	list := make([]tsqltest.Arg, len(args))
	types := make([]string, len(args))
	for i, a := range args {
		list[i] = tsqltest.Arg{Name: a.Name, Value: a.Value}
		types[i] = fmt.Sprintf("@p%d %s", a.Ordinal, map[bool]string{true: "NVARCHAR(4000)", false: "BIGINT"}[isText(a.Value)])
	}
	switch {
	case !strings.ContainsAny(query, " \n"):
		r, err = c.player.Call(query, list...)
	case len(args) > 0:
		r, err = c.player.Call("sp_executesql", append([]tsqltest.Arg{{Value: query}, {Value: strings.Join(types, ", ")}}, list...)...)
	default:
		r, err = c.player.Exec(query)
	}
	return r, numbered(err)
}

func isText(v any) bool {
	_, is := v.(string)
	return is
}

// numbered is an error of the server as drivers give it.
func numbered(err error) error {
	if e, ok := errors.AsType[*tsqltest.Error](err); ok {
		return serverError{e}
	}
	return err
}

type serverError struct{ cause *tsqltest.Error }

func (e serverError) Error() string         { return e.cause.Error() }
func (e serverError) Unwrap() error         { return e.cause }
func (e serverError) SQLErrorNumber() int32 { return e.cause.Number }

// resultSets are what a call has returned.
type resultSets struct {
	sets []tsqltest.Set
	at   int // the next row of the first
}

func (r *resultSets) Columns() []string {
	if len(r.sets) == 0 {
		return nil
	}
	return r.sets[0].Columns
}

func (r *resultSets) Close() error { return nil }

func (r *resultSets) Next(dest []driver.Value) error {
	if len(r.sets) == 0 || r.at == len(r.sets[0].Rows) {
		return io.EOF
	}
	for i, v := range r.sets[0].Rows[r.at] {
		dest[i] = v
	}
	r.at++
	return nil
}

func (r *resultSets) HasNextResultSet() bool { return len(r.sets) > 1 }

func (r *resultSets) NextResultSet() error {
	if !r.HasNextResultSet() {
		return io.EOF
	}
	r.sets, r.at = r.sets[1:], 0
	return nil
}
