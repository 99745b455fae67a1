package syntax

import (
	"slices"
	"strings"
)

// principal reads CREATE or ALTER of a ROLE, USER or LOGIN. What follows the name may be more than the tree has room
// for; it is skipped then.
func (p *parser) principal(verb token) Stmt {
	kind := p.next().upper
	s := &CreatePrincipal{Words: verb.upper + " " + kind, Name: p.name("the name of a " + strings.ToLower(kind))}
	rest := p.at
	p.skipRest(false)
	var detail PrincipalDetail
	if p.reread(rest, func(p *parser) { detail = p.principalDetail() }) {
		s.Detail = &detail
	}
	s.Span = p.from(verb.Span)
	return s
}

// principalDetail reads what follows the name of a principal.
func (p *parser) principalDetail() PrincipalDetail {
	start := p.peek().Span
	var d PrincipalDetail
	named := func(action string) {
		name := p.grantee()
		d.Action, d.Name = action, &name
	}
	switch {
	case p.accept("AUTHORIZATION"):
		named("AUTHORIZATION")
	case p.accept("ADD", "MEMBER"):
		named("ADD MEMBER")
	case p.accept("DROP", "MEMBER"):
		named("DROP MEMBER")
	case p.accept("FOR", "LOGIN"), p.accept("FROM", "LOGIN"):
		named("FOR LOGIN")
	case p.accept("WITHOUT", "LOGIN"):
		d.Action = "WITHOUT LOGIN"
	case p.accept("ENABLE"):
		d.Action = "ENABLE"
	case p.accept("DISABLE"):
		d.Action = "DISABLE"
	}
	if p.accept("WITH") {
		d.Options = commaList(p, p.setting)
	}
	d.Span = p.from(start)
	return d
}

// setting reads NAME = value, where words may follow the value: PASSWORD = 'x' MUST_CHANGE.
func (p *parser) setting() Option {
	start := p.peek()
	if start.kind != tokenWord {
		p.failExpected("an option")
	}
	p.next()
	p.expect("=")
	value := p.peek()
	for t := p.peek(); t.kind != tokenEOF && !t.is(","); t = p.peek() {
		p.next()
	}
	return Option{Span: p.from(start.Span), Name: start.upper, Value: p.file.Slice(p.from(value.Span))}
}

// permission reads GRANT, DENY and REVOKE.
//
//	GRANT SELECT, UPDATE (total) ON OBJECT::dbo.orders TO app
//	REVOKE GRANT OPTION FOR EXECUTE ON dbo.p FROM app CASCADE
func (p *parser) permission() Stmt {
	verb := p.next()
	s := &Permission{Verb: verb.upper}
	if verb.is("REVOKE") {
		s.GrantOption = p.accept("GRANT", "OPTION", "FOR")
	}
	for more := true; more; more = p.accept(",") {
		name, columns := p.permissionName()
		s.Permissions, s.Columns = append(s.Permissions, name), append(s.Columns, columns)
	}
	if p.accept("ON") {
		s.Class = p.permissionClass()
		s.On = p.objectName()
		if p.peek().is("(") { // of all permissions alike
			columns := p.identList()
			for i := range s.Columns {
				s.Columns[i] = append(s.Columns[i], columns...)
			}
		}
	}
	if !slices.ContainsFunc(s.Columns, func(c []Ident) bool { return c != nil }) {
		s.Columns = nil
	}
	if from := verb.is("REVOKE") && p.accept("FROM"); !from && !p.accept("TO") {
		p.failExpected("TO")
	}
	s.To = commaList(p, p.grantee)
	switch {
	case verb.is("GRANT"):
		s.GrantOption = p.accept("WITH", "GRANT", "OPTION")
	default:
		s.Cascade = p.accept("CASCADE")
	}
	if p.accept("AS") {
		as := p.grantee()
		s.As = &as
	}
	s.Span = p.from(verb.Span)
	return s
}

// permissionName reads the words of one permission and its columns, if any, in upper case.
// A permission may have several words, VIEW CHANGE TRACKING, so it ends at ON, TO, FROM or a comma.
func (p *parser) permissionName() (string, []Ident) {
	var words []string
	for p.peek().kind == tokenWord && !p.peek().isAny("ON", "TO", "FROM") {
		words = append(words, p.next().upper)
	}
	if len(words) == 0 {
		p.failExpected("a permission")
	}
	name := strings.Join(words, " ")
	if !p.peek().is("(") {
		return name, nil
	}
	start := p.peek().Span
	columns := p.identList()
	return name + " " + strings.ToUpper(p.file.Slice(p.from(start))), columns
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
