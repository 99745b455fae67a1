package syntax

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// dropKinds are the objects that are dropped by name alone, with the number of parts that the name may have.
var dropKinds = map[string]int{
	"AGGREGATE": 2, "DATABASE": 1, "DEFAULT": 2, "FUNCTION": 3, "LOGIN": 1, "PROC": 3, "PROCEDURE": 3, "ROLE": 1,
	"RULE": 2, "SCHEMA": 1, "SEQUENCE": 3, "STATISTICS": 3, "SYNONYM": 3, "TABLE": 3, "TYPE": 2, "USER": 1, "VIEW": 3,
}

// drop reads DROP of anything.
//
//	DROP TABLE IF EXISTS dbo.a, dbo.b
//	DROP PROCEDURE dbo.p
func (p *parser) drop() Stmt {
	verb := p.next()
	t := p.peek()
	parts := dropKinds[t.upper]
	// DROP DATABASE SCOPED CREDENTIAL and the like are not about a database of that name.
	database := t.is("DATABASE") && p.peekN(1).isAny("SCOPED", "ENCRYPTION", "AUDIT")
	switch {
	case t.is("INDEX"):
		return p.dropIndex(verb.Span)
	case t.is("TRIGGER"):
		return p.dropTrigger(verb.Span)
	case t.kind != tokenWord || parts == 0 || database:
		return p.plain(verb)
	}
	p.next()
	s := &Drop{Kind: longKind(t.upper), IfExists: p.ifExists()}
	s.Names = p.dropNames(s.Kind, parts)
	s.Span = p.from(verb.Span)
	return s
}

// ifExists reads IF EXISTS, and reports whether it was there.
func (p *parser) ifExists() bool {
	if !p.accept("IF") {
		return false
	}
	p.expect("EXISTS")
	return true
}

// dropNames reads the names of what is dropped.
// kind is that of DROP, for the message.
func (p *parser) dropNames(kind string, parts int) []*ObjectName {
	what := "the name of a " + strings.ToLower(kind)
	names := []*ObjectName{p.qualifiedName(what, parts)}
	for p.accept(",") {
		names = append(names, p.qualifiedName(what, parts))
	}
	return names
}

// dropTrigger reads TRIGGER [IF EXISTS] names [ON DATABASE | ON ALL SERVER].
// A trigger on the database or the server has no schema, and needs ON to be found.
func (p *parser) dropTrigger(start diag.Span) Stmt {
	p.next()
	s := &Drop{Kind: "TRIGGER", IfExists: p.ifExists()}
	s.Names = p.dropNames(s.Kind, 3)
	if p.accept("ON") && !p.accept("DATABASE") {
		p.expect("ALL", "SERVER")
	}
	s.Span = p.from(start)
	return s
}

// dropIndex reads INDEX [IF EXISTS] name ON table [WITH (…)], …, or the old form table.name. Indexes of several tables
// are several statements.
func (p *parser) dropIndex(start diag.Span) Stmt {
	p.next()
	exists := p.ifExists()
	list := &several{}
	for {
		s := &Drop{Kind: "INDEX", IfExists: exists, Names: []*ObjectName{p.qualifiedName("the name of an index", 3)}}
		switch {
		case p.accept("ON"):
			s.On = p.objectName()
			if p.accept("WITH") {
				p.optionList()
			}
		case len(s.Names[0].Parts) == 1:
			p.failExpected("ON")
		}
		list.stmts = append(list.stmts, s)
		if !p.accept(",") {
			break
		}
	}
	list.Span = p.from(start)
	for _, s := range list.stmts {
		if drop, ok := s.(*Drop); ok {
			drop.Span = list.Span
		}
	}
	return list.simplest()
}
