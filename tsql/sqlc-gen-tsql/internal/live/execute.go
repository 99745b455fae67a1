package live

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
)

// deep opens a transaction that survives what a procedure does to it: it is nested, so that one COMMIT too many
// doesn't commit, and after a ROLLBACK the next statement that writes begins another one (that is what
// IMPLICIT_TRANSACTIONS does). Four levels are more than any procedure commits without having begun them. A lock that
// somebody else holds is waited for no longer than five seconds: a comparison must not hang on a busy server.
const deep = `SET LOCK_TIMEOUT 5000; SET IMPLICIT_TRANSACTIONS ON;
BEGIN TRANSACTION; BEGIN TRANSACTION; BEGIN TRANSACTION; BEGIN TRANSACTION;`

// undo ends it, after the mode in which nothing is executed, which an error may have left switched on.
const undo = `SET FMTONLY OFF; IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION; SET IMPLICIT_TRANSACTIONS OFF; SET LOCK_TIMEOUT -1;`

// undoing is how long undo may take: longer than a lock is waited for.
const undoing = 10 * time.Second

// attempt executes a batch and takes back what it did. What it did is taken back even if the context has ended
// meanwhile, or a pooled connection would carry an open transaction to its next user. An error is marked as survived
// once the undoing has worked, or there is another connection.
func (v *verifier) attempt(ctx context.Context, batch string) (sets []set, err error) {
	limited, cancel := context.WithTimeout(ctx, v.options.Timeout)
	defer cancel()
	if _, err = v.conn.ExecContext(limited, deep); err == nil {
		sets, err = v.sets(limited, batch)
	}
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = slowError{v.options.Timeout, err}
	}
	if undone := v.undo(ctx); undone != nil {
		return sets, errors.Join(err, undone)
	}
	if err != nil {
		err = survivedError{err}
	}
	return sets, err
}

// undo takes back what an execution did. The driver has told the server to stop what took too long, and mostly the
// connection can be used again. If not, it is replaced: the server takes back what was open on the old one.
func (v *verifier) undo(ctx context.Context) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoing)
	defer cancel()
	_, err := v.conn.ExecContext(limited, undo)
	if err == nil || v.options.Reconnect == nil || ctx.Err() != nil {
		return err
	}
	// A connection that is given back to its pool in this state would be given out again.
	_ = v.conn.Raw(func(any) error { return driver.ErrBadConn })
	conn, err := v.options.Reconnect(ctx)
	if err != nil {
		return fmt.Errorf("connecting again after an execution that broke the connection: %w", err)
	}
	v.conn = conn
	return nil
}

// procedures executes every procedure and compares what comes back.
func (v *verifier) procedures(ctx context.Context) error {
	for _, p := range v.program.Procedures {
		if v.isMissing("procedure", p.Name) {
			continue
		}
		run := &run{verifier: v, procedure: p, what: "procedure " + p.Name.String(), seen: map[int]bool{}, told: map[int]bool{}}
		if err := run.all(ctx); err != nil {
			return fmt.Errorf("procedure %s: %w", p.Name, err)
		}
	}
	return nil
}

// A run holds what the executions of one procedure have shown.
type run struct {
	*verifier
	procedure *analyze.Procedure
	what      string
	seen      map[int]bool // result sets that came, by index
	told      map[int]bool // those that the server has described
	failures  []string     // how executions ended, for those that failed
	slow      bool         // an execution took too long: none follows
}

// all executes the procedure with one list of arguments after another until every result set has been seen. A set
// that never came is not drift: perhaps no arguments lead to it on an empty database. It is listed, with what the
// executions died of.
func (r *run) all(ctx context.Context) error {
	if err := r.described(ctx); err != nil {
		return err
	}
	calls := calls(r.procedure, r.cat.Procedures[r.procedure.Name.Key()])
	for i, call := range calls[:min(len(calls), r.options.Calls)] {
		// One execution at least, even of a procedure without result sets: it may yield some all the same.
		if r.slow || i > 0 && len(r.seen) == len(r.procedure.Results) {
			break
		}
		if err := r.once(ctx, call); err != nil {
			return err
		}
	}
	for i := range r.procedure.Results {
		switch {
		case r.seen[i], r.told[i]:
			r.report.Counts.ResultSets++
		case !r.slow: // else the procedure is not checked, which says it of all
			r.report.unseen(r.what, "%s %s%s%s", setName(r.procedure, i), listColumns(r.procedure.Results[i].Columns),
				r.whereSet(i), r.because())
		}
	}
	return nil
}

// whereSet returns " of file:line", which tells apart the sets of a procedure that have no name.
func (r *run) whereSet(i int) string {
	s := r.procedure.Results[i]
	if s.File == nil {
		return ""
	}
	line, _ := s.File.Position(s.Span.From)
	return fmt.Sprintf(" of %s:%d", s.File.Name, line)
}

// because says how executions failed, if one did.
func (r *run) because() string {
	if len(r.failures) == 0 {
		return ""
	}
	return "; executions ended with: " + strings.Join(r.failures, "; ")
}

// once executes the procedure and follows its result sets through the flow.
func (r *run) once(ctx context.Context, call string) error {
	sets, err := r.attempt(ctx, call)
	if slow, ok := errors.AsType[slowError](err); ok {
		r.slow = true
		r.report.unchecked(r.what, "result sets: %s", slow)
	}
	state := 0
	for _, s := range sets {
		// Each set must be one that may come at this point.
		edge := r.next(state, s)
		if edge == nil && err != nil {
			break // what precedes an error is no result
		}
		if edge == nil {
			r.report.drift(r.what, r.procedure.Place, "result sets", r.expected(state), "("+strings.Join(s.names(), ", ")+")")
			return nil
		}
		r.seen[edge.Set] = true
		state = edge.To
	}
	switch {
	case r.slow:
	case err == nil && !r.procedure.Flow.States[state].Final && !r.report.drifted(r.what):
		// The text is that of the scripts, so a set that was promised didn't come: of dynamic SQL without a text, say.
		r.ended("no error, after " + count(len(sets), "set", "sets"))
	case err == nil && !r.procedure.Flow.States[state].Final:
		r.report.drift(r.what, r.procedure.Place, "result sets", "another one after "+count(len(sets), "set", "sets")+": "+r.expected(state),
			"the call ended")
	case err == nil:
	// Arguments that are made up lead to errors more often than not. One that the procedure throws itself, or that
	// comes of the data, says nothing about drift.
	case slices.Contains(r.procedure.Errors, number(err)):
		r.failed(err) // it is meant to
	case slices.Contains(deployment, number(err)) && !ofText(err):
		r.report.drift(r.what, r.procedure.Place, "execution", "runs", fmt.Sprintf("error %d: %s", number(err), brief(err)))
	default:
		r.failed(err)
	}
	return dead(ctx, err)
}

// failed remembers how an execution ended.
func (r *run) failed(err error) {
	text := brief(err)
	if n := number(err); n != 0 {
		text = fmt.Sprintf("%d %s", n, text)
	}
	r.ended(text)
}

// ended remembers what an execution ended with.
func (r *run) ended(text string) {
	if !slices.Contains(r.failures, text) {
		r.failures = append(r.failures, text)
	}
}

// next finds the edge that a result set takes and compares its columns. It returns nil if there is none. The columns'
// names decide which, as they do in the generated code.
func (r *run) next(state int, s set) *analyze.Edge {
	edges := r.procedure.Flow.States[state].Edges
	for i, e := range edges {
		if sameNames(r.procedure.Results[e.Set].Columns, s) {
			want := r.procedure.Results[e.Set]
			r.columns(r.what, catalog.Place{File: want.File, Span: want.Span}, setName(r.procedure, e.Set), want.Columns, s.columns)
			return &edges[i]
		}
	}
	return nil
}

// expected lists what may come in a state.
func (r *run) expected(state int) string {
	var options []string
	for _, e := range r.procedure.Flow.States[state].Edges {
		options = append(options, listColumns(r.procedure.Results[e.Set].Columns))
	}
	if r.procedure.Flow.States[state].Final {
		options = append(options, "the end")
	}
	return strings.Join(options, " or ")
}

// describeQuery describes the first result set of a procedure without executing it.
const describeQuery = `SELECT name, system_type_name, is_nullable, error_number
FROM sys.dm_exec_describe_first_result_set_for_object(OBJECT_ID(@p1), 0) ORDER BY column_ordinal`

// described compares the first result set with the server's own description, if it has one: it fails on temp tables
// and on branches that differ, which is what executing is for.
func (r *run) described(ctx context.Context) error {
	s, err := r.descriptions(ctx, describeQuery, quote(r.procedure.Name))
	if err != nil || len(s.columns) == 0 {
		return dead(ctx, err)
	}
	for _, e := range r.procedure.Flow.States[0].Edges {
		if sameNames(r.procedure.Results[e.Set].Columns, s) {
			r.next(0, s)
			r.told[e.Set] = true // but it is executed all the same: a description has no rows, in which there may be NULLs
		}
	}
	return nil
}

// descriptions reads name, type, nullability and error number of columns.
func (v *verifier) descriptions(ctx context.Context, query string, args ...any) (set, error) {
	var s set
	err := v.each(ctx, query, args, func(scan func(...any) error) error {
		var name, raw *string
		var nullable *bool
		var failed *int
		if err := scan(&name, &raw, &nullable, &failed); err != nil {
			return err
		}
		// Instead of an error the server returns a row that carries its number.
		if failed != nil && *failed != 0 || name == nil || raw == nil || nullable == nil {
			s.columns = nil
			return errUndescribed
		}
		s.columns = append(s.columns, column{name: *name, raw: *raw, Type: writtenType(*raw), nullable: *nullable})
		return nil
	})
	if errors.Is(err, errUndescribed) {
		return set{}, nil
	}
	return s, err
}
