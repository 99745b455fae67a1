package run_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/shopspring/decimal"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/render/livetest/livedb"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/render/livetest/tvpdb"
)

// What a server does only now and then is told by a driver that follows a script: errors in the middle of a response, a
// context that ends, sets that nobody expects. It also notices what every call has to leave behind: closed rows.

// A reply is what the scripted driver answers to any call.
type reply struct {
	sets []answer
	err  error // behind the last set
}

// An answer is a result set, and what ends it.
type answer struct {
	columns []string
	rows    [][]driver.Value
	err     error
	ended   func() // is called at its end, if set
}

// scripted opens a database that gives one reply to every call, and fails the test if rows stay open.
func scripted(t *testing.T, r reply) (*sql.DB, *script) {
	t.Helper()
	s := &script{reply: r}
	db := sql.OpenDB(s)
	t.Cleanup(func() {
		if n := db.Stats().InUse; n != 0 {
			t.Errorf("%d connections are still in use", n)
		}
		if opened, closed := s.counts(); opened != closed {
			t.Errorf("%d of %d rows were closed", closed, opened)
		}
		db.Close()
	})
	return db, s
}

// A script is the connector, the driver, its connection and its transaction in one.
type script struct {
	reply
	mu             sync.Mutex
	opened, closed int
	texts          []string // what was called
}

func (s *script) counts() (opened, closed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened, s.closed
}

func (s *script) Connect(context.Context) (driver.Conn, error) { return s, nil }
func (s *script) Driver() driver.Driver                        { return s }
func (s *script) Open(string) (driver.Conn, error)             { return s, nil }
func (s *script) Prepare(string) (driver.Stmt, error)          { return nil, errors.ErrUnsupported }
func (s *script) Close() error                                 { return nil }
func (s *script) Begin() (driver.Tx, error)                    { return s, nil }
func (s *script) Commit() error                                { return nil }
func (s *script) Rollback() error                              { return nil }
func (s *script) CheckNamedValue(v *driver.NamedValue) error {
	if _, ok := v.Value.(*mssql.ReturnStatus); ok {
		return driver.ErrRemoveArgument
	}
	return nil
}

func (s *script) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	if text == "sp_executesql" {
		text = fmt.Sprint(args[0].Value)
	}
	s.texts = append(s.texts, text)
	return &scriptedRows{ctx: ctx, script: s}, nil
}

// scriptedRows walk through a reply, as long as their context lasts.
type scriptedRows struct {
	ctx      context.Context //nolint:containedctx // as a driver's rows have it
	script   *script
	set, row int
}

func (r *scriptedRows) Columns() []string {
	if r.set < len(r.script.sets) {
		return r.script.sets[r.set].columns
	}
	return nil
}

func (r *scriptedRows) Close() error {
	r.script.mu.Lock()
	defer r.script.mu.Unlock()
	r.script.closed++
	return nil
}

func (r *scriptedRows) Next(dest []driver.Value) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if r.set >= len(r.script.sets) {
		return r.script.end()
	}
	set := r.script.sets[r.set]
	if r.row < len(set.rows) {
		copy(dest, set.rows[r.row])
		r.row++
		return nil
	}
	if set.err != nil {
		return set.err
	}
	if set.ended != nil {
		set.ended()
	}
	if !r.HasNextResultSet() {
		return r.script.end()
	}
	return io.EOF
}

func (s *script) end() error {
	if s.err != nil {
		return s.err
	}
	return io.EOF
}

func (r *scriptedRows) HasNextResultSet() bool { return r.set+1 < len(r.script.sets) }

func (r *scriptedRows) NextResultSet() error {
	if !r.HasNextResultSet() {
		return io.EOF
	}
	r.set, r.row = r.set+1, 0
	return nil
}

// The sets of gen_live.count_to: a title, then numbers.
func title(rows ...[]driver.Value) answer { return answer{columns: []string{"TITLE"}, rows: rows} }

func numbers(n int) answer {
	set := answer{columns: []string{"n"}}
	for i := range n {
		set.rows = append(set.rows, []driver.Value{int64(i + 1)})
	}
	return set
}

var heading = []driver.Value{"head"}

// errServer is what the server reports: a number with a meaning, followed by one without.
var errServer = mssql.Error{Number: 266, Message: "counts differ", All: []mssql.Error{{Number: 50010, Message: "gone"}, {Number: 266}}}

func TestStreamPaths(t *testing.T) {
	t.Parallel()
	broken := numbers(2)
	broken.err = errServer
	torn := numbers(1)
	torn.rows = append(torn.rows, []driver.Value{"secret"}, []driver.Value{int64(3)})
	for name, c := range map[string]struct {
		reply reply
		rows  int   // that the loop sees
		want  error // that it ends with
	}{
		"all is well":                      {reply{sets: []answer{title(heading), numbers(3)}}, 3, nil},
		"an error in front of the rows":    {reply{err: errServer}, 0, livedb.ErrLockLost},
		"an error among the rows":          {reply{sets: []answer{title(heading), broken}}, 2, livedb.ErrLockLost},
		"an error behind the rows":         {reply{sets: []answer{title(heading), numbers(2)}, err: errServer}, 2, livedb.ErrLockLost},
		"a set is missing":                 {reply{sets: []answer{title(heading)}}, 0, livedb.ErrShape},
		"nothing at all":                   {reply{}, 0, livedb.ErrShape},
		"a set too many":                   {reply{sets: []answer{title(heading), numbers(2), numbers(2)}}, 2, livedb.ErrShape},
		"a value that doesn't fit":         {reply{sets: []answer{title(heading), torn}}, 1, livedb.ErrShape},
		"no row where one was promised":    {reply{sets: []answer{title(), numbers(2)}}, 0, sql.ErrNoRows},
		"two rows where one was":           {reply{sets: []answer{title(heading, heading), numbers(2)}}, 0, livedb.ErrShape},
		"an error while draining the rest": {reply{sets: []answer{title(heading, heading), broken}}, 0, livedb.ErrLockLost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, _ := scripted(t, c.reply)
			rows := 0
			var got error
			for _, err := range livedb.New(db).CountTo(t.Context(), livedb.CountToParams{}, &livedb.CountToResult{}) {
				if got != nil {
					t.Error("the loop goes on behind an error")
				}
				if got = err; err == nil {
					rows++
				}
			}
			if rows != c.rows || !errors.Is(got, c.want) {
				t.Errorf("got %d rows and %v, want %d and %v", rows, got, c.rows, c.want)
			}
			if got != nil && (!strings.HasPrefix(got.Error(), "livedb: gen_live.count_to: ") || strings.Contains(got.Error(), "secret")) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// However a loop is left, the connection is free behind it, and a transaction goes on.
func TestStreamIsLeft(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	for name, leave := range map[string]func(){
		"a panic":                func() { panic("consumer") },
		"the end of its context": cancel,
		"a break":                nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, _ := scripted(t, reply{sets: []answer{title(heading), numbers(1000)}})
			tx := must(db.BeginTx(t.Context(), nil))(t)
			q := livedb.New(db).WithTx(tx)
			func() {
				defer func() {
					if r := recover(); r != nil && r != "consumer" {
						t.Errorf("got a panic of %v", r)
					}
				}()
				var last error
				for row, err := range q.CountTo(ctx, livedb.CountToParams{}, nil) {
					if last = err; err == nil && row.N == 2 {
						if leave == nil {
							return
						}
						leave()
					}
				}
				if !errors.Is(last, context.Canceled) {
					t.Errorf("the loop ended with %v", last)
				}
			}()
			for _, err := range q.CountTo(t.Context(), livedb.CountToParams{}, nil) {
				if err != nil {
					t.Errorf("the next call in the transaction: %v", err)
				}
			}
			if err := tx.Commit(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A context that ends between two result sets ends the call with its error, also if a call may end there. Package
// database/sql closes the rows then, and may keep the reason to itself.
func TestContextEndsBetweenSets(t *testing.T) {
	t.Parallel()
	for range 100 { // as that is a matter of chance
		ctx, cancel := context.WithCancel(t.Context())
		choice := answer{columns: []string{"chosen"}, rows: [][]driver.Value{{int64(1)}}, ended: func() {
			cancel()
			for range 20 {
				runtime.Gosched() // so that the rows can be closed before the next set
			}
		}}
		db, _ := scripted(t, reply{sets: []answer{choice, numbers(3)}})
		got, err := livedb.New(db).Flow(ctx, livedb.FlowParams{Which: 1})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("got %+v and %v", got, err)
		}
	}
}

// One Queries serves many goroutines, each renamed schema in its own; go test -race has something to look at.
func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	db, s := scripted(t, reply{sets: []answer{title(heading), numbers(3)}})
	odd := livedb.WithSchema("GEN_live", "a]'; DROP TABLE x --")
	shared := livedb.New(db, odd)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for _, q := range []*livedb.Queries{shared, shared.With(db), livedb.New(db, odd)} {
				for _, err := range q.CountTo(t.Context(), livedb.CountToParams{}, nil) {
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wait.Wait()
	for _, text := range s.texts {
		if text != "[a]]'; DROP TABLE x --].[count_to]" {
			t.Errorf("called %s", text)
		}
	}
}

// A number that is 0, or has nothing but zeros behind its point, is sent as such however it is written: the exponent of
// a decimal from outside must not cost memory.
func TestDecimalsWithExponents(t *testing.T) {
	t.Parallel()
	db, s := scripted(t, reply{sets: []answer{{columns: []string{"n"}, rows: [][]driver.Value{{int64(1)}}}}})
	q := livedb.New(db)
	for _, v := range []decimal.Decimal{decimal.New(0, 1<<30), decimal.New(0, -1<<30), decimal.New(0, 0)} {
		if _, err := q.EchoTypes(t.Context(), livedb.EchoTypesParams{H: &v, I: &v, J: &v}); !errors.Is(err, livedb.ErrShape) {
			t.Errorf("got %v", err)
		}
		if _, err := q.Bounce(t.Context(), livedb.BounceParams{I: &v}); !errors.Is(err, livedb.ErrShape) {
			t.Errorf("got %v", err)
		}
		if _, err := q.SaveItems(t.Context(), livedb.SaveItemsParams{Items: []livedb.ItemListRow{{Price: &v, Cash: &v}}}); !errors.Is(err, livedb.ErrShape) {
			t.Errorf("got %v", err)
		}
	}
	if len(s.texts) != 9 {
		t.Errorf("%d calls were sent", len(s.texts))
	}
}

// A schema that is misspelt in WithSchema would leave every call in the one that was to be replaced, another tenant's
// perhaps. Nothing is sent.
func TestSchemaThatNothingIsIn(t *testing.T) {
	t.Parallel()
	db, s := scripted(t, reply{sets: []answer{{columns: []string{"n"}, rows: [][]driver.Value{{int64(1)}}}}})
	q := livedb.New(db, livedb.WithSchema("gen_lvie", "tenant_7"))
	const want = `livedb: WithSchema: no procedure, table type or query is in a schema "gen_lvie"`
	if _, err := q.EchoTypes(t.Context(), livedb.EchoTypesParams{}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if len(s.texts) != 0 {
		t.Errorf("%d calls were sent", len(s.texts))
	}
}

// Nothing of a :batch is sent if an element in a later round trip doesn't fit.
func TestBatchIsCheckedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	db, s := scripted(t, reply{})
	list := make([]livedb.AddItemsParams, 2500)
	list[2400].Name = strings.Repeat("x", 51)
	_, err := livedb.New(db).AddItems(t.Context(), list)
	if !errors.Is(err, livedb.ErrArgument) || !strings.Contains(err.Error(), "element 2400: @name has 51") || len(s.texts) != 0 {
		t.Errorf("got %v behind %d round trips", err, len(s.texts))
	}
}

// The driver drops brackets from the name of a table type: what would become another name is refused.
func TestTypeNamesThatTheDriverMistakes(t *testing.T) {
	t.Parallel()
	db, s := scripted(t, reply{})
	for _, schema := range []string{"a]b", "a[b", "a.b"} {
		_, err := tvpdb.New(db, tvpdb.WithSchema("gen_live", schema)).EchoIDs(t.Context(), tvpdb.EchoIDsParams{})
		if !errors.Is(err, tvpdb.ErrArgument) || len(s.texts) != 0 {
			t.Errorf("%s: got %v", schema, err)
		}
	}
	// As a document it can be sent.
	q := livedb.New(db, livedb.WithSchema("gen_live", "a]b"))
	if _, err := q.EchoIDs(t.Context(), livedb.EchoIDsParams{}); !errors.Is(err, livedb.ErrShape) || len(s.texts) != 1 {
		t.Errorf("got %v behind %v", err, s.texts)
	}
}
