package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

// Migration is the migration of the database's schema. log is told of each step.
func (d *Database) Migration(log *slog.Logger) *migrate.Migration {
	return &migrate.Migration{DB: d.db, Schema: d.schema, Log: log}
}

// Instances counts the instances in the schema; a schema that was made by half has none.
func (d *Database) Instances(ctx context.Context) (n int64, err error) {
	made, err := d.queries.HasInstances(ctx, mssqldb.HasInstancesParams{Schema: d.schema})
	if err != nil || made == 0 {
		return 0, err
	}
	return d.queries.CountInstances(ctx)
}

// Scratch is a store in a schema that exists only as long as the store is open.
type Scratch struct {
	*Store

	login   Login
	address Address
	drop    func() error
}

// OpenScratch makes a schema beside that of the address, whose name ends in a label, and
// opens the store in it. The schema is removed when the store is closed, so it must not
// exist before: the error then matches [ErrTaken], and the schema is left as it is.
func OpenScratch(ctx context.Context, login Login, address Address, label string) (*Scratch, error) {
	schema, err := address.Schema()
	if err != nil {
		return nil, err
	}
	address, err = address.WithSchema(schema + "_" + strings.ReplaceAll(label, "-", "_"))
	if err != nil {
		return nil, err
	}
	d, err := Connect(ctx, login, address)
	if err != nil {
		return nil, err
	}
	drop, err := d.makeScratch(ctx)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	store, err := Open(ctx, login, address)
	if err != nil {
		return nil, errors.Join(err, drop(), d.Close())
	}
	return &Scratch{store, login, address, func() error { return errors.Join(drop(), d.Close()) }}, nil
}

// makeScratch makes the database's schema, and returns what removes it again.
func (d *Database) makeScratch(ctx context.Context) (drop func() error, err error) {
	if err := d.mustBeFree(ctx); err != nil {
		return nil, err
	}
	m := d.Migration(nil)
	// Also when the run was interrupted: nobody would look for what it left behind.
	drop = func() error {
		_, err := m.Drop(context.WithoutCancel(ctx))
		return err
	}
	done, err := m.Up(ctx)
	switch made := makesSchema(done); {
	case err != nil && made:
		return nil, errors.Join(err, drop())
	case err != nil:
		return nil, err
	case !made: // by somebody else, since we looked
		return nil, taken(m.Schema)
	}
	return drop, nil
}

// mustBeFree refuses a schema that exists, whoever made it.
func (d *Database) mustBeFree(ctx context.Context) error {
	found, err := d.queries.FindSchema(ctx, mssqldb.FindSchemaParams{Schema: d.schema})
	if err != nil {
		return fmt.Errorf("looking for schema %s: %w", quote(d.schema), err)
	}
	if found.SchemaID != nil {
		return taken(d.schema)
	}
	return nil
}

// makesSchema tells whether the steps have made the schema. The migrator looks and makes
// it under one lock, so of two runs at a time one has.
func makesSchema(done *migrate.Plan) bool {
	return slices.ContainsFunc(done.Steps, func(s migrate.Step) bool { return s.Action == migrate.ActionCreate })
}

// ErrTaken is a schema that should be made and then removed, and that already exists.
var ErrTaken = errors.New("the schema for a temporary store already exists")

func taken(schema string) error {
	return fmt.Errorf("%w: %s belongs to a run that was interrupted, to a run that is still going on, or to somebody else; if nobody needs it, "+
		"remove it with `duroxide migrate drop --yes` on a --store with that schema, otherwise measure with another schema",
		ErrTaken, quote(schema))
}

// Renew closes the store and opens it again, over new connections.
func (s *Scratch) Renew(ctx context.Context) error {
	store, err := Open(ctx, s.login, s.address)
	if err != nil {
		return err
	}
	old := s.Store
	s.Store = store
	return old.Close()
}

// Close closes the store and removes the schema.
func (s *Scratch) Close() error { return errors.Join(s.Store.Close(), s.drop()) }
