package planner_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/define"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// writer is a lab whose session also changes rows and executes triggers.
type writer struct {
	*lab

	numbered *schema.Table // of SET IDENTITY_INSERT
	identity value.Value
	messages []string
	options  map[string]string
	depth    int
}

func newWriter(tb testing.TB) *writer {
	tb.Helper()
	return &writer{lab: newLab(tb), options: map[string]string{}}
}

func (w *writer) IdentityInsert() *schema.Table { return w.numbered }
func (w *writer) SetIdentity(v value.Value)     { w.identity = v }
func (w *writer) ScopeIdentity() value.Value    { return w.identity }
func (w *writer) Option(name string) string     { return w.options[name] }
func (w *writer) Message(number int32, _ uint8, text string) {
	w.messages = append(w.messages, fmt.Sprintf("%d: %s", number, text))
}

func (w *writer) MakeTable(name *syntax.ObjectName, columns []binder.Column) (*schema.Table, error) {
	return define.IntoTable(&definer{w.lab}, name, columns)
}

// FireTriggers executes the statements of triggers, of which each has data and definitions only.
func (w *writer) FireTriggers(x *execute.Frame, t *schema.Table, event string, inserted, deleted *schema.Table) error {
	event, instead := strings.CutPrefix(event, planner.InsteadOf)
	for _, m := range t.Triggers {
		def, ok := m.Stmt.(*syntax.CreateTrigger)
		if !ok || def.InsteadOf != instead || !strings.Contains(strings.Join(def.Events, " "), event) {
			continue
		}
		if w.depth++; w.depth > 8 {
			return fault.New(217, 8)
		}
		outer := w.file
		w.file = m.File
		for _, stmt := range def.Body {
			env := w.env()
			env.Module = m
			env.Inserted, _ = binder.TriggerTable(env, w.db.Object(m.Parent))
			st, err := planner.Compile(env, stmt)
			if err != nil {
				return err
			}
			frame := &execute.Frame{
				Context: x.Context, Session: w, Variables: w.values, Tables: w.data, Inserted: inserted, Deleted: deleted, Updated: x.Updated,
			}
			if err := w.within(func() error {
				_, err := st.Run(frame, func([]value.Value) error { return nil })
				return err
			}); err != nil {
				return err
			}
		}
		w.file = outer
		w.depth--
	}
	return nil
}

func (w *writer) frame() *execute.Frame {
	x := w.lab.frame()
	x.Session = w
	return x
}

// do executes a script. It returns the rows and the counts that the last statement yields, or an error.
func (w *writer) do(text string) (out string) {
	w.tb.Helper()
	for batch := range strings.SplitSeq(text, "\nGO\n") {
		stmts := w.parse(batch)
		file := w.file
		for _, stmt := range stmts {
			w.file = file
			var err error
			if out, err = w.statementOf(stmt); err != nil {
				return failureOf(err)
			}
		}
	}
	return out
}

func (w *writer) statementOf(stmt syntax.Stmt) (string, error) {
	if define.Handles(stmt) {
		return "", w.within(func() error { return define.Execute(&admin{&definer{w.lab}}, stmt) })
	}
	switch s := stmt.(type) {
	case *syntax.Declare:
		return "", w.declare(s)
	case *syntax.SetOption:
		table := strings.TrimPrefix(s.Name, "IDENTITY_INSERT ")
		w.numbered, _ = w.db.FindTable("dbo", table, "dbo")
		if s.Value == "OFF" {
			w.numbered = nil
		}
		return "", nil
	}
	st, err := planner.Compile(w.env(), stmt)
	if err != nil {
		return "", err
	}
	var rows []string
	var n int64
	err = w.within(func() error {
		var err error
		n, err = st.Run(w.frame(), func(row []value.Value) error {
			parts := make([]string, len(row))
			for i, v := range row {
				parts[i] = show(v, st.Columns[i].Type)
			}
			rows = append(rows, strings.Join(parts, "|"))
			return nil
		})
		return err
	})
	if err != nil {
		return "", err
	}
	if st.Columns != nil {
		return strings.Join(rows, " "), nil
	}
	return fmt.Sprint(n), nil
}

// failureOf is an error as a client sees it.
func failureOf(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return fmt.Sprintf("%d: %s", e.Number, e.Message)
	}
	return err.Error()
}

// step is a statement with what comes of it: rows, a count, or an error.
type step struct{ text, want string }

// steps executes statements after each other.
func (w *writer) steps(t *testing.T, list []step) {
	t.Helper()
	for _, s := range list {
		if got := w.do(s.text); got != s.want {
			t.Errorf("%s\ngot  %s\nwant %s", s.text, got, s.want)
		}
	}
}

// replaceOnce puts a text in the place of %s.
func replaceOnce(s, by string) string { return strings.Replace(s, "%s", by, 1) }

// admin is the context of definitions of a session of sa.
type admin struct{ *definer }

func (a *admin) Login() *schema.Login { return a.l.server.Login("sa") }
