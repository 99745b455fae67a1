package client_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// letters is what a Reader reads: two of them.
var (
	letters = orchestration.NewQueue[string]("letters")
	reader  = orchestration.New("Reader", func(ctx *orchestration.Context, _ string) ([]string, error) {
		return orchestration.Join(letters.Dequeue(ctx), letters.Dequeue(ctx))
	})
)

// shop is an application with a table of its own in the store's database.
type shop struct {
	store  provider.Provider
	db     *sql.DB
	orders string
}

// shops are on each store that takes part in a caller's transaction.
var shops = map[string]func(t *testing.T) shop{
	"sqlite": func(t *testing.T) shop {
		path := filepath.Join(t.TempDir(), "shop.db")
		store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(5000)")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(db.Close(), store.Close()); err != nil {
				t.Error(err)
			}
		})
		return shop{store: store, db: db, orders: "orders"}
	},
	"mssql": func(t *testing.T) shop {
		db, schema := mssqltest.Pooled(t)
		store, err := mssql.New(db, mssql.Options{Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
		return shop{store: store, db: db, orders: "dbo.[" + mssqltest.Name() + "]"}
	},
}

func eachShop(t *testing.T, test func(t *testing.T, s shop)) {
	t.Helper()
	for name, open := range shops {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			s.exec(t, s.db, "CREATE TABLE "+s.orders+" (id VARCHAR(100) NOT NULL PRIMARY KEY)")
			t.Cleanup(func() { s.exec(t, s.db, "DROP TABLE "+s.orders) })
			test(t, s)
		})
	}
}

// executor is a *sql.DB or a *sql.Tx.
type executor interface {
	ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error)
}

func (s shop) exec(t *testing.T, db executor, statement string) {
	t.Helper()
	if _, err := db.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
		t.Fatal(err)
	}
}

// place stores an order in a transaction.
func (s shop) place(t *testing.T, order string) *sql.Tx {
	t.Helper()
	// Not the context of the test, which ends before the cleanup: the driver does not wait for the answer to a rollback
	// whose context has ended, and another call may have the connection when it comes.
	tx, err := s.db.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	s.exec(t, tx, "INSERT INTO "+s.orders+" (id) VALUES ('"+order+"')")
	return tx
}

func (s shop) wantOrders(t *testing.T, want int) {
	t.Helper()
	var n int
	if err := s.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+s.orders).Scan(&n); err != nil || n != want {
		t.Errorf("%d orders, %v; want %d", n, err, want)
	}
}

func commit(t *testing.T, tx *sql.Tx) {
	t.Helper()
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// A start and messages are the caller's transaction (client.InTx): what it commits happens, and
// workers notice by polling; what it rolls back never was.
func TestInTx(t *testing.T) {
	t.Parallel()
	eachShop(t, func(t *testing.T, s shop) {
		c := client.New(s.store, client.Options{})
		work(t, s.store, reader)
		tx := s.place(t, "undone")
		if _, err := client.Start(t.Context(), c, reader, "undone", "", client.InTx(tx)); err != nil {
			t.Fatal(err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		s.wantOrders(t, 0)
		tx = s.place(t, "done")
		run, err := client.Start(t.Context(), c, reader, "done", "", client.InTx(tx), client.WithMessage(letters, "a"))
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Enqueue(t.Context(), c, letters, "done", "b", client.InTx(tx)); err != nil {
			t.Fatal(err)
		}
		commit(t, tx)
		got, err := run.Wait(deadline(t))
		if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" || err != nil {
			t.Errorf("letters: %v (-want +got)\n%s", err, diff)
		}
		s.wantOrders(t, 1)
		if status, err := c.Status(t.Context(), "undone"); err != nil || status.State != client.NotFound {
			t.Errorf("what was rolled back is %v, %v", status.State, err)
		}
	})
}

// A start in a transaction is told of a used id like any other, and goes on with the transaction.
func TestInTxStartOfAUsedID(t *testing.T) {
	t.Parallel()
	eachShop(t, func(t *testing.T, s shop) {
		c := client.New(s.store, client.Options{})
		if _, err := client.Start(t.Context(), c, reader, "i", ""); err != nil {
			t.Fatal(err)
		}
		tx := s.place(t, "i")
		_, err := client.Start(t.Context(), c, reader, "i", "", client.InTx(tx))
		if used := new(client.AlreadyExistsError); !errors.As(err, &used) || used.State != client.Queued {
			t.Errorf("got %v", err)
		}
		_, err = client.Start(t.Context(), c, reader, "i", "", client.InTx(tx), client.ReplaceFinished())
		if !errors.Is(err, provider.ErrInvalidArgument) {
			t.Errorf("replacing: %v", err)
		}
		if _, err = client.Start(t.Context(), c, reader, "i", "", client.InTx(tx), client.UseExisting(),
			client.WithMessage(letters, "a"), client.WithMessage(letters, "b")); err != nil {
			t.Error(err)
		}
		commit(t, tx)
		s.wantOrders(t, 1)
		work(t, s.store, reader)
		if _, err := client.Attach[[]string](c, "i").Wait(deadline(t)); err != nil {
			t.Error(err)
		}
	})
}

// A transaction may demand an instance that it has started itself, and one that it has not started is missing.
func TestInTxMustExist(t *testing.T) {
	t.Parallel()
	eachShop(t, func(t *testing.T, s shop) {
		c := client.New(s.store, client.Options{})
		tx := s.place(t, "i")
		if _, err := client.Start(t.Context(), c, reader, "i", "", client.InTx(tx)); err != nil {
			t.Fatal(err)
		}
		within := deadline(t) // which a wait for its own locks would use up
		for _, letter := range []string{"a", "b"} {
			if err := client.Enqueue(within, c, letters, "i", letter, client.InTx(tx), client.MustExist()); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Cancel(within, "other", "", client.InTx(tx), client.MustExist()); !errors.Is(err, client.ErrNoInstance) {
			t.Errorf("an instance that is not there: %v", err)
		}
		commit(t, tx)
		s.wantOrders(t, 1)
		work(t, s.store, reader)
		got, err := client.Attach[[]string](c, "i").Wait(deadline(t))
		if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" || err != nil {
			t.Errorf("%v; letters (-want +got):\n%s", err, diff)
		}
		tx = s.place(t, "ii")
		if err := c.Cancel(within, "i", "", client.InTx(tx), client.MustExist()); !errors.Is(err, client.ErrEnded) {
			t.Errorf("an instance that has ended: %v", err)
		}
	})
}

// Who cannot take part says so, and nothing is sent.
func TestInTxUnsupported(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) provider.Provider{
		"store in memory": openStore,
		"other store":     func(t *testing.T) provider.Provider { return plain{openStore(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := client.New(open(t), client.Options{})
			db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "other.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback() }()
			if _, err := client.Start(t.Context(), c, reader, "i", "", client.InTx(tx)); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("start: %v", err)
			}
			if err := c.Cancel(t.Context(), "i", "why", client.InTx(tx)); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("cancel: %v", err)
			}
		})
	}
}

// Messages come with the start (client.WithMessage), also to an instance that is replaced or
// used, and on a store that takes one step after the other.
func TestWithMessage(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) provider.Provider{
		"one step":   openStore,
		"some steps": func(t *testing.T) provider.Provider { return plain{openStore(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t)
			c := client.New(store, client.Options{})
			both := []client.StartOption{client.WithMessage(letters, "a"), client.WithMessage(letters, "b")}
			work(t, store, reader)
			for range 2 {
				run, err := client.Start(t.Context(), c, reader, "i", "", append(both, client.ReplaceFinished())...)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := run.Wait(deadline(t)); err != nil || len(got) != 2 {
					t.Errorf("%v, %v", got, err)
				}
			}
			if _, err := client.Start(t.Context(), c, reader, "used", "", both[0]); err != nil {
				t.Fatal(err)
			}
			run, err := client.Start(t.Context(), c, reader, "used", "", both[1], client.UseExisting())
			if err != nil {
				t.Fatal(err)
			}
			if got, err := run.Wait(deadline(t)); err != nil || len(got) != 2 {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

type unreadable struct{}

func (unreadable) MarshalJSON() ([]byte, error) { return nil, errors.New("no JSON") }

// A message without JSON starts nothing.
func TestWithMessageRefused(t *testing.T) {
	t.Parallel()
	c := client.New(openStore(t), client.Options{})
	bad := client.WithMessage(orchestration.NewQueue[unreadable]("q"), unreadable{})
	if _, err := client.Start(t.Context(), c, reader, "i", "", bad); err == nil {
		t.Error("it was started")
	}
	if _, err := client.Start(t.Context(), c, reader, "i", ""); err != nil {
		t.Error(err)
	}
}
