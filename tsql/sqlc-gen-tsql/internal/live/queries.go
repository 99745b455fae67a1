package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// queries compares the columns of annotated queries.
func (v *verifier) queries(ctx context.Context) error {
	for _, q := range v.program.Queries {
		if err := v.query(ctx, q); err != nil {
			return fmt.Errorf("query %s: %w", q.Name, err)
		}
	}
	return nil
}

// query compares one of them. The server describes most statements without executing them, in one of two ways; where
// neither works a statement is executed. Execution comes last: it is the only way that can fail because of the data,
// and the only one that has effects to take back.
func (v *verifier) query(ctx context.Context, q *analyze.Query) error {
	what := "query " + q.Name
	var last error
	for _, way := range []func(context.Context, *analyze.Query) (set, error){
		v.describedQuery, v.formattedQuery, v.executedQuery,
	} {
		s, err := way(ctx, q)
		if err := dead(ctx, err); err != nil {
			return err
		}
		last = err
		if errors.As(err, new(slowError)) {
			break
		}
		// This way says nothing; the next one may.
		if err != nil || len(q.Columns) > 0 && len(s.columns) == 0 {
			continue
		}
		v.report.Counts.Queries++
		if !sameNames(q.Columns, s) {
			v.report.drift(what, q.Place, "columns", listColumns(q.Columns), "("+strings.Join(s.names(), ", ")+")")
			return nil
		}
		v.columns(what, q.Place, "result", q.Columns, s.columns)
		return nil
	}
	slow, isSlow := errors.AsType[slowError](last)
	switch {
	case isSlow:
		v.report.unchecked(what, "columns: %s", slow)
	// Whatever way was tried, the server lacks something.
	case slices.Contains(deployment, number(last)):
		v.report.drift(what, q.Place, "execution", "runs", fmt.Sprintf("error %d: %s", number(last), brief(last)))
	case last != nil:
		v.report.unseen(what, "its columns; execution ended with: %d %s", number(last), brief(last))
	default:
		v.report.unseen(what, "its columns; the server describes none, and an execution returned none")
	}
	return nil
}

// describedQuery asks for the columns without executing.
func (v *verifier) describedQuery(ctx context.Context, q *analyze.Query) (set, error) {
	var declarations []string
	for _, p := range q.Params {
		declarations = append(declarations, p.Name+" "+declared(p.Type))
	}
	const query = `SELECT name, system_type_name, is_nullable, error_number
FROM sys.dm_exec_describe_first_result_set(@p1, @p2, 0) ORDER BY column_ordinal`
	s, err := v.descriptions(ctx, query, q.Text, strings.Join(declarations, ", "))
	if err == nil && len(s.columns) == 0 && len(q.Columns) > 0 {
		err = errUndescribed
	}
	return s, err
}

// formattedQuery executes the statement in the mode in which only the columns come back. SET FMTONLY is deprecated, but
// tells of statements that the description doesn't.
func (v *verifier) formattedQuery(ctx context.Context, q *analyze.Query) (set, error) {
	if len(q.Columns) == 0 {
		return set{}, errUndescribed // it would not even be looked at
	}
	return first(v.attempt(ctx, "SET FMTONLY ON;\n"+statement(q, zero)+"\nSET FMTONLY OFF;"))
}

// executedQuery executes the statement and takes back what it did: with nothing to find first, then with values.
func (v *verifier) executedQuery(ctx context.Context, q *analyze.Query) (set, error) {
	s, err := first(v.attempt(ctx, statement(q, zero)))
	if err == nil || dead(ctx, err) != nil || errors.As(err, new(slowError)) {
		return s, err
	}
	return first(v.attempt(ctx, statement(q, sample)))
}

// first returns the first of several result sets.
func first(sets []set, err error) (set, error) {
	if len(sets) == 0 {
		return set{}, err
	}
	return sets[0], err
}

// statement writes a query behind the declarations of its parameters. Variables rather than sp_executesql, so that
// FMTONLY sees the statement itself.
func statement(q *analyze.Query, value func(sqltype.Type) string) string {
	var out strings.Builder
	for _, p := range q.Params {
		if p.Table != nil {
			fmt.Fprintf(&out, "DECLARE %s %s;\n", p.Name, quote(p.Table.Name))
			continue
		}
		fmt.Fprintf(&out, "DECLARE %s %s = %s;\n", p.Name, declared(p.Type), value(p.Type))
	}
	out.WriteString(q.Text)
	return out.String()
}
