package mssqltest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

const (
	// makers is how many schemas are made at once. A server makes them one after the other, more or less.
	makers = 2
	// lockPatience is how long emptying a schema waits for locks, in milliseconds. Only what the test has left
	// running holds any.
	lockPatience = 30_000
	// pooledConnections is how many connections a pooled schema has, all of which it keeps: a new one costs a login,
	// and there may be dozens of such schemas.
	pooledConnections = 4
)

// pooled is a schema and the connections to use it with.
type pooled struct {
	name string
	db   *sql.DB
}

// pool holds schemas that are ready to be used.
type pool struct {
	mu sync.Mutex
	// all are the schemas that were made and not dropped, free those that no test is using.
	all, free []pooled
	// released has room for one: a schema may be free.
	released chan struct{}
	// making has an element for each schema that is being made.
	making chan struct{}
	once   sync.Once
}

// Pooled is an empty schema with everything in it that the store needs, and connections to its database, as its owner,
// which are not to be closed. When the test ends the schema's tables are emptied, all but those that say what was
// migrated, and another test gets it, with the connections. A test that leaves
// statements running on the server, because it breaks connections, or that creates, alters or drops something wants
// [NewSchema] instead.
//
// Whatever the test opens on the schema it has to open afterwards, so that it is closed when the schema is emptied.
func Pooled(t testing.TB) (db *sql.DB, schema string) {
	t.Helper()
	dsn := DSN(t)
	one, err := process.schemas.take(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), migrationPatience)
		defer cancel()
		if err := process.schemas.put(ctx, one); err != nil {
			t.Error(err)
		}
	})
	return one.db, one.name
}

// start makes the channels, once, so that the zero value is ready to be used.
func (p *pool) start() {
	p.once.Do(func() {
		p.released = make(chan struct{}, 1)
		p.making = make(chan struct{}, makers)
	})
}

// take returns a free schema or makes one, whichever is sooner.
func (p *pool) take(ctx context.Context, dsn string) (pooled, error) {
	p.start()
	for {
		if one, ok := p.pop(); ok {
			return one, nil
		}
		select {
		case <-p.released:
			// Perhaps somebody else was faster.
		case p.making <- struct{}{}:
			return p.create(ctx, dsn)
		case <-ctx.Done():
			return pooled{}, ctx.Err()
		}
	}
}

// pop takes a free schema. What is free after that is announced again: one notice may stand for several schemas.
func (p *pool) pop() (pooled, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.free) - 1
	if last < 0 {
		return pooled{}, false
	}
	one := p.free[last]
	p.free = p.free[:last]
	if last > 0 {
		p.announce()
	}
	return one, true
}

func (p *pool) announce() {
	select {
	case p.released <- struct{}{}:
	default: // a notice is already there
	}
}

// create makes another schema.
func (p *pool) create(ctx context.Context, dsn string) (pooled, error) {
	defer func() { <-p.making }()
	db, err := sql.Open("sqlserver", dsn)
	if err != nil {
		return pooled{}, err
	}
	db.SetMaxOpenConns(pooledConnections)
	db.SetMaxIdleConns(pooledConnections)
	one := pooled{name: Name(), db: db}
	p.mu.Lock()
	p.all = append(p.all, one) // to be dropped, also when it was made by half only
	p.mu.Unlock()
	if err := up(ctx, db, one.name); err != nil {
		return pooled{}, fmt.Errorf("making schema %s: %w", one.name, err)
	}
	return one, nil
}

// put empties a schema and lets others have it. One that cannot be emptied is used no more.
func (p *pool) put(ctx context.Context, one pooled) error {
	if err := empty(ctx, one.db, one.name); err != nil {
		return fmt.Errorf("emptying schema %s after the test, which may have left a transaction open: %w", one.name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, one)
	p.announce()
	return nil
}

// empty deletes the rows of all tables but those that say what was migrated. The order does not matter, as there are no
// foreign keys and nobody else is there.
func empty(ctx context.Context, db *sql.DB, schema string) error {
	tables, err := column(ctx, db, `
		SELECT t.name
		FROM sys.tables AS t
		INNER JOIN sys.schemas AS s ON s.schema_id = t.schema_id
		WHERE s.name = @p1
		  AND t.name NOT IN (N'migrations', N'modules', N'revisions')
		ORDER BY t.name`, schema)
	if err != nil {
		return err
	}
	if len(tables) == 0 {
		return errors.New("it has no tables")
	}
	var batch strings.Builder
	// The connection goes back to its pool, which resets it before its next use.
	fmt.Fprintf(&batch, "SET NOCOUNT ON; SET XACT_ABORT ON; SET LOCK_TIMEOUT %d;\n", lockPatience)
	for _, table := range tables {
		fmt.Fprintf(&batch, "DELETE FROM %s.%s;\n", migrate.Quote(schema), migrate.Quote(table))
	}
	_, err = db.ExecContext(ctx, batch.String())
	return err
}

// close closes the connections of all schemas, and drops these before if it shall, several at once.
func (p *pool) close(ctx context.Context, dropping bool) error {
	p.mu.Lock()
	all := p.all
	p.all, p.free = nil, nil
	p.mu.Unlock()
	var (
		group    sync.WaitGroup
		turns    = make(chan struct{}, makers)
		problems = make([]error, len(all))
	)
	for i, one := range all {
		turns <- struct{}{}
		group.Go(func() {
			defer func() { <-turns }()
			if dropping {
				problems[i] = drop(ctx, one.db, one.name)
			}
			problems[i] = errors.Join(problems[i], one.db.Close())
		})
	}
	group.Wait()
	return errors.Join(problems...)
}

// closeTime bounds how long close may take.
func (p *pool) closeTime() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Minute + time.Duration(len(p.all))*5*time.Second
}
