package tsqltest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// step is a batch and what comes of it, as outcome writes it. A batch that begins with "2: " is the second session's.
type step struct{ batch, want string }

// play executes steps on a server of its own, in two sessions.
func play(t *testing.T, setup string, steps []step) {
	t.Helper()
	server := tsqltest.New(t, tsqltest.Options{})
	first, second := session(t, server), session(t, server)
	if setup != "" {
		must(t, first, setup)
	}
	for _, s := range steps {
		conn, batch := first, s.batch
		if rest, ok := strings.CutPrefix(batch, "2: "); ok {
			conn, batch = second, rest
		}
		result, err := conn.Exec(t.Context(), batch)
		if got := outcome(result, err); got != s.want {
			t.Errorf("%s\n got %s\nwant %s\n(%v)", s.batch, got, s.want, err)
		}
	}
}

// outcome writes what a batch returns: the values of a row joined by commas, rows by blanks, sets by " / "; then
// messages in quotes, and the numbers of errors.
func outcome(result *tsqltest.Result, err error) string {
	var parts []string
	if result != nil {
		var sets []string
		for _, set := range result.Sets {
			rows := make([]string, len(set.Rows))
			for i, row := range set.Rows {
				values := make([]string, len(row))
				for k, v := range row {
					values[k] = fmt.Sprint(v)
				}
				rows[i] = strings.Join(values, ",")
			}
			sets = append(sets, strings.Join(rows, " "))
		}
		if len(sets) > 0 {
			parts = append(parts, strings.Join(sets, " / "))
		}
		for _, m := range result.Messages {
			parts = append(parts, fmt.Sprintf("%q", m))
		}
	}
	return strings.Join(append(parts, leaves(err)...), " ")
}

// leaves are the numbers of the errors that are joined in one.
func leaves(err error) []string {
	if err == nil {
		return nil
	}
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		var out []string
		for _, e := range list.Unwrap() {
			out = append(out, leaves(e)...)
		}
		return out
	}
	if e, ok := errors.AsType[*tsqltest.Error](err); ok {
		return []string{fmt.Sprintf("!%d", e.Number)}
	}
	return []string{err.Error()}
}
