package live

import (
	"context"
	"database/sql"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// column is a column as a server describes it.
type column struct {
	name     string
	Type     sqltype.Type // Invalid if the server has a type that is not known here
	raw      string       // the server's name of the type
	nullable bool
	null     bool // a NULL was in it
}

// set is a result set that came.
type set struct {
	columns []column
}

// names returns the columns' names.
func (s set) names() []string {
	names := make([]string, len(s.columns))
	for i, c := range s.columns {
		names[i] = c.name
	}
	return names
}

// opening stands in front of a batch. When an error comes before the first result set, the driver (1.11.2) returns it
// without reading the rest of the answer, and the next statement on the connection waits for ever. With a set that
// comes before everything, there are rows to close, which reads all.
const opening = "SELECT 1 AS opening; "

// sets executes a batch and returns the result sets that came, up to an error. All rows are read: a driver reports
// some errors only behind the last one, and OUTPUT values and later sets wait for it. Column types are the driver's,
// which has them from the wire and not from metadata.
func (v *verifier) sets(ctx context.Context, batch string) ([]set, error) {
	rows, err := v.conn.QueryContext(ctx, opening+batch)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has the error
	var sets []set
	for rows.Next() {
		continue // the row of the opening
	}
	if !rows.NextResultSet() {
		return nil, rows.Err()
	}
	for {
		types, err := rows.ColumnTypes()
		if err != nil {
			return sets, err
		}
		if len(types) > 0 { // without columns it is the count of an INSERT
			s := set{columns: make([]column, len(types))}
			for i, t := range types {
				s.columns[i] = describe(t)
			}
			sets = append(sets, s)
			if err := findNulls(rows, s.columns); err != nil {
				return sets, err
			}
		}
		if !rows.NextResultSet() {
			return sets, rows.Err()
		}
	}
}

// findNulls reads all rows of a set and remembers which columns had a NULL.
func findNulls(rows *sql.Rows, columns []column) error {
	values := make([]any, len(columns))
	targets := make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		for i, value := range values {
			// A NULL that came outweighs whatever the metadata says.
			columns[i].null = columns[i].null || value == nil
		}
	}
	return nil // rows.Err is asked after the last set
}

// describe turns the driver's description of a column into ours.
func describe(t *sql.ColumnType) column {
	c := column{name: t.Name(), raw: t.DatabaseTypeName()}
	c.nullable, _ = t.Nullable()
	// What a type doesn't have is zero, and passed over for its kind.
	length, _ := t.Length()
	precision, scale, _ := t.DecimalSize()
	c.Type = serverType(c.raw, int(length), int(precision), int(scale))
	return c
}

// each calls f for every row of a query. f gets the Scan of the row and must not keep it.
func (v *verifier) each(ctx context.Context, query string, args []any, f func(scan func(...any) error) error) error {
	rows, err := v.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has the error
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
