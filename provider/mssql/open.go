package mssql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"

	sqlserver "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

// openOperation labels the errors of opening.
const openOperation = "open"

// Open connects to a database and checks that its schema is the one that this program needs. With Options.AutoMigrate
// it creates or migrates the schema.
//
// The connection string has one of the driver's forms, with the driver's parameters:
//
//	sqlserver://user:password@host:1433?database=name&encrypt=true
//	server=host,1433;user id=user;password=...;database=name;encrypt=true
//	odbc:server=host;port=1433;user id=user;password={...};database=name
//
// It may also contain schema=name, which sets Options.Schema. A URL may begin with mssql://. Its path is the name of
// the database if the URL has no parameter database, and has a port or a host that ends in .database.windows.net.
//
// Errors are [*provider.Error] values whose text says what to do. They match one of this package's sentinels where
// one fits; [provider.ErrInvalidArgument] for a connection string or options that cannot be used; and the context's
// error if the context ended, or [ErrUnreachable] if its deadline passed before there was a connection. They never
// contain the connection string. Open tries for a minute to reach a database in Azure that resumes after a pause or
// moves (error 40613), unless ctx ends first, and any other server once; to wait for that, call it again while
// [provider.IsRetryable].
func Open(ctx context.Context, dsn string, options Options) (*Store, error) {
	return OpenWith(ctx, dsn, options, connector)
}

// connector connects with the driver's own logins.
func connector(dsn string) (driver.Connector, error) {
	config, err := msdsn.Parse(dsn)
	if err != nil {
		return nil, err
	}
	if workflow := config.Parameters["fedauth"]; workflow != "" {
		return nil, invalid("the connection string asks for a login by Entra ID (fedauth): open it with the module " +
			"github.com/duroxide/duroxide-go/provider/mssql/azuread")
	}
	return sqlserver.NewConnectorConfig(config), nil
}

// OpenWith is like [Open] for connections that are made in another way, for example with Entra ID (package azuread)
// or through a tunnel. connect receives the connection string in a form that the driver understands.
func OpenWith(
	ctx context.Context, dsn string, options Options, connect func(dsn string) (driver.Connector, error),
) (*Store, error) {
	parsed, err := parseDSN(dsn)
	if err != nil {
		return nil, err
	}
	settings, err := options.forOpen(parsed.schema)
	if err != nil {
		return nil, err
	}
	connector, err := connect(parsed.text)
	if err != nil {
		if known, ok := errors.AsType[*provider.Error](err); ok {
			return nil, known
		}
		return nil, invalid("the connection string cannot be used: %s", withoutValues(err))
	}
	db := openPool(givesUp(connector, parsed.keepAlive), settings)
	if err := prepare(ctx, db, settings); err != nil {
		// That closing fails too is no news.
		_ = db.Close()
		return nil, err
	}
	return assemble(db, true, settings), nil
}

// openPool makes the pool of a store's own connections. It connects when one is asked for.
func openPool(connector driver.Connector, settings Options) *sql.DB {
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(settings.MaxOpenConns)
	// As many idle ones: a connection costs several round trips and a login.
	db.SetMaxIdleConns(settings.MaxOpenConns)
	db.SetConnMaxIdleTime(settings.ConnMaxIdleTime)
	db.SetConnMaxLifetime(settings.ConnMaxLifetime)
	return db
}

// New returns a store that uses the caller's connections. The caller closes db after the store. New itself does not
// connect: problems, such as a missing schema, appear with the first call.
//
// db must use the driver of go-mssqldb under its name "sqlserver". Its sessions may be under any isolation level:
// each call runs under READ COMMITTED and leaves the level as it was, except for StartInstanceWith, which leaves
// READ COMMITTED. The settings about connections in [Options] have no effect.
//
// Error: [provider.ErrInvalidArgument] for options that cannot be used.
func New(db *sql.DB, options Options) (*Store, error) {
	settings, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	if db == nil {
		return nil, invalid("New needs a *sql.DB; to open one by its connection string call Open")
	}
	return assemble(db, false, settings), nil
}

// assemble starts what runs in the background, the poller. It ends with Close.
func assemble(db *sql.DB, ours bool, settings Options) *Store {
	p := startPoller(settings)
	return &Store{
		db: db, ours: ours, queries: mssqldb.New(db, mssqldb.WithSchema(DefaultSchema, settings.Schema)),
		schema: settings.Schema, holder: holderName(), log: settings.Logger,
		retries: newRetries(settings),
		poller:  p, instances: &p.instances, activities: &p.activities, others: newOthers(db),
	}
}

// holderName names this process for people: its host and its number there.
func holderName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%.180s/%d", storedString(host), os.Getpid())
}

// prepare connects, and checks the schema or brings it up to date.
func prepare(ctx context.Context, db *sql.DB, settings Options) error {
	err := newRetries(settings).resumed(ctx, func() error {
		if err := db.PingContext(ctx); err != nil {
			return &unconnected{err}
		}
		return nil
	})
	if err != nil {
		return openError(ctx, err)
	}
	migration := &migrate.Migration{DB: db, Schema: settings.Schema, Log: settings.Logger}
	if !settings.AutoMigrate {
		return openError(ctx, migration.Check(ctx))
	}
	_, err = migration.Up(ctx)
	return openError(ctx, err)
}

// openError classifies what opening met, as [classify] does for calls, but with what is
// likely for a database that has never been used.
func openError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	f := judge(err)
	_, unreached := errors.AsType[*unconnected](err)
	switch reported, ok := errors.AsType[sqlserver.Error](err); {
	case ok && has(reported, 4060):
		f = noDatabase
		f.advice += detail(reported)
	case unreached && errors.Is(ctx.Err(), context.DeadlineExceeded):
		if f.lasts == 0 {
			f = judgeUnconnected(context.DeadlineExceeded)
		}
	case ctx.Err() != nil:
		return provider.ContextError(ctx, openOperation)
	}
	// The migrator has explained who may migrate, and what was refused.
	if batch, ok := errors.AsType[*migrate.BatchError](err); ok && !errors.Is(err, ErrPermission) {
		f.advice = fmt.Sprintf("while migrating, %s:%d: %s", batch.File, batch.Line, f.advice)
	}
	return f.report(openOperation, err)
}

// invalid is an argument of opening that can never work.
func invalid(format string, args ...any) error {
	return provider.Permanent(openOperation, fmt.Sprintf(format, args...), provider.ErrInvalidArgument)
}
