package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
)

var (
	_ sqlitedb.DBTX = (*prepared)(nil)
	_ sqlitedb.DBTX = preparedIn{}
)

// prepared runs texts as prepared statements. It prepares a text when the text is first used, and keeps the statement.
// Preparing all of them takes longer than everything else that opening a store does, and most programs use a few.
type prepared struct {
	on preparer
	// mu is not held while a statement is prepared: that may wait for a connection, which another call holds.
	mu  sync.Mutex
	all map[string]*sql.Stmt // nil: only a transaction has used the text, see preparedIn
}

// preparer is the writer's connection, or the readers' pool.
type preparer interface {
	PrepareContext(ctx context.Context, text string) (*sql.Stmt, error)
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
}

func prepareOn(on preparer) *prepared { return &prepared{on: on, all: map[string]*sql.Stmt{}} }

// find returns the statement, or nil if it was not prepared yet. It remembers the text for prepareUsed.
func (p *prepared) find(text string) *sql.Stmt {
	p.mu.Lock()
	defer p.mu.Unlock()
	stmt, used := p.all[text]
	if !used {
		p.all[text] = nil
	}
	return stmt
}

// PrepareContext returns the statement that is kept. Its caller does not close it.
func (p *prepared) PrepareContext(ctx context.Context, text string) (*sql.Stmt, error) {
	if stmt := p.find(text); stmt != nil {
		return stmt, nil
	}
	stmt, err := p.on.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first := p.all[text]; first != nil { // another call was faster
		return first, stmt.Close() //nolint:sqlclosecheck // only this one
	}
	p.all[text] = stmt
	return stmt, nil
}

// prepareUsed prepares the texts that transactions have used.
func (p *prepared) prepareUsed(ctx context.Context) error {
	p.mu.Lock()
	var texts []string
	for text, stmt := range p.all {
		if stmt == nil {
			texts = append(texts, text)
		}
	}
	p.mu.Unlock()
	for _, text := range texts {
		if _, err := p.PrepareContext(ctx, text); err != nil { //nolint:sqlclosecheck // close does
			return err
		}
	}
	return nil
}

// ExecContext implements [sqlitedb.DBTX].
func (p *prepared) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	stmt, err := p.PrepareContext(ctx, text) //nolint:sqlclosecheck // close does
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

// QueryContext implements [sqlitedb.DBTX].
func (p *prepared) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	stmt, err := p.PrepareContext(ctx, text) //nolint:sqlclosecheck // close does
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// QueryRowContext implements [sqlitedb.DBTX].
func (p *prepared) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	stmt, err := p.PrepareContext(ctx, text) //nolint:sqlclosecheck // close does
	if err != nil {
		return p.on.QueryRowContext(ctx, text, args...) // fails likewise: only database/sql makes a row of an error
	}
	return stmt.QueryRowContext(ctx, args...)
}

func (p *prepared) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, stmt := range p.all {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	return errors.Join(errs...)
}

// preparedIn runs prepared statements in a transaction. A text that is not prepared yet runs as it is: preparing it
// wants a connection of the pool, and the transaction may hold the last one. The next transaction finds it prepared.
type preparedIn struct {
	*sql.Tx
	prepared *prepared
}

// ExecContext implements [sqlitedb.DBTX].
func (p preparedIn) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	if stmt := p.prepared.find(text); stmt != nil {
		return p.StmtContext(ctx, stmt).ExecContext(ctx, args...) //nolint:sqlclosecheck // the transaction's end does
	}
	return p.Tx.ExecContext(ctx, text, args...)
}

// QueryContext implements [sqlitedb.DBTX].
func (p preparedIn) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if stmt := p.prepared.find(text); stmt != nil {
		return p.StmtContext(ctx, stmt).QueryContext(ctx, args...) //nolint:sqlclosecheck // the transaction's end does
	}
	return p.Tx.QueryContext(ctx, text, args...)
}

// QueryRowContext implements [sqlitedb.DBTX].
func (p preparedIn) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	if stmt := p.prepared.find(text); stmt != nil {
		return p.StmtContext(ctx, stmt).QueryRowContext(ctx, args...) //nolint:sqlclosecheck // the transaction's end does
	}
	return p.Tx.QueryRowContext(ctx, text, args...)
}
