package planner

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// compileDML compiles a statement that changes rows.
func compileDML(env *binder.Env, stmt syntax.Stmt) (*Statement, error) {
	p := newPlanner(env)
	switch s := stmt.(type) {
	case *syntax.Insert:
		if s.Exec != nil {
			return nil, p.b.Unsupported(s.Span, "INSERT … EXEC as a plan")
		}
		return bound(p.b.Insert, p.insert)(s)
	case *syntax.Update:
		return bound(p.b.Update, p.update)(s)
	case *syntax.Delete:
		return bound(p.b.Delete, p.delete)(s)
	case *syntax.Merge:
		return bound(p.b.Merge, p.merge)(s)
	case *syntax.Truncate:
		t, err := p.b.Truncate(s)
		if err != nil {
			return nil, err
		}
		return truncate(t, syntax.Dotted(s.Table.Parts)), nil
	default:
		return nil, p.b.Unsupported(stmt.Range(), "this statement")
	}
}

// bound binds a statement and compiles it.
func bound[S, B any](bind func(s S) (*B, error), compile func(bound *B) (*Statement, error)) func(s S) (*Statement, error) {
	return func(s S) (*Statement, error) {
		b, err := bind(s)
		if err != nil {
			return nil, err
		}
		return compile(b)
	}
}

// Writer is what statements that change rows ask a session besides what all do.
type Writer interface {
	// IdentityInsert is the table of SET IDENTITY_INSERT; nil if none is ON.
	IdentityInsert() *schema.Table
	// MakeTable makes the table of SELECT … INTO.
	MakeTable(name *syntax.ObjectName, columns []binder.Column) (*schema.Table, error)
}

// identityInsert reports whether the session may give values for the identity column of a table.
func identityInsert(x *execute.Frame, t *schema.Table) bool {
	w, ok := x.Session.(Writer)
	return ok && w.IdentityInsert() == t
}

// change is a row with what it was and what it becomes. Old is nil for a new row, new for one that is deleted.
type change struct {
	row      *store.Row
	old, new []execute.Value
}

// execution is one execution of a statement that changes rows.
type execution struct {
	r     *execute.Run
	verb  string // for messages: "INSERT", "UPDATE", "DELETE" or "MERGE"
	count int64
	// images are the changes of tables whose triggers have to see them, and order the order in which they were changed
	// first.
	images map[*rules]*images
	order  []*rules
	// late are the checks that have to wait until all rows have been changed.
	late    []func() error
	outputs []*outputRows
	touched map[*store.Row]bool
	ignored bool   // the client knows of duplicates that were left out
	given   []Rows // of INSERT … EXEC
}

// images are what a trigger sees, by the event.
type images struct {
	table   *schema.Table
	changes map[string][]change
}

// frame is where the statement executes.
func (e *execution) frame() *execute.Frame { return e.r.Frame }

// statement is the access to rows. It is asked for each time, as a trigger has statements of its own.
func (e *execution) statement() *store.Statement { return e.r.Frame.Session.Statement() }

// once reports whether a row was not touched by the statement before, and notes that it is now.
func (e *execution) once(row *store.Row) bool {
	if e.touched[row] {
		return false
	}
	if e.touched == nil {
		e.touched = map[*store.Row]bool{}
	}
	e.touched[row] = true
	return true
}

// finish does what follows once all rows have been changed: late checks, OUTPUT, and triggers.
func (e *execution) finish(send func(row []execute.Value) error) error {
	for _, check := range e.late {
		if err := check(); err != nil {
			return err
		}
	}
	for _, o := range e.outputs {
		if err := o.deliver(e, send); err != nil {
			return err
		}
	}
	return e.fire()
}

// requiredOn are the SET options without which a table with a filtered index, or with one on a computed column, can't
// be changed.
var requiredOn = []string{"ANSI_NULLS", "QUOTED_IDENTIFIER", "ANSI_PADDING", "ANSI_WARNINGS", "CONCAT_NULL_YIELDS_NULL"}

// checkOptions returns error 1934 if a SET option is wrong for the table's indexes.
func (e *execution) checkOptions(t *schema.Table) error {
	special := false
	for _, ix := range t.Indexes {
		special = special || ix.Where != nil
	}
	for _, c := range t.Columns {
		special = special || c.Computed != nil && c.Stored
	}
	if !special {
		return nil
	}
	var wrong []string
	for _, name := range requiredOn {
		if e.r.Option(name) == "OFF" {
			wrong = append(wrong, name)
		}
	}
	if e.r.Option("NUMERIC_ROUNDABORT") == "ON" {
		wrong = append(wrong, "NUMERIC_ROUNDABORT")
	}
	if len(wrong) == 0 {
		return nil
	}
	return fault.New(1934, e.verb, strings.Join(wrong, ", "))
}

// runner makes Statement.Run of a function that executes a statement.
func (p *planner) runner(verb string, out []*output, f func(e *execution) error) *Statement {
	st, run := p.runnerOf(verb, out, f)
	st.Run = func(x *execute.Frame, send func([]execute.Value) error) (int64, error) { return run(x, nil, send) }
	return st
}

// runnerOf is runner for a statement that is given rows.
func (p *planner) runnerOf(verb string, out []*output, f func(e *execution) error) (
	*Statement, func(x *execute.Frame, given []Rows, send func([]execute.Value) error) (int64, error),
) {
	st := p.statement()
	pool, rights := &execute.Pool{Shape: p.b.Shape}, p.b.Rights
	for _, o := range out {
		if o.Into == nil {
			st.Columns = o.Columns
		}
	}
	return st, func(x *execute.Frame, given []Rows, send func([]execute.Value) error) (int64, error) {
		return within(pool, rights, x, func(r *execute.Run) (int64, error) {
			e := &execution{r: r, verb: verb, given: given}
			for _, o := range out {
				e.outputs = append(e.outputs, &outputRows{of: o})
			}
			if err := f(e); err != nil {
				return 0, err
			}
			return e.count, e.finish(send)
		})
	}
}
