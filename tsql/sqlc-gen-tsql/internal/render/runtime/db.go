//nolint:unused // package render copies it into generated packages, which use it
package runtime

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// DBTX is what calls run on. *sql.DB, *sql.Tx and *sql.Conn satisfy it, opened with the driver "sqlserver": the older
// "mssql" counts the parameters in the text of a query, and the name of a procedure has none.
type DBTX interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Queries has a method for each procedure and query. It is safe for concurrent use if what it runs on is.
type Queries struct {
	db      DBTX
	renamed map[*statement]string // the texts that differ from what was generated
	err     error                 // what is wrong with the options; every call returns it
}

// An Option changes how calls are made.
type Option func(*options)

// options are what the functions of type Option set.
type options struct {
	schemas map[string]string // from lower-cased names
	err     error             // of an option that is impossible
}

// New returns the calls on db. What the options change in the texts of statements is changed here, once.
func New(db DBTX, opts ...Option) *Queries {
	o := options{schemas: map[string]string{}}
	for _, opt := range opts {
		opt(&o)
	}
	q := &Queries{db: db, err: o.err}
	if len(o.schemas) == 0 {
		return q
	}
	// The texts are worked out now, so that calls only read and can be made from any number of goroutines.
	q.renamed = map[*statement]string{}
	for _, s := range statements {
		if text := s.in(o.schemas); text != s.text {
			q.renamed[s] = text
		}
	}
	return q
}

// With returns the same calls on another connection or in a transaction. The options stay.
func (q *Queries) With(db DBTX) *Queries {
	other := *q
	other.db = db
	return &other
}

// WithTx returns the same calls in a transaction.
func (q *Queries) WithTx(tx *sql.Tx) *Queries { return q.With(tx) }

// WithSchema makes all calls use the schema to in place of the schema from: its procedures, its table types and its
// names in the texts of queries. The name to is taken as it is and may hold any character. An impossible name, or a
// schema from in which nothing is, is the error of every call: they would go to the schema that they were to leave.
func WithSchema(from, to string) Option {
	return func(o *options) {
		if !slices.ContainsFunc(statements, func(s *statement) bool { return s.isIn(from) }) {
			o.err = fmt.Errorf("%s: WithSchema: no procedure, table type or query is in a schema %q", packageName, from)
		}
		// 128 characters is the limit of T-SQL.
		if n := utf8.RuneCountInString(to); n == 0 || n > 128 || !utf8.ValidString(to) || strings.ContainsRune(to, 0) {
			o.err = fmt.Errorf("%s: WithSchema: the new name of schema %q is not a name", packageName, from)
		}
		o.schemas[strings.ToLower(from)] = to
	}
}

// A statement is a procedure or a query with what a call of it may yield. Statements are never changed, so that all
// calls can share them.
type statement struct {
	name    string     // in errors
	text    string     // the name of a procedure, or what sp_executesql runs
	schemas []schemaAt // where the text names schemas, in its order
	// Of what sp_executesql runs: the declarations of its parameters, the parameters of a procedure that are passed
	// only if they are given, and the text behind its arguments.
	batch    bool
	decls    string
	optional []param
	tail     string

	sets [][]string // the columns of each result set
	flow []state    // in which order they come; if nil, each once and as they are listed
}

// A schemaAt is where the text of a statement names a schema: at the bytes [from, to), with the brackets if it has them.
type schemaAt struct {
	from, to int
	schema   string
}

// A param is a parameter with its type.
type param struct{ name, decl string }

// in returns the text of the statement in other schemas. Their names are bracketed, so that they are names and nothing
// else.
func (s *statement) in(schemas map[string]string) string {
	var text strings.Builder
	end := 0
	for _, at := range s.schemas {
		if to, ok := schemas[strings.ToLower(at.schema)]; ok {
			text.WriteString(s.text[end:at.from])
			text.WriteString("[" + strings.ReplaceAll(to, "]", "]]") + "]")
			end = at.to
		}
	}
	return text.String() + s.text[end:]
}

// isIn reports whether the statement's text names a schema.
func (s *statement) isIn(schema string) bool {
	return slices.ContainsFunc(s.schemas, func(at schemaAt) bool { return strings.EqualFold(at.schema, schema) })
}

// text returns the statement's text for the schemas that are in use.
func (q *Queries) text(s *statement) string {
	if text, ok := q.renamed[s]; ok {
		return text
	}
	return s.text
}

// prepare returns what to give the driver for a call: the name of a procedure makes it a remote procedure call, and so
// does sp_executesql, which takes its text and the types of its parameters first.
func (q *Queries) prepare(s *statement, a *args) (string, []any, error) {
	if q.err != nil {
		return "", nil, q.err
	}
	if a.err != nil {
		return "", nil, s.failure(a.err.Error(), a.err)
	}
	text := q.text(s)
	if !s.batch {
		return text, a.list[reserved:], nil
	}
	// A parameter that isn't given must not be mentioned: only then does the procedure take its default.
	var given, declared strings.Builder
	for _, p := range s.optional {
		if a.has(p.name) {
			given.WriteString(", @" + p.name + " = @" + p.name)
			declared.WriteString(", @" + p.name + " " + p.decl)
		}
	}
	a.list[0], a.list[1] = text+given.String()+s.tail, s.decls+declared.String()
	if s.decls == "" { // then nothing is optional, either
		return executeSQL, a.list[:1], nil
	}
	return executeSQL, a.list, nil
}

// executeSQL runs the text that is its first argument. The driver would do so by itself, but declare every parameter by
// its Go type: nvarchar by the length of the string, which makes a plan for each length, and datetimeoffset for any time.
const executeSQL = "sp_executesql"

// exec runs a statement whose rows, if it has any, are not wanted, and returns how many rows it changed: all of its
// statements together, those of triggers included unless they SET NOCOUNT ON.
func (q *Queries) exec(ctx context.Context, s *statement, a *args) (int64, error) {
	text, list, err := q.prepare(s, a)
	if err != nil {
		return 0, err
	}
	result, err := q.db.ExecContext(ctx, text, list...)
	if err != nil {
		return 0, s.failed(ctx, err)
	}
	return result.RowsAffected()
}
