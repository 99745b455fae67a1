package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// queryer is a pool, a connection or a transaction.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// execute runs a batch and reads all that it returns: an error may come after result sets.
func execute(ctx context.Context, db queryer, batch string) (err error) {
	rows, err := db.QueryContext(ctx, batch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for {
		for rows.Next() {
		}
		if !rows.NextResultSet() {
			return rows.Err()
		}
	}
}

// scan reads rows of texts and numbers, each as text.
func scan(ctx context.Context, db queryer, query string, args ...any) (list [][]string, err error) {
	_, list, err = scanNamed(ctx, db, query, args...)
	return list, err
}

// scanNamed is scan, with the names of the columns.
func scanNamed(ctx context.Context, db queryer, query string, args ...any) (columns []string, list [][]string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if columns, err = rows.Columns(); err != nil {
		return nil, nil, err
	}
	for rows.Next() {
		values, targets := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, nil, fmt.Errorf("reading a row: %w", err)
		}
		row := make([]string, len(columns))
		for i, value := range values {
			row[i] = value.String
		}
		list = append(list, row)
	}
	return columns, list, rows.Err()
}
