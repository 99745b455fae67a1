package wire_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/golang-sql/sqlexp"
	"github.com/google/go-cmp/cmp"
	mssql "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/server/wire"
)

// write is a statement that has changed rows.
func (q *query) write(kind string, rows int64) error { return q.Done(kind, rows, true, q.inProcedure) }

// raise is THROW.
func raise(number int32, text string) *fault.Error {
	return &fault.Error{Number: number, Class: 16, State: 3, Message: text, Procedure: "dbo.p", Line: 12}
}

func TestRowsAffected(t *testing.T) {
	t.Parallel()
	run := func(q *query) error {
		return errors.Join(q.write("INSERT", 3), q.write("UPDATE", 4), q.Done("", 0, false, q.inProcedure))
	}
	_, db := start(t, scripts{
		"insert …;": run, "run": run,
		"nocount": func(q *query) error {
			return errors.Join(q.Done("INSERT", 3, false, q.inProcedure), q.ReturnStatus(0))
		},
		"exec run;": func(q *query) error {
			q.inProcedure = true
			return errors.Join(run(q), q.ReturnStatus(0), q.Done("EXEC", 0, false, false))
		},
		"-- nothing;": func(*query) error { return nil },
	})
	for text, want := range map[string]int64{"insert …;": 7, "run": 7, "nocount": 0, "exec run;": 7, "-- nothing;": 0} {
		result, err := db.ExecContext(t.Context(), text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got, _ := result.RowsAffected(); got != want {
			t.Errorf("%s: %d rows, not %d", text, got, want)
		}
	}
}

// list reads all result sets: their columns and their rows.
func list(rows *sql.Rows) (sets []string, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for {
		names, err := rows.Columns()
		if err != nil {
			return sets, err
		}
		var set strings.Builder
		set.WriteString(strings.Join(names, ",") + ":")
		for rows.Next() {
			values, into := make([]any, len(names)), make([]any, len(names))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				return sets, err
			}
			fmt.Fprint(&set, values)
		}
		sets = append(sets, set.String())
		if !rows.NextResultSet() {
			return sets, rows.Err()
		}
	}
}

func TestResultSets(t *testing.T) {
	t.Parallel()
	several := func(q *query) error {
		return errors.Join(
			q.Done("", 0, false, q.inProcedure), // SET NOCOUNT ON
			q.numbers("a", 1, 2), q.write("INSERT", 1), q.numbers("b"), q.Message(&fault.Error{Number: 0, Message: "print"}),
			q.numbers("c", 3),
		)
	}
	_, db := start(t, scripts{"several;": several, "several": several})
	for _, text := range []string{"several;", "several"} {
		rows, err := db.QueryContext(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := list(rows)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"a:[1][2]", "b:", "c:[3]"}, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	_, db := start(t, scripts{
		"fails;": func(q *query) error { return q.Error(raise(50001, "it does")) },
		"fails":  func(q *query) error { return q.Error(raise(50001, "it does")) },
		"goes on": func(q *query) error {
			return errors.Join(q.Error(raise(547, "first")), q.Done("", 0, false, true), q.write("INSERT", 2), q.ReturnStatus(-6))
		},
		"two": func(q *query) error {
			return errors.Join(q.Error(raise(2627, "first")), q.Error(raise(3621, "second")))
		},
		"late": func(q *query) error { return errors.Join(q.numbers("a", 1), q.Error(raise(1205, "deadlock"))) },
		"within": func(q *query) error {
			return errors.Join(
				q.Columns([]request.Column{{Name: "a", Type: value.OfKind("int")}}), q.Row([]value.Value{value.OfInt(1)}),
				q.Error(raise(8134, "zero")), q.numbers("b", 2))
		},
	})
	for text, want := range map[string]struct {
		number int32
		all    int
	}{"fails;": {50001, 1}, "fails": {50001, 1}, "goes on": {547, 1}, "two": {3621, 2}} {
		_, err := db.ExecContext(t.Context(), text)
		var e mssql.Error
		if !errors.As(err, &e) || e.Number != want.number || len(e.All) != want.all {
			t.Errorf("%s: %v with %d errors", text, err, len(e.All))
		}
		if e.Class != 16 || e.State != 3 || e.ProcName != "dbo.p" || e.LineNo != 12 || e.ServerName != "tsqltest" {
			t.Errorf("%s: %+v", text, e)
		}
	}
	for text, want := range map[string]string{"late": "a:[1]", "within": "a:[1] b:[2]"} {
		rows, err := db.QueryContext(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		sets, err := list(rows)
		if got := strings.Join(sets, " "); got != want || err == nil {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	// The connection has outlived all that.
	if err := db.PingContext(t.Context()); err != nil || db.Stats().OpenConnections != 1 {
		t.Errorf("%v, %d connections", err, db.Stats().OpenConnections)
	}
}

// An error of class 20 ends the connection, and so does an error of the session itself.
func TestSevereErrors(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 2)
	server := serve(t, scripts{
		"severe": func(q *query) error {
			e := raise(21, "the end")
			e.Class = 20
			return errors.Join(q.Error(e), errors.New("closed"))
		},
		"broken": func(*query) error { return errors.New("something broke") },
	}, wire.Options{Ended: func(_ net.Addr, reason error) { ended <- reason }})
	db := open(t, server.addr)
	for text, want := range map[string]string{"severe": "the end", "broken": "something broke"} {
		_, err := db.ExecContext(t.Context(), text)
		var e mssql.ServerError
		if !errors.As(err, &e) || !strings.Contains(chain(err), want) {
			t.Errorf("%s: %v", text, chain(err))
		}
		<-ended
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	_, db := start(t, scripts{"p": func(q *query) error {
		if !q.params[1].Output || q.params[0].Output {
			return errors.New("the flags are lost")
		}
		return errors.Join(
			q.numbers("a", 1), q.ReturnStatus(-4),
			q.Output("@n", 0, value.OfKind("int"), value.OfInt(42)),
			q.Output("@s", 1, value.NVarChar(-1), value.OfString(q.params[2].Value.Str()+astral)),
			q.Output("@none", 2, value.NVarChar(4000), value.Value{}),
		)
	}})
	var status mssql.ReturnStatus
	var n int32
	text, none := "in ", sql.NullString{String: "x", Valid: true}
	_, err := db.ExecContext(t.Context(), "p", sql.Named("x", 1), sql.Named("n", sql.Out{Dest: &n}),
		sql.Named("s", sql.Out{Dest: &text}), sql.Named("none", sql.Out{Dest: &none}), &status)
	if err != nil || status != -4 || n != 42 || text != "in "+astral || none.Valid {
		t.Errorf("%v: status %d, %d, %q, %v", err, status, n, text, none)
	}
	// With a query, the values are there once the rows have been read.
	n, status = 0, 0
	rows, err := db.QueryContext(t.Context(), "p", sql.Named("x", 1), sql.Named("n", sql.Out{Dest: &n}), sql.Named("s", sql.Out{Dest: &text}), &status)
	if err != nil {
		t.Fatal(err)
	}
	if sets, err := list(rows); err != nil || len(sets) != 1 || n != 42 || status != -4 {
		t.Errorf("%v, %v, %d, %d", sets, err, n, status)
	}
}

// The message queue shows each token in its place.
func TestMessageQueue(t *testing.T) {
	t.Parallel()
	_, db := start(t, scripts{"mixed": func(q *query) error {
		return errors.Join(
			q.Message(&fault.Error{Number: 50000, Class: 10, State: 1, Message: "hello"}), q.numbers("a", 1, 2),
			q.write("INSERT", 5), q.Error(raise(50002, "no")), q.Done("", 0, false, true), q.numbers("b", 3), q.ReturnStatus(0))
	}})
	queue := &sqlexp.ReturnMessage{}
	rows, err := db.QueryContext(t.Context(), "mixed", queue)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for active := true; active; {
		switch m := queue.Message(t.Context()).(type) {
		case sqlexp.MsgNotice:
			got = append(got, "notice "+m.Message.String())
		case sqlexp.MsgNext:
			for rows.Next() {
				var n int
				if err := rows.Scan(&n); err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprint("row ", n))
			}
		case sqlexp.MsgRowsAffected:
			got = append(got, fmt.Sprint("affected ", m.Count))
		case sqlexp.MsgError:
			var e mssql.Error
			if !errors.As(m.Error, &e) {
				t.Fatal(m.Error)
			}
			got = append(got, "error "+e.Message)
		case sqlexp.MsgNextResultSet:
			active = rows.NextResultSet()
		}
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
	want := []string{"notice hello", "row 1", "row 2", "affected 2", "affected 5", "error no", "row 3", "affected 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestManyRows(t *testing.T) {
	t.Parallel()
	const many = 100_000
	for _, size := range []string{"512", "4096", "32767"} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			blocked := 0
			server := serve(t, scripts{"q": func(q *query) error {
				rows := make([]int64, many)
				for i := range rows {
					rows[i] = int64(i)
				}
				return q.numbers("a", rows...)
			}}, wire.Options{Blocking: func(_ request.Session, wait func()) {
				blocked++
				wait()
			}})
			db := open(t, server.addr, "packet size="+size)
			rows, err := db.QueryContext(t.Context(), "q")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			for i := range many {
				var got int
				if !rows.Next() || rows.Scan(&got) != nil || got != i {
					t.Fatalf("row %d: %d, %v", i, got, rows.Err())
				}
			}
			if rows.Next() || rows.Err() != nil {
				t.Errorf("there is more: %v", rows.Err())
			}
			if blocked < 10 {
				t.Errorf("the sink has waited %d times through the hook", blocked)
			}
		})
	}
}
