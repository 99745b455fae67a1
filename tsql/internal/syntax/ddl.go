package syntax

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// plainKinds are the objects whose definitions no stage looks into, by the words that name them; a phrase stands before
// those it begins with. What CREATE, ALTER or DROP says of them becomes Other.
var plainKinds = splitAll(
	"APPLICATION ROLE", "ASSEMBLY", "ASYMMETRIC KEY", "AUTHORIZATION", "AVAILABILITY GROUP", "BROKER PRIORITY",
	"CERTIFICATE", "CONTRACT", "MESSAGE TYPE", "QUEUE", "REMOTE SERVICE BINDING", "ROUTE", "SERVICE",
	"COLUMN ENCRYPTION KEY", "COLUMN MASTER KEY", "CREDENTIAL", "CRYPTOGRAPHIC PROVIDER", "DATABASE AUDIT SPECIFICATION",
	"DATABASE ENCRYPTION KEY", "DATABASE SCOPED CONFIGURATION", "DATABASE SCOPED CREDENTIAL", "DATABASE", "ENDPOINT",
	"EVENT NOTIFICATION", "EVENT SESSION", "EXTERNAL DATA SOURCE", "EXTERNAL FILE FORMAT", "FULLTEXT CATALOG",
	"FULLTEXT INDEX", "FULLTEXT STOPLIST", "JSON INDEX", "MASTER KEY", "PARTITION FUNCTION", "PARTITION SCHEME",
	"PRIMARY XML INDEX", "RESOURCE GOVERNOR", "RESOURCE POOL", "RULE", "SEARCH PROPERTY LIST", "SECURITY POLICY",
	"SELECTIVE XML INDEX", "SERVER AUDIT", "SERVER CONFIGURATION", "SERVER ROLE", "SPATIAL INDEX", "STATISTICS",
	"SYMMETRIC KEY", "VECTOR INDEX", "WORKLOAD GROUP", "XML INDEX", "XML SCHEMA COLLECTION", "DEFAULT",
)

// knownKinds are the objects with definitions of their own, for suggestions.
var knownKinds = strings.Fields(`
	TABLE INDEX TYPE VIEW FUNCTION PROCEDURE TRIGGER SEQUENCE SYNONYM SCHEMA ROLE USER LOGIN STATISTICS DATABASE`)

// serverWords begin statements about the server or a database, and those that go by a text pointer. The number is that
// of their leading words.
var serverWords = map[string]int{
	"BACKUP": 2, "BULK": 2, "CHECKPOINT": 1, "DBCC": 2, "KILL": 1, "RECONFIGURE": 1, "RESTORE": 2, "REVERT": 1,
	"SHUTDOWN": 1, "UPDATETEXT": 1, "WRITETEXT": 1, "READTEXT": 1,
}

// splitAll divides phrases into their words.
func splitAll(phrases ...string) [][]string {
	list := make([][]string, len(phrases))
	for i, phrase := range phrases {
		list[i] = strings.Fields(phrase)
	}
	return list
}

// definition reads a statement that defines something, or one about the server, or returns nil if none begins with t.
func (p *parser) definition(t token) Stmt {
	switch {
	case t.is("CREATE"):
		return p.create()
	case t.is("ALTER"):
		return p.alter()
	case t.is("DROP"):
		return p.drop()
	case t.isAny("GRANT", "DENY", "REVOKE"):
		return p.permission()
	case t.isAny("ENABLE", "DISABLE") && p.peekN(1).is("TRIGGER"):
		return p.other(2)
	case t.kind == tokenWord && serverWords[t.upper] > 0:
		return p.other(serverWords[t.upper])
	default:
		return nil
	}
}

// create reads CREATE [OR ALTER] of anything.
// Modules are tried first, since only they take OR ALTER.
func (p *parser) create() Stmt {
	verb := p.next()
	if t := p.peekN(1); p.peek().is("OR") && !t.is("ALTER") {
		p.fail(t.Span, "write CREATE OR ALTER", "expected ALTER, found %s", t.describe())
	}
	form := moduleForm{start: verb.Span, orAlter: p.accept("OR", "ALTER")}
	if s := p.module(form); s != nil {
		return s
	}
	t := p.peek()
	switch { // what isn't a module
	case form.orAlter:
		p.fail(t.Span, "", "CREATE OR ALTER is for procedures, functions, views and triggers, not for %s", t.describe())
	case t.is("TABLE"):
		return p.createTable(verb.Span)
	case p.indexNext():
		return p.createIndex(verb.Span)
	case t.is("TYPE"):
		return p.createType(verb.Span)
	case t.is("SEQUENCE"):
		return p.createSequence(verb.Span)
	case t.is("SYNONYM"):
		return p.createSynonym(verb.Span)
	case t.is("SCHEMA"):
		return p.createSchema(verb.Span)
	case t.isAny("ROLE", "USER", "LOGIN"):
		return p.principal(verb)
	}
	return p.plain(verb)
}

// plain reads the rest of CREATE, ALTER or DROP of something that isn't looked into.
// An object of no known kind is refused: a misspelt TABEL must not be skipped like a certificate.
func (p *parser) plain(verb token) Stmt {
	t := p.peek()
	for _, words := range plainKinds {
		if p.accept(words...) {
			return p.withDetail(verb, verb.upper+" "+strings.Join(words, " "), verb.is("ALTER") && words[0] == "DATABASE")
		}
	}
	if t.kind != tokenWord {
		p.failExpected("the kind of an object")
	}
	fix := ""
	if word := diag.Nearest(t.upper, knownKinds); word != "" {
		fix = "write " + word
	}
	p.fail(t.Span, fix, "%s %s isn't supported", verb.upper, clip(t.upper))
	return nil
}

// alter reads ALTER of anything.
// ALTER of a module is its definition anew, and has the tree of CREATE.
func (p *parser) alter() Stmt {
	verb := p.next()
	if s := p.module(moduleForm{start: verb.Span, alter: true}); s != nil {
		return s
	}
	switch t := p.peek(); {
	case t.is("TABLE"):
		return p.alterTable(verb.Span)
	case t.isAny("ROLE", "USER", "LOGIN"):
		return p.principal(verb)
	case t.isAny("INDEX", "SEQUENCE", "SCHEMA"):
		p.next()
		if next := p.peek(); !next.is("ALL") && !next.isName() {
			p.failExpected("a name")
		}
		return p.withDetail(verb, "ALTER "+t.upper, t.is("INDEX"))
	}
	return p.plain(verb)
}

// createType reads CREATE TYPE name FROM type, or AS TABLE (…).
//
//	CREATE TYPE dbo.email FROM nvarchar(320) NOT NULL
//	CREATE TYPE dbo.lines AS TABLE (no int NOT NULL, amount money)
func (p *parser) createType(start diag.Span) Stmt {
	p.next()
	s := &CreateType{Name: p.qualifiedName("the name of a type", 2)}
	switch {
	case p.accept("FROM"):
		s.From = p.typeName()
		s.NotNull = p.nullability() == NullRefused
	case p.accept("AS"):
		if t := p.peek(); !t.is("TABLE") {
			p.fail(t.Span, "write AS TABLE, or FROM and a data type", "expected TABLE, found %s", t.describe())
		}
		p.next()
		s.Table = p.tableDef()
		if p.accept("WITH") {
			s.Options = p.optionList()
		}
	case p.peek().is("EXTERNAL"):
		p.fail(p.peek().Span, "", "types written in another language aren't supported")
	default:
		p.failExpected("FROM", "AS TABLE")
	}
	s.Span = p.from(start)
	return s
}

// createSequence reads CREATE SEQUENCE name [AS type] and its properties, each with its number.
//
//	CREATE SEQUENCE dbo.s AS int START WITH 1 INCREMENT BY 1 NO CACHE
//
// The properties may come in any order.
func (p *parser) createSequence(start diag.Span) Stmt {
	p.next()
	s := &CreateSequence{Name: p.qualifiedName("the name of a sequence", 2)}
	for {
		switch {
		case p.accept("AS"):
			s.Type = p.typeName()
		case p.accept("START", "WITH"):
			s.Properties.Start = p.number()
		case p.sequenceProperty(&s.Properties):
		default:
			s.Span = p.from(start)
			return s
		}
	}
}

// sequenceProperty reads one of the properties that CREATE and ALTER SEQUENCE share, and reports whether there was one.
func (p *parser) sequenceProperty(s *SequenceProperties) bool {
	switch {
	case p.accept("INCREMENT", "BY"):
		s.Increment = p.number()
	case p.accept("MINVALUE"):
		s.Min = p.number()
	case p.accept("MAXVALUE"):
		s.Max = p.number()
	case p.accept("NO", "MINVALUE"):
		s.NoMin = true
	case p.accept("NO", "MAXVALUE"):
		s.NoMax = true
	case p.accept("CYCLE"):
		s.Cycle = "CYCLE"
	case p.accept("NO", "CYCLE"):
		s.Cycle = "NO CYCLE"
	case p.accept("NO", "CACHE"):
		s.Cache = "NO CACHE"
	case p.accept("CACHE"):
		s.Cache = "CACHE"
		if p.peek().kind == tokenInt {
			s.Cache = p.number()
		}
	default:
		return false
	}
	return true
}

// number reads a whole number with its sign.
// A decimal without fraction is one too: bounds of bigint may be written as such.
func (p *parser) number() string {
	sign := ""
	if p.accept("-") {
		sign = "-"
	} else {
		p.accept("+")
	}
	if k := p.peek().kind; k != tokenInt && k != tokenDecimal {
		p.failExpected("a number")
	}
	return sign + p.next().value
}

// createSynonym reads CREATE SYNONYM name FOR object.
func (p *parser) createSynonym(start diag.Span) Stmt {
	p.next()
	name := p.qualifiedName("the name of a synonym", 2)
	p.expect("FOR")
	target := p.objectName()
	return &CreateSynonym{Span: p.from(start), Name: name, For: target}
}

// createSchema reads CREATE SCHEMA name [AUTHORIZATION owner]. Definitions that follow without a separator would belong
// to the statement; they are refused.
func (p *parser) createSchema(start diag.Span) Stmt {
	p.next()
	s := &CreateSchema{}
	if p.peek().is("AUTHORIZATION") {
		p.next()
		s.Name = p.name("the name of a user")
	} else {
		s.Name = p.name("the name of a schema")
		if p.accept("AUTHORIZATION") {
			owner := p.name("the name of a user")
			s.Owner = &owner
		}
	}
	s.Span = p.from(start)
	if t := p.peek(); t.isAny("CREATE", "GRANT", "DENY", "REVOKE") {
		p.fail(t.Span, "put GO before it", "a schema with its elements in one statement isn't supported")
	}
	return s
}
