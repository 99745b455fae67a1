package server

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"sync/atomic"
	"time"

	sqlserver "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
)

// A Login makes the driver's connector for a connection string. It knows ways of logging
// in that this package does not link; nil is a login with the driver alone.
type Login func(dsn string) (*sqlserver.Connector, error)

// Store is a store that knows how often it has asked its server.
type Store struct {
	*mssql.Store

	trips *atomic.Int64
}

// RoundTrips is the number of round trips since the store was opened, the few that each
// new connection takes included.
func (s *Store) RoundTrips() int64 { return s.trips.Load() }

// Open opens the store. It never creates a schema: that takes another login's rights, and
// the decision of whoever runs the database. A missing one matches
// [provider.ErrNotFound].
func Open(ctx context.Context, login Login, address Address) (*Store, error) {
	trips := &atomic.Int64{}
	store, err := openPooled(ctx, address, func(dsn string) (driver.Connector, error) {
		return login.connector(dsn, trips)
	})
	if errors.Is(err, mssql.ErrMissingSchema) {
		return nil, missingError{err}
	}
	if err != nil {
		return nil, err
	}
	return &Store{store, trips}, nil
}

// missingError is a schema that does not exist.
type missingError struct{ error }

// Unwrap returns both meanings.
func (e missingError) Unwrap() []error { return []error{e.error, provider.ErrNotFound} }

// Database is a connection to the database of a store, whatever state the schema is in.
type Database struct {
	db     *sql.DB
	schema string
	// queries are the reads of sql/queries.
	queries *mssqldb.Queries
	// trouble is why the schema cannot be used as it is, nil if it can.
	trouble error
}

// Connect connects to the database. It first tries to open the store as everybody does:
// what is wrong with the server or the login is so told in the store's words, and only
// what is wrong with the schema is left to the caller.
func Connect(ctx context.Context, login Login, address Address) (*Database, error) {
	schema, err := address.Schema()
	if err != nil {
		return nil, err
	}
	var reached driver.Connector
	store, err := openPooled(ctx, address, func(dsn string) (c driver.Connector, err error) {
		reached, err = login.connector(dsn, &atomic.Int64{})
		return reached, err
	})
	switch {
	case err == nil:
		if err := store.Close(); err != nil {
			return nil, err
		}
	case !aboutTheSchema(err):
		return nil, err
	}
	db := sql.OpenDB(reached)
	queries := mssqldb.New(db, mssqldb.WithSchema(mssql.DefaultSchema, schema))
	return &Database{db: db, schema: schema, queries: queries, trouble: err}, nil
}

// aboutTheSchema reports whether an error of opening is one that a look at the database,
// or a migration, explains or repairs.
func aboutTheSchema(err error) bool {
	for _, known := range []error{
		mssql.ErrMissingSchema, mssql.ErrOldSchema, mssql.ErrNewerSchema, mssql.ErrForeignSchema, mssql.ErrDamagedSchema, mssql.ErrPermission,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// Close closes the connections.
func (d *Database) Close() error { return d.db.Close() }

// connector makes a connector whose connections count round trips.
func (l Login) connector(dsn string, trips *atomic.Int64) (*sqlserver.Connector, error) {
	if l == nil {
		l = driverLogin
	}
	c, err := l(dsn)
	if err != nil {
		return nil, err
	}
	const keepAlive = 30 * time.Second // the driver's default
	c.Dialer = countingDialer{net.Dialer{KeepAlive: keepAlive}, trips}
	return c, nil
}

// driverLogin logs in as the driver can by itself.
func driverLogin(dsn string) (*sqlserver.Connector, error) {
	config, err := msdsn.Parse(dsn)
	if err != nil {
		return nil, err
	}
	if config.Parameters["fedauth"] != "" {
		return nil, provider.Permanent("open", "the store's URL asks for a login by Entra ID (fedauth), which this build of duroxide "+
			"does not have; in a clone of the repository, install the build that has it: "+EntraInstall, provider.ErrInvalidArgument)
	}
	return sqlserver.NewConnectorConfig(config), nil
}

// EntraInstall installs duroxide-azuread, the same program with logins by Microsoft Entra ID, in a clone of the
// repository.
const EntraInstall = "go install -C cmd/duroxide-azuread ."

// countingDialer makes connections that count.
type countingDialer struct {
	net.Dialer

	trips *atomic.Int64
}

// DialContext implements the driver's Dialer.
func (d countingDialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := d.Dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &countingConn{Conn: conn, trips: d.trips}, nil
}

// countingConn counts how often the client, having heard the server, speaks again: that
// is a round trip, however many packets a request has, and whether it is encrypted.
type countingConn struct {
	net.Conn

	trips *atomic.Int64
	// speaking is set from the first packet of a request to the first of the answer.
	speaking atomic.Bool
}

// Write implements [net.Conn].
func (c *countingConn) Write(p []byte) (int, error) {
	if c.speaking.CompareAndSwap(false, true) {
		c.trips.Add(1)
	}
	return c.Conn.Write(p)
}

// Read implements [net.Conn].
func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.speaking.Store(false)
	}
	return n, err
}
