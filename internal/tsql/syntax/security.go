package syntax

import (
	"strings"
)

// principal reads CREATE or ALTER of a ROLE, USER or LOGIN; only the name is looked at.
// What follows the name (passwords, memberships) is skipped and kept nowhere.
func (p *parser) principal(verb token) Stmt {
	kind := p.next().upper
	s := &CreatePrincipal{Words: verb.upper + " " + kind, Name: p.name("the name of a " + strings.ToLower(kind))}
	p.skipRest(false)
	s.Span = p.from(verb.Span)
	return s
}

// permission reads GRANT, DENY and REVOKE.
//
//	GRANT SELECT, UPDATE (total) ON OBJECT::dbo.orders TO app
//	REVOKE GRANT OPTION FOR EXECUTE ON dbo.p FROM app CASCADE
func (p *parser) permission() Stmt {
	verb := p.next()
	s := &Permission{Verb: verb.upper}
	if verb.is("REVOKE") {
		p.accept("GRANT", "OPTION", "FOR")
	}
	s.Permissions = commaList(p, p.permissionName)
	if p.accept("ON") {
		s.Class = p.permissionClass()
		s.On = p.objectName()
	}
	if from := verb.is("REVOKE") && p.accept("FROM"); !from && !p.accept("TO") {
		p.failExpected("TO")
	}
	s.To = commaList(p, p.grantee)
	switch {
	case verb.is("GRANT"):
		p.accept("WITH", "GRANT", "OPTION")
	default:
		p.accept("CASCADE")
	}
	if p.accept("AS") {
		p.grantee()
	}
	s.Span = p.from(verb.Span)
	return s
}

// permissionName reads the words of one permission and its columns, if any, in upper case.
// A permission may have several words, VIEW CHANGE TRACKING, so it ends at ON, TO, FROM or a comma.
func (p *parser) permissionName() string {
	var words []string
	for p.peek().kind == tokenWord && !p.peek().isAny("ON", "TO", "FROM") {
		words = append(words, p.next().upper)
	}
	if len(words) == 0 {
		p.failExpected("a permission")
	}
	name := strings.Join(words, " ")
	if p.peek().is("(") {
		start := p.peek().Span
		p.identList()
		name += " " + strings.ToUpper(p.file.Slice(p.from(start)))
	}
	return name
}

// permissionClass reads the words before "::", or nothing.
// Without the colons, the words are the name itself: ON dbo.orders.
func (p *parser) permissionClass() string {
	n := 0
	for p.peekN(n).kind == tokenWord {
		n++
	}
	if n == 0 || !p.peekN(n).is("::") {
		return ""
	}
	class := strings.Join(p.words(), " ")
	p.next() // ::
	return class
}

// grantee reads a principal; PUBLIC is one in spite of being a keyword.
func (p *parser) grantee() Ident {
	if p.peek().is("PUBLIC") {
		return p.next().asIdent()
	}
	return p.name("the name of a user or role")
}
