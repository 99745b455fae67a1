package session

import (
	"bytes"
	"encoding/binary"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// identity is in whose name a session acts.
type identity struct {
	// login is who it is for the server. That of a user who is impersonated has no rights there.
	login *schema.Login
	// user is who it is in database, outside of which it is nobody. They are nil for a login, which may be a user in
	// any database.
	user     *schema.Principal
	database *schema.Database
	// from is the database in which EXECUTE AS stood. The last two are what it said of REVERT.
	from     *schema.Database
	noRevert bool
	cookie   []byte
}

// Login is the login that acts.
func (s *Session) Login() *schema.Login { return s.identities[len(s.identities)-1].login }

// UserIn is the user that the session is in a database; nil if it may not enter.
func (s *Session) UserIn(db *schema.Database) *schema.Principal {
	id := &s.identities[len(s.identities)-1]
	if id.user != nil && id.database == db {
		return id.user
	}
	return db.UserOf(id.login)
}

// user is whose rights count in the current database.
func (s *Session) user() *schema.Principal {
	if s.actingIn != s.db {
		s.actingIn = s.db
		if s.acting = s.UserIn(s.db); s.acting == nil {
			s.acting = s.db.Public()
		}
	}
	return s.acting
}

// assume makes an identity act until it is taken back.
func (s *Session) assume(id identity) {
	id.from = s.db
	s.identities = append(s.identities, id)
	s.actingIn = nil
}

// revertTo takes identities back until there are n.
func (s *Session) revertTo(n int) {
	if len(s.identities) > n {
		s.identities = s.identities[:n]
		s.actingIn = nil
	}
}

// runAs gives a module the identity that its WITH EXECUTE AS names. Who calls it needs no permission for that: whoever
// created it did.
func (s *Session) runAs(a *activation) error {
	m := a.unit.module
	if m == nil || !m.AsOwner && m.As == nil {
		return nil
	}
	user := m.As
	if m.AsOwner {
		user = owner(m)
	}
	db := m.Schema.Database
	if !db.MayImpersonate(user, user) {
		return fault.New(15517, user.Name)
	}
	s.assume(identity{login: user.InDatabase(db), user: user, database: db})
	a.own = len(s.identities)
	return nil
}

// executeAs executes EXECUTE AS.
func (s *Session) executeAs(a *activation, st *syntax.ExecuteAs) error {
	if a.function {
		return fault.New(443, "EXECUTE AS")
	}
	if st.Kind == "CALLER" {
		if a.unit.module != nil { // elsewhere it does nothing
			s.assume(s.identities[a.caller-1])
		}
		return nil
	}
	if (st.NoRevert || st.Cookie != nil) && a.unit.nests {
		return fault.New(15590)
	}
	name, err := s.convert(a, st.User, nameType)
	if err != nil {
		return err
	}
	text := ""
	if !name.IsNull() {
		text = name.Str()
	}
	id, err := s.impersonated(st.Kind, text)
	if err != nil {
		return err
	}
	id.noRevert = st.NoRevert
	if st.Cookie != nil {
		id.cookie = make([]byte, 16)
		binary.LittleEndian.PutUint64(id.cookie, s.server.random())
		binary.LittleEndian.PutUint64(id.cookie[8:], s.server.random())
		if err := s.set(a, st.Cookie.Name, value.OfBytes(id.cookie), cookieType); err != nil {
			return err
		}
	}
	s.assume(id)
	return nil
}

// impersonated is the identity of a USER or a LOGIN, if the session may take it.
func (s *Session) impersonated(kind, name string) (identity, error) {
	if kind == "USER" {
		user := s.db.Principal(name)
		if user == nil || !s.db.MayImpersonate(s.user(), user) {
			return identity{}, fault.New(15517, name)
		}
		return identity{login: user.InDatabase(s.db), user: user, database: s.db}, nil
	}
	login := s.server.catalog.Login(name)
	if login == nil || !s.server.catalog.MayLogin(s.Login(), "IMPERSONATE", login) {
		return identity{}, fault.New(15406, name)
	}
	if s.db.UserOf(login) == nil {
		return identity{}, fault.New(916, login.Name, s.db.Name)
	}
	return identity{login: login}, nil
}

// revert executes REVERT. In a module it takes back what the module has said, and nothing if there is no such thing.
func (s *Session) revert(a *activation, st *syntax.Revert) error {
	if a.function {
		return fault.New(443, "REVERT")
	}
	var cookie []byte
	if st.Cookie != nil {
		v, err := s.convert(a, st.Cookie, cookieType)
		if err != nil {
			return err
		}
		if cookie = []byte{}; !v.IsNull() {
			cookie = v.Bytes()
		}
	}
	n := len(s.identities)
	if n <= a.own {
		return nil
	}
	switch id := &s.identities[n-1]; {
	case id.noRevert:
		return fault.New(15196)
	case (id.cookie == nil) != (cookie == nil), !bytes.Equal(id.cookie, cookie):
		return fault.New(15591)
	case id.from != s.db:
		return fault.New(15199, "Execute As")
	}
	s.revertTo(n - 1)
	return nil
}

// May checks a permission on an object, or on some of its columns. The plan that needs it knows which objects a chain
// of owners covers, and asks for the others.
func (s *Session) May(permission string, object schema.Object, columns []schema.ColumnName) error {
	db := s.db
	if in := object.Head().Schema; in != nil && in.Database != nil {
		db = in.Database
	}
	user, err := s.userFor(db)
	if err != nil {
		return err
	}
	if columns == nil {
		return db.Check(user, permission, object, nil)
	}
	return db.CheckColumns(user, permission, object, columns)
}

// userFor is UserIn with error 916.
func (s *Session) userFor(db *schema.Database) (*schema.Principal, error) {
	if db == s.db {
		return s.user(), nil
	}
	if user := s.UserIn(db); user != nil {
		return user, nil
	}
	return nil, fault.New(916, s.Login().Name, db.Name)
}

// mayExecute checks that a procedure may be called. A module needs no permission for a procedure of its own owner, but
// dynamic SQL does.
func (s *Session) mayExecute(db *schema.Database, m *schema.Module) error {
	var chain *schema.Principal
	if a := s.top(); a != nil && a.unit.module != nil && a.unit.db == db {
		chain = owner(a.unit.module)
	}
	user, err := s.userFor(db)
	if err != nil {
		return err
	}
	return db.Check(user, "EXECUTE", m, chain)
}
