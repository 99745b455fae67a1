package runtime

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"unicode/utf8"
)

// DBTX is what calls run on. *sql.DB, *sql.Tx and *sql.Conn satisfy it.
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

type options struct {
	schemas map[string]string // lower-cased
	err     error
}

// New returns the calls on db.
func New(db DBTX, opts ...Option) *Queries {
	o := options{schemas: map[string]string{}}
	for _, opt := range opts {
		opt(&o)
	}
	q := &Queries{db: db, err: o.err}
	if len(o.schemas) == 0 {
		return q
	}
	q.renamed = map[*statement]string{}
	for _, s := range statements {
		if text := s.in(o.schemas); text != s.text {
			q.renamed[s] = text
		}
	}
	return q
}

// With returns the same calls on another connection or in a transaction.
func (q *Queries) With(db DBTX) *Queries {
	other := *q
	other.db = db
	return &other
}

// WithTx returns the same calls in a transaction.
func (q *Queries) WithTx(tx *sql.Tx) *Queries { return q.With(tx) }

// WithSchema makes all calls use the schema to in place of the schema from: its procedures, its table types and its
// names in the texts of queries. An impossible name is the error of every call.
func WithSchema(from, to string) Option {
	return func(o *options) {
		// 128 characters is the limit of T-SQL.
		if n := utf8.RuneCountInString(to); n == 0 || n > 128 || !utf8.ValidString(to) || strings.ContainsRune(to, 0) {
			o.err = fmt.Errorf("%s: WithSchema: the new name of schema %q is not a name", packageName, from)
		}
		o.schemas[strings.ToLower(from)] = to
	}
}

// A statement is a procedure or a query with what a call of it may yield.
type statement struct {
	name    string // in errors
	text    string // the name of a procedure, or what sp_executesql runs
	schemas []schemaAt
	// Of what sp_executesql runs: the declarations of its parameters, the parameters of a procedure that are passed
	// only if they are given, and the text behind its arguments.
	batch    bool
	decls    string
	optional []param
	tail     string
	repeat   []param // what a :batch passes for each element

	sets [][]string // the columns of each result set
	flow []state    // in which order they come; if nil, each once and as they are listed
}

// A schemaAt is where the text of a statement names a schema.
type schemaAt struct {
	from, to int
	schema   string
}

// A param is a parameter with its type.
type param struct{ name, decl string }

// in returns the text of the statement in other schemas.
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
	text, decls := q.text(s), s.decls
	if !s.batch {
		return text, a.list[reserved:], nil
	}
	for _, p := range s.optional {
		if a.has(p.name) {
			text += ", @" + p.name + " = @" + p.name
			decls += ", @" + p.name + " " + p.decl
		}
	}
	a.list[0], a.list[1] = text+s.tail, decls
	if decls == "" {
		return executeSQL, a.list[:1], nil
	}
	return executeSQL, a.list, nil
}

// executeSQL runs the text that is its first argument.
const executeSQL = "sp_executesql"

// exec runs a statement whose rows, if it has any, are not wanted, and returns how many rows it changed.
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

// maxParams is how many parameters a call can have.
const maxParams = 2100

// maxElements is how many elements of a :batch go in one round trip at most: enough for the trip not to matter, and few
// enough for any server to hold the text.
const maxElements = 100

// execMany runs a statement for each of n sets of arguments, as many as fit at a time, and returns how many rows were
// changed. It stops at the first that fails.
func (q *Queries) execMany(ctx context.Context, s *statement, n int, add func(a *args, i int)) (int64, error) {
	var total int64
	// Two parameters are sp_executesql's own, and two more say once what it runs for each set.
	most := min(maxElements, (maxParams-4)/len(s.repeat))
	for from := 0; from < n; from += most {
		changed, err := q.execSome(ctx, s, from, min(n, from+most), add)
		total += changed
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// execSome makes one round trip of execMany.
func (q *Queries) execSome(ctx context.Context, s *statement, from, to int, add func(a *args, i int)) (int64, error) {
	a := newArgs(2 + (to-from)*len(s.repeat))
	a.send("gen_text", q.text(s))
	a.send("gen_decls", s.decls)
	// An error does not end a batch by itself: THROW does.
	text := strings.Builder{}
	decls := strings.Builder{}
	text.WriteString("BEGIN TRY\n")
	decls.WriteString("@gen_text nvarchar(max), @gen_decls nvarchar(max)")
	for i := from; i < to; i++ {
		a.suffix = fmt.Sprintf("_%d", i-from)
		if add(&a, i); a.err != nil {
			return 0, s.failure(fmt.Sprintf("element %d: %v", i, a.err), a.err)
		}
		text.WriteString("EXEC sp_executesql @gen_text, @gen_decls")
		for _, p := range s.repeat {
			fmt.Fprintf(&text, ", @%s = @%s%s", p.name, p.name, a.suffix)
			fmt.Fprintf(&decls, ", @%s%s %s", p.name, a.suffix, p.decl)
		}
		text.WriteString(";\n")
	}
	text.WriteString("END TRY BEGIN CATCH THROW; END CATCH")
	return q.exec(ctx, &statement{name: s.name, text: text.String(), batch: true, decls: decls.String()}, &a)
}
