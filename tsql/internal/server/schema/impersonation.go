package schema

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// LoginPermissions are what may be granted on a login, and ServerPermissions what may be granted on the server. SQL
// Server has more of the latter.
var (
	LoginPermissions  = []string{"ALTER", "CONTROL", "IMPERSONATE", "VIEW DEFINITION"}
	ServerPermissions = []string{"ALTER ANY CONNECTION", "ALTER ANY LOGIN", "IMPERSONATE ANY LOGIN", "VIEW SERVER STATE"}
)

// anyLogin are the permissions on the server that contain one on each login.
var anyLogin = map[string]string{
	"ALTER": "ALTER ANY LOGIN", "VIEW DEFINITION": "ALTER ANY LOGIN", "IMPERSONATE": "IMPERSONATE ANY LOGIN",
}

// fixedServer are the permissions on the server that its fixed roles have.
var fixedServer = map[string][]string{
	"securityadmin": {"ALTER ANY LOGIN"}, "serveradmin": {"VIEW SERVER STATE"},
	"processadmin": {"ALTER ANY CONNECTION", "VIEW SERVER STATE"}, "##ms_serverstatereader##": {"VIEW SERVER STATE"},
}

// MayLogin reports whether a login has a permission on another one, or on the server if that is nil. A system
// administrator has all, and each login those on itself.
func (s *Server) MayLogin(l *Login, permission string, on *Login) bool {
	switch {
	case l == nil:
		return false
	case l.Sysadmin, on != nil && on == l:
		return true
	}
	wanted := permission
	if on != nil {
		wanted = anyLogin[permission]
	}
	allowed := false
	for role := range l.Roles {
		allowed = allowed || slices.Contains(fixedServer[role], wanted)
	}
	for _, g := range s.Permissions {
		if g.Grantee != l {
			continue
		}
		exact := g.On == on && (g.Permission == permission || on != nil && g.Permission == "CONTROL")
		if !exact && (on == nil || g.On != nil || g.Permission != wanted) {
			continue
		}
		if g.Deny {
			return false
		}
		allowed = true
	}
	return allowed
}

// MayImpersonate reports whether a principal may act as another one of the database. Nobody acts as a role or as one of
// the system's own users, nor as a user whose login has gone.
func (db *Database) MayImpersonate(p, as *Principal) bool {
	switch {
	case as.Role, as.Fixed && as != db.Dbo() && as.Name != "guest":
		return false
	case as.Login != nil && db.server.Login(as.Login.Name) != as.Login:
		return false
	}
	return p == as || db.May(p, "IMPERSONATE", Securable{"USER", as.ID})
}

// Identifier is the security identifier of a login: that of sa is 1, others have 16 bytes.
func (l *Login) Identifier() []byte {
	if l.SID == 1 {
		return []byte{1}
	}
	sid := make([]byte, 16)
	binary.BigEndian.PutUint32(sid[12:], uint32(l.SID))
	return sid
}

// Identifier is the security identifier of a user without a login, S-1-9-3-… with four numbers of its own.
func (p *Principal) Identifier(db *Database) []byte {
	if p.Login != nil {
		return p.Login.Identifier()
	}
	sid := make([]byte, 28)
	copy(sid, []byte{1, 5, 0, 0, 0, 0, 0, 9, 3})
	for i, n := range []int32{db.ID, p.ID, 1, 1} {
		binary.LittleEndian.PutUint32(sid[12+4*i:], uint32(n))
	}
	return sid
}

// InDatabase is a user as the server sees it while it is impersonated: under the name of its login, with no rights
// outside the database. A user without a login goes by its security identifier.
func (p *Principal) InDatabase(db *Database) *Login {
	if p.Login != nil {
		return &Login{Name: p.Login.Name, SID: p.Login.SID, DefaultDatabase: p.Login.DefaultDatabase}
	}
	sid := p.Identifier(db)
	var name strings.Builder
	name.WriteString("S-1-9")
	for at := 8; at < len(sid); at += 4 {
		fmt.Fprintf(&name, "-%d", binary.LittleEndian.Uint32(sid[at:]))
	}
	return &Login{Name: name.String()}
}
