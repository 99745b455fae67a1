package session

import (
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/define"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// definer is a session as package define sees it while a unit is executed.
type definer struct {
	s *Session
	u *unit
}

func (s *Session) defining(u *unit) define.Context { return definer{s, u} }

func (d definer) Server() *schema.Server       { return d.s.server.catalog }
func (d definer) Database() *schema.Database   { return d.s.db }
func (d definer) Login() *schema.Login         { return d.s.Login() }
func (d definer) Principal() *schema.Principal { return d.s.user() }
func (d definer) Store() *store.Session        { return d.s.store }
func (d definer) Statement() *store.Statement  { return d.s.Statement() }
func (d definer) File() *diag.File             { return d.u.file }
func (d definer) Schema() string               { return d.s.schemaOf(d.u) }
func (d definer) Option(name string) string    { return d.s.Option(name) }
func (d definer) Now() time.Time               { return d.s.Now() }
func (d definer) InTransaction() bool          { return d.s.transaction.count > 0 }

func (d definer) Message(number int32, class uint8, text string) { d.s.Message(number, class, text) }

// Frame is the activation; before the first statement of a batch there is none, and nothing asks for it.
func (d definer) Frame() *execute.Frame {
	if a := d.s.top(); a != nil {
		return &a.frame
	}
	return &execute.Frame{Context: d.s.ctx, Session: d.s}
}

// Check compiles a module that is being created.
func (d definer) Check(m *schema.Module) error { return d.s.checkModule(m) }

// Columns returns the names of the columns of a view.
func (d definer) Columns(m *schema.Module) ([]string, error) {
	columns, err := describer{d.s}.Columns(m)
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names, err
}

// InUse reports whether another session is in a database.
func (d definer) InUse(db *schema.Database) bool { return d.s.server.inUse(db, d.s) }

// EndOthers ends all other sessions that are in a database and do not go by themselves, and waits until they are gone.
func (d definer) EndOthers(db *schema.Database, after time.Duration) error {
	return d.s.endOthers(db, after)
}

// LoggedIn reports whether a session is one of the login.
func (d definer) LoggedIn(login *schema.Login) bool {
	for _, s := range d.s.server.sessions {
		if s.login == login {
			return true
		}
	}
	return false
}

// AwaitOthers waits until no other session is in a database, or LOCK_TIMEOUT is over.
func (d definer) AwaitOthers(db *schema.Database) (bool, error) {
	return d.s.awaitOthers(db, d.s.options.lockTimeout)
}
