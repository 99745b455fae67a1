package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"

	"github.com/duroxide/duroxide-go/internal/migrate"
	scripts "github.com/duroxide/duroxide-go/sql"
)

// Migration is the migration of the database's schema. log is told of each step.
func (d *Database) Migration(log *slog.Logger) (*migrate.Migration, error) {
	loaded, err := migrate.Load(scripts.MSSQLScripts())
	if err != nil {
		return nil, err
	}
	return &migrate.Migration{DB: d.db, Schema: d.address.Schema(), Scripts: loaded, Log: log}, nil
}

// Instances counts the instances in the schema; a schema that was made by half has none.
func (d *Database) Instances(ctx context.Context) (n int64, err error) {
	schema := d.address.Schema()
	const query = "SELECT COUNT(*) FROM sys.tables AS t WHERE t.schema_id = SCHEMA_ID(@p1) AND t.name = N'instances'"
	if err := d.db.QueryRowContext(ctx, query, schema).Scan(&n); err != nil || n == 0 {
		return 0, err
	}
	err = d.db.QueryRowContext(ctx, "SELECT COUNT_BIG(*) FROM "+quote(schema)+".instances AS i").Scan(&n)
	return n, err
}

// Export writes what makes a schema, as one script for SQL Server. It needs no server.
func Export(w io.Writer, schema string) error {
	if err := migrate.CheckSchemaName(schema); err != nil {
		return err
	}
	loaded, err := migrate.Load(scripts.MSSQLScripts())
	if err != nil {
		return err
	}
	return loaded.Export(w, schema)
}

// Scratch is a store in a schema that exists only as long as the store is open.
type Scratch struct {
	*Store

	address Address
	drop    func() error
}

// OpenScratch makes a schema beside that of the address, whose name ends in a label, and
// opens the store in it.
func OpenScratch(ctx context.Context, address Address, label string) (*Scratch, error) {
	address = address.WithSchema(address.Schema() + "_" + strings.ReplaceAll(label, "-", "_"))
	d, err := Connect(ctx, address)
	if err != nil {
		return nil, err
	}
	m, err := d.Migration(nil)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	drop := func() error {
		// Also when the run was interrupted: nobody would look for what it left behind.
		return errors.Join(m.Drop(context.WithoutCancel(ctx)), d.Close())
	}
	if _, err := m.Up(ctx); err != nil {
		return nil, errors.Join(err, drop())
	}
	store, err := Open(ctx, address)
	if err != nil {
		return nil, errors.Join(err, drop())
	}
	return &Scratch{store, address, drop}, nil
}

// Renew closes the store and opens it again, over new connections.
func (s *Scratch) Renew(ctx context.Context) error {
	store, err := Open(ctx, s.address)
	if err != nil {
		return err
	}
	old := s.Store
	s.Store = store
	return old.Close()
}

// Close closes the store and removes the schema.
func (s *Scratch) Close() error { return errors.Join(s.Store.Close(), s.drop()) }
