package define_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/define"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule/scheduletest"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// lab is a server whose sessions execute nothing but definitions.
type lab struct {
	t      testing.TB
	c      *scheduletest.Controlled
	server *schema.Server
	engine *store.Engine
	next   schedule.ID
}

func newLab(t testing.TB) *lab {
	t.Helper()
	c := scheduletest.New()
	t.Cleanup(c.Close)
	return &lab{
		t: t, c: c, server: schema.NewServer(value.DefaultCollation, "work", value.Value{}),
		engine: store.NewEngine(c, nil), next: 50,
	}
}

// session is a connection. It is the context of what is defined and the session of what is evaluated.
type session struct {
	execute.Session

	lab       *lab
	id        schedule.ID
	db        *schema.Database
	login     *schema.Login
	store     *store.Session
	statement *store.Statement
	file      *diag.File
	options   map[string]string
	temporary []*schema.Table
	messages  []string
	refuse    error // of Check
	open      bool  // a transaction of the user's
	users     []*session
}

// session opens a connection of sa.
func (l *lab) session() *session { return l.as("sa") }

// as opens a connection of a login.
func (l *lab) as(login string) *session {
	l.next++
	return &session{
		lab: l, id: l.next, db: l.server.Database("work"), login: l.server.Login(login), store: l.engine.Session(l.next),
		options: map[string]string{},
	}
}

func (s *session) Server() *schema.Server                   { return s.lab.server }
func (s *session) Database() *schema.Database               { return s.db }
func (s *session) Login() *schema.Login                     { return s.login }
func (s *session) Principal() *schema.Principal             { return s.db.UserOf(s.login) }
func (s *session) Store() *store.Session                    { return s.store }
func (s *session) Statement() *store.Statement              { return s.statement }
func (s *session) File() *diag.File                         { return s.file }
func (s *session) Schema() string                           { return s.Principal().DefaultSchema }
func (s *session) Option(name string) string                { return s.options[name] }
func (s *session) Info(string) execute.Value                { return execute.Value{} }
func (s *session) Random() uint64                           { return 4 }
func (s *session) InTransaction() bool                      { return s.open }
func (s *session) Check(*schema.Module) error               { return s.refuse }
func (s *session) Columns(*schema.Module) ([]string, error) { return []string{"a", "b"}, nil }
func (s *session) Isolation() store.Isolation               { return store.ReadCommitted }
func (s *session) Frame() *execute.Frame {
	return &execute.Frame{Context: context.Background(), Session: s}
}
func (s *session) Now() time.Time { return time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC) }
func (s *session) InUse(db *schema.Database) bool {
	return slices.ContainsFunc(s.users, func(o *session) bool { return o.db == db })
}

func (s *session) EndOthers(db *schema.Database, _ time.Duration) error {
	s.users = slices.DeleteFunc(s.users, func(o *session) bool { return o.db == db })
	return nil
}

func (s *session) LoggedIn(*schema.Login) bool { return false }

// AwaitOthers is as if LOCK_TIMEOUT were 0.
func (s *session) AwaitOthers(*schema.Database) (bool, error) { return false, nil }

func (s *session) Message(number int32, _ uint8, text string) {
	s.messages = append(s.messages, fmt.Sprintf("%d: %s", number, text))
}

func (s *session) Temporary(name string, _ bool) *schema.Table {
	for _, t := range s.temporary {
		if strings.EqualFold(t.Name, name) {
			return t
		}
	}
	return nil
}
func (s *session) TemporaryProcedure(string) *schema.Module { return nil }
func (s *session) AddTemporaryProcedure(*schema.Module)     {}
func (s *session) RemoveTemporaryProcedure(*schema.Module)  {}
func (s *session) AddTemporary(t *schema.Table)             { s.temporary = append(s.temporary, t) }
func (s *session) RemoveTemporary(t *schema.Table) {
	s.temporary = slices.DeleteFunc(slices.Clone(s.temporary), func(o *schema.Table) bool { return o == t })
}

// transaction runs f as a statement: in the user's transaction, or in one of its own.
func (s *session) transaction(f func() error) (err error) {
	if !s.open {
		s.store.Begin(store.ReadCommitted)
		defer func() {
			if err == nil {
				s.store.Commit()
			} else {
				s.store.Rollback()
			}
		}()
	}
	s.statement = s.store.Statement(context.Background(), store.StatementOptions{})
	err = f()
	s.statement.End(err)
	return err
}

func (s *session) begin() {
	s.store.Begin(store.ReadCommitted)
	s.open = true
}

func (s *session) rollback() {
	s.store.Rollback()
	s.open = false
}

func (s *session) commit() {
	s.store.Commit()
	s.open = false
}

// try executes a script, batch by batch, up to the first error.
func (s *session) try(text string) error {
	s.lab.t.Helper()
	for batch := range strings.SplitSeq(text, "\nGO\n") {
		s.file = diag.NewFile("batch", batch)
		script, found := syntax.Parse(s.file)
		if len(found) > 0 {
			s.lab.t.Fatal(found.Format())
		}
		for _, b := range script.Batches {
			for _, stmt := range b.Stmts {
				if !define.Handles(stmt) {
					s.lab.t.Fatalf("%s: not handled", s.file.Slice(stmt.Range()))
				}
				if err := s.transaction(func() error { return define.Execute(s, stmt) }); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// run executes a script that has no mistake.
func (s *session) run(text string) {
	s.lab.t.Helper()
	if err := s.try(text); err != nil {
		s.lab.t.Fatalf("%s: %v", text, err)
	}
}

// failure is what errors of a script look like: the numbers and messages, one a line.
func failure(err error) string {
	var lines []string
	var add func(err error)
	add = func(err error) {
		var several interface{ Unwrap() []error }
		var e *fault.Error
		switch {
		case errors.As(err, &several):
			for _, one := range several.Unwrap() {
				add(one)
			}
		case errors.As(err, &e):
			lines = append(lines, fmt.Sprintf("%d: %s", e.Number, e.Message))
		case err != nil:
			lines = append(lines, err.Error())
		}
	}
	add(err)
	return strings.Join(lines, "\n")
}

// table finds a table of the session's database.
func (s *session) table(name string) *schema.Table {
	s.lab.t.Helper()
	if strings.HasPrefix(name, "#") {
		return s.Temporary(name, false)
	}
	in, name, found := strings.Cut(name, ".")
	if !found {
		in, name = "dbo", in
	}
	t, ok := s.db.Find(in, name, "").(*schema.Table)
	if !ok {
		s.lab.t.Fatalf("there is no table %s.%s", in, name)
	}
	return t
}

// insert stores a row as it is. Strings and ints are values of such columns; nil is NULL.
func (s *session) insert(name string, values ...any) error {
	s.lab.t.Helper()
	row := make([]value.Value, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case int:
			row[i] = value.OfInt(int64(v))
		case string:
			row[i] = value.OfString(v)
		}
	}
	t := s.table(name)
	return s.transaction(func() error {
		_, err := s.statement.Insert(t.Data, row)
		return err
	})
}

// rows are those of an index of a table, in its order; index 0 is the clustered one or the heap.
func (s *session) rows(name string, index int) string {
	s.lab.t.Helper()
	t := s.table(name)
	var out []string
	err := s.transaction(func() error {
		c := s.statement.Scan(t.Indexes[index].Data, store.Range{}, false, s.statement.Access())
		defer c.Close()
		for {
			more, err := c.Next()
			if err != nil || !more {
				return err
			}
			var cells []string
			for _, v := range c.Values() {
				cells = append(cells, v.String())
			}
			out = append(out, "("+strings.Join(cells, " ")+")")
		}
	})
	if err != nil {
		s.lab.t.Fatal(err)
	}
	return strings.Join(out, " ")
}

// describe is a table in short.
func describe(t *schema.Table) string {
	var b strings.Builder
	for _, c := range t.Columns {
		fmt.Fprintf(&b, "%s %s", c.Name, c.Type)
		if c.Type.IsCharacter() && c.Type.Collation != nil && c.Type.Collation.Name != value.DefaultCollation.Name {
			fmt.Fprintf(&b, " %s", c.Type.Collation.Name)
		}
		for word, is := range map[string]bool{" null": c.Nullable} {
			if is {
				b.WriteString(word)
			}
		}
		if c.Identity {
			fmt.Fprintf(&b, " identity(%d,%d)", t.Identity.Seed, t.Identity.Increment)
		}
		if c.Computed != nil {
			fmt.Fprintf(&b, " as %s", c.Text)
		}
		if c.Stored {
			b.WriteString(" stored")
		}
		if c.Default != nil {
			fmt.Fprintf(&b, " default %s", c.Default.Text)
		}
		b.WriteString("; ")
	}
	for _, ix := range t.Indexes {
		fmt.Fprintf(&b, "%d", ix.ID)
		for _, word := range []struct {
			is   bool
			text string
		}{{ix.Unique, " unique"}, {ix.Clustered, " clustered"}, {!ix.PageLocks, " nopagelocks"}, {ix.Disabled, " disabled"}} {
			if word.is {
				b.WriteString(word.text)
			}
		}
		if ix.Key != nil {
			b.WriteString(" " + ix.Key.Kind)
		}
		if ix.ID != 0 {
			fmt.Fprintf(&b, " %s(%s)", ix.Name, keyColumns(t, ix))
		}
		if len(ix.Include) > 0 {
			fmt.Fprintf(&b, " include(%s)", names(t, ix.Include))
		}
		if ix.Where != nil {
			fmt.Fprintf(&b, " where %s", ix.Text)
		}
		b.WriteString("; ")
	}
	for _, ck := range t.Checks {
		fmt.Fprintf(&b, "%s %s; ", ck.Name, ck.Text)
	}
	for _, fk := range t.ForeignKeys {
		fmt.Fprintf(&b, "%s(%s)->%s(%s) %s/%s; ", fk.Name, names(t, fk.Columns), fk.References.Name,
			names(fk.References, fk.Referenced), fk.OnDelete, fk.OnUpdate)
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func keyColumns(t *schema.Table, ix *schema.Index) string {
	var list []string
	for _, c := range ix.Columns {
		name := t.Columns[c.Ordinal].Name
		if c.Desc {
			name += " desc"
		}
		list = append(list, name)
	}
	return strings.Join(list, ",")
}

func names(t *schema.Table, ordinals []int) string {
	var list []string
	for _, o := range ordinals {
		list = append(list, t.Columns[o].Name)
	}
	return strings.Join(list, ",")
}

// update gives the only row of a table another value.
func (s *session) update(name string, n int) error {
	t := s.table(name)
	return s.transaction(func() error {
		c := s.statement.Scan(t.Indexes[0].Data, store.Range{}, false, s.statement.Access())
		defer c.Close()
		if _, err := c.Next(); err != nil {
			return err
		}
		return s.statement.Update(t.Data, c.Row(), []value.Value{value.OfInt(int64(n))})
	})
}

// point is where a test lets the other session run.
var point = schedule.Point{Kind: "test"}
