package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	sqlserver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/provider/mssql"
)

// session is a store on a single connection that is never reset, so that the server's counters and the transaction
// around a call stay.
type session struct {
	at    *site
	db    *sql.DB
	store *mssql.Store
	// bare lets steps run without a transaction around them, as a worker's do.
	bare bool
}

func (at *site) session() (*session, error) {
	connector, err := sqlserver.NewConnector(at.url)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(asLeft{connector})
	db.SetMaxOpenConns(1)
	store, err := mssql.New(db, mssql.Options{MaxRetries: mssql.None})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &session{at: at, db: db, store: store}, nil
}

func (s *session) close() error { return errors.Join(s.store.Close(), s.db.Close()) }

// asLeft makes connections that are used again as the last call has left them.
type asLeft struct{ driver.Connector }

// Connect implements [driver.Connector].
func (c asLeft) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	plain, ok := conn.(*sqlserver.Conn)
	if !ok {
		return nil, fmt.Errorf("the driver's connection is a %T", conn)
	}
	return unreset{plain}, nil
}

type unreset struct{ *sqlserver.Conn }

// ResetSession overrides the driver's.
func (unreset) ResetSession(context.Context) error { return nil }

// cost is what a step has cost.
type cost struct {
	what string
	// reads are logical reads: pages, in tsqltest keys.
	reads int64
	// log is in bytes. logErr says why it is not known, locksErr why the locks are not.
	log              int64
	logErr, locksErr error
	// locks are what the step has kept locked until its commit.
	locks []lockCount
}

// lockCount is how many locks of one kind there are.
type lockCount struct {
	resource, mode, table, index string
	// clustered says that the index is the table itself.
	clustered bool
	count     int
}

// step makes a call in a transaction around it, which is committed, and measures it.
func (s *session) step(ctx context.Context, what string, call func() error) (c cost, err error) {
	c.what = what
	if s.bare {
		return c, call()
	}
	before, err := s.reads(ctx)
	if err != nil {
		return c, err
	}
	if err := execute(ctx, s.db, "BEGIN TRANSACTION;"); err != nil {
		return c, err
	}
	if err := call(); err != nil {
		return c, fmt.Errorf("%s: %w", what, err)
	}
	after, err := s.reads(ctx)
	if err != nil {
		return c, err
	}
	c.reads = after - before
	c.locks, c.locksErr = s.locks(ctx)
	c.logErr = s.db.QueryRowContext(ctx, `SELECT COALESCE(SUM(d.database_transaction_log_bytes_used), 0)
		FROM sys.dm_tran_database_transactions AS d
		INNER JOIN sys.dm_tran_session_transactions AS s ON s.transaction_id = d.transaction_id
		WHERE s.session_id = @@SPID AND d.database_id = DB_ID()`).Scan(&c.log)
	return c, execute(ctx, s.db, "COMMIT TRANSACTION;")
}

// reads is how many pages the session has read so far.
func (s *session) reads(ctx context.Context) (n int64, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT s.logical_reads FROM sys.dm_exec_sessions AS s WHERE s.session_id = @@SPID").Scan(&n)
	return n, err
}

// locks are those of the session on the tables of the schema.
func (s *session) locks(ctx context.Context) (list []lockCount, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT l.resource_type, l.request_mode, o.name, COALESCE(i.name, N''), CAST(COALESCE(MAX(CASE WHEN p.index_id = 1 THEN 1 ELSE 0 END), 0) AS BIT), COUNT(*)
		FROM sys.dm_tran_locks AS l
		LEFT JOIN sys.partitions AS p ON p.hobt_id = l.resource_associated_entity_id AND l.resource_type IN (N'KEY', N'PAGE', N'RID')
		LEFT JOIN sys.indexes AS i ON i.object_id = p.object_id AND i.index_id = p.index_id
		INNER JOIN sys.objects AS o ON o.object_id = CASE WHEN l.resource_type = N'OBJECT'
			THEN l.resource_associated_entity_id ELSE CAST(p.object_id AS BIGINT) END
		WHERE l.request_session_id = @@SPID AND l.resource_database_id = DB_ID() AND o.schema_id = SCHEMA_ID(@p1)
			AND o.type = 'U'
		GROUP BY l.resource_type, l.request_mode, o.name, i.name
		ORDER BY o.name, i.name, l.resource_type, l.request_mode`, schema)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var l lockCount
		if err := rows.Scan(&l.resource, &l.mode, &l.table, &l.index, &l.clustered, &l.count); err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, rows.Err()
}

// coarse says that the lock keeps others from more than a row.
func (l lockCount) coarse() bool {
	return l.resource == "PAGE" && l.mode != "IS" && l.mode != "IX" && l.mode != "IU" ||
		l.resource == "OBJECT" && l.mode != "IS" && l.mode != "IX" && l.mode != "IU" && l.mode != "Sch-S"
}
