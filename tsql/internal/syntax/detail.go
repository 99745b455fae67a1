package syntax

import (
	"slices"
	"strings"
	"sync"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// withDetail skips the rest of a statement that begins with the given words, and looks at what it has skipped for those
// who execute it. set is for skipRest.
func (p *parser) withDetail(start token, words string, set bool) Stmt {
	s := &Other{Words: words}
	rest := p.at
	p.skipRest(set)
	s.Span = p.from(start.Span)
	if read := detailReaders()[words]; read != nil {
		var detail Detail
		if p.reread(rest, func(p *parser) { detail = read(p, start, words) }) {
			s.Detail = detail
		}
	}
	return s
}

// reread calls a production for the tokens from an index up to the next one, and reports whether it could read all of
// them. Its failure is no finding: for most readers of a script it is enough to know where the statement ends.
func (p *parser) reread(from int, production func(*parser)) (ok bool) {
	end := p.tokens[p.at-1].To
	tokens := append(slices.Clone(p.tokens[from:p.at]), token{Span: diag.Span{From: end, To: end}, kind: tokenEOF})
	sub := &parser{file: p.file, tokens: tokens, depth: p.depth, except: p.except}
	defer func() {
		if r := recover(); r != nil {
			if _, failed := r.(syntaxError); !failed {
				panic(r)
			}
			ok = false
		}
	}()
	production(sub)
	return sub.peek().kind == tokenEOF && len(sub.found) == 0
}

// detailReaders read what follows the words of an Other.
var detailReaders = sync.OnceValue(func() map[string]func(p *parser, start token, words string) Detail {
	// Made when it is first used, since the table and the productions refer to each other.
	readers := map[string]func(p *parser, start token, words string) Detail{
		"CREATE FULLTEXT INDEX": (*parser).fullTextIndex,
		"ALTER INDEX":           (*parser).alterIndex, "ALTER SEQUENCE": (*parser).alterSequence,
		"ALTER SCHEMA": (*parser).alterSchema, "ALTER AUTHORIZATION": (*parser).alterAuthorization,
		"CREATE DATABASE": (*parser).createDatabase, "ALTER DATABASE": (*parser).alterDatabase,
		"ENABLE TRIGGER": (*parser).switchTrigger, "DISABLE TRIGGER": (*parser).switchTrigger,
		"ALTER SERVER ROLE": (*parser).alterServerRole, "UPDATE STATISTICS": (*parser).updateStatistics,
		"REVERT": (*parser).revert, "KILL": (*parser).kill,
		"CREATE JSON INDEX": (*parser).specialIndex, "CREATE PRIMARY XML INDEX": (*parser).specialIndex,
		"CREATE SELECTIVE XML INDEX": (*parser).specialIndex, "CREATE SPATIAL INDEX": (*parser).specialIndex,
		"CREATE VECTOR INDEX": (*parser).specialIndex, "CREATE XML INDEX": (*parser).specialIndex,
	}
	for command := range strings.FieldsSeq("CHECKIDENT FREEPROCCACHE DROPCLEANBUFFERS FREESESSIONCACHE FREESYSTEMCACHE " +
		"TRACEON TRACEOFF OPENTRAN CHECKDB CHECKTABLE CHECKCONSTRAINTS UPDATEUSAGE SHRINKFILE SHRINKDATABASE") {
		readers["DBCC "+command] = (*parser).dbcc
	}
	return readers
})

// specialIndex reads name ON table and passes over the rest.
//
//	CREATE XML INDEX ix ON dbo.t (page) USING XML INDEX px FOR PATH
func (p *parser) specialIndex(start token, _ string) Detail {
	s := &SpecialIndex{Name: p.name("the name of an index")}
	p.expect("ON")
	s.Table = p.objectName()
	for p.peek().kind != tokenEOF {
		p.next()
	}
	s.Span = p.from(start.Span)
	return s
}

// fullTextIndex reads ON table, the columns, which it passes over, KEY INDEX name, and passes over the rest.
func (p *parser) fullTextIndex(start token, _ string) Detail {
	s := &FullTextIndex{}
	p.expect("ON")
	s.Table = p.objectName()
	for !p.peek().is("KEY") && p.peek().kind != tokenEOF {
		p.next()
	}
	p.expect("KEY", "INDEX")
	s.Key = p.name("the name of an index")
	for p.peek().kind != tokenEOF {
		p.next()
	}
	s.Span = p.from(start.Span)
	return s
}

// alterIndex reads name|ALL ON table and the action.
//
//	ALTER INDEX ix ON dbo.t SET (ALLOW_PAGE_LOCKS = OFF)
//	ALTER INDEX ALL ON dbo.t REBUILD PARTITION = ALL WITH (ONLINE = ON)
func (p *parser) alterIndex(start token, _ string) Detail {
	s := &AlterIndex{}
	if !p.accept("ALL") {
		name := p.name("the name of an index")
		s.Name = &name
	}
	p.expect("ON")
	s.Table = p.objectName()
	t := p.peek()
	switch {
	case p.accept("SET"):
		s.Options = p.optionList()
	case t.isAny("REBUILD", "REORGANIZE"):
		p.next()
		p.accept("PARTITION", "=", "ALL")
		if p.accept("WITH") {
			s.Options = p.optionList()
		}
	default:
		p.expect("DISABLE")
	}
	s.Action = t.upper
	s.Span = p.from(start.Span)
	return s
}

// alterSequence reads a name and properties, RESTART among them.
func (p *parser) alterSequence(start token, _ string) Detail {
	s := &AlterSequence{Name: p.qualifiedName("the name of a sequence", 2)}
	for more := true; more; {
		switch {
		case p.accept("RESTART"):
			s.Restart = true
			if p.accept("WITH") {
				s.Properties.Start = p.number()
			}
		default:
			more = p.sequenceProperty(&s.Properties)
		}
	}
	s.Span = p.from(start.Span)
	return s
}

// alterSchema reads name TRANSFER [class::]object.
func (p *parser) alterSchema(start token, _ string) Detail {
	s := &AlterSchema{Name: p.name("the name of a schema")}
	p.expect("TRANSFER")
	s.Class = p.permissionClass()
	s.Object = p.objectName()
	s.Span = p.from(start.Span)
	return s
}

// alterAuthorization reads ON [class::]thing TO principal|SCHEMA OWNER.
func (p *parser) alterAuthorization(start token, _ string) Detail {
	p.expect("ON")
	s := &AlterAuthorization{Class: p.permissionClass()}
	s.On = p.objectName()
	p.expect("TO")
	if !p.accept("SCHEMA", "OWNER") {
		to := p.grantee()
		s.To = &to
	}
	s.Span = p.from(start.Span)
	return s
}

// createDatabase reads name [COLLATE collation]. Files and their like are not read.
func (p *parser) createDatabase(start token, _ string) Detail {
	s := &CreateDatabase{Name: p.name("the name of a database")}
	if p.accept("COLLATE") {
		s.Collation = p.ident().Value
	}
	s.Span = p.from(start.Span)
	return s
}

// alterDatabase reads name|CURRENT and what changes.
//
//	ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE
//	ALTER DATABASE d SET COMPATIBILITY_LEVEL = 150
func (p *parser) alterDatabase(start token, _ string) Detail {
	s := &AlterDatabase{}
	if !p.accept("CURRENT") {
		name := p.name("the name of a database")
		s.Name = &name
	}
	switch {
	case p.accept("SET"):
		s.Options = commaList(p, p.databaseOption)
		if p.accept("WITH") {
			p.termination(s)
		}
	case p.accept("COLLATE"):
		s.Collation = p.ident().Value
	default:
		p.expect("MODIFY", "NAME", "=")
		name := p.name("the name of a database")
		s.NewName = &name
	}
	s.Span = p.from(start.Span)
	return s
}

// termination reads what becomes of other sessions.
func (p *parser) termination(s *AlterDatabase) {
	switch {
	case p.accept("NO_WAIT"):
		s.Termination = "NO_WAIT"
	case p.accept("ROLLBACK", "IMMEDIATE"):
		s.Termination = "ROLLBACK IMMEDIATE"
	default:
		p.expect("ROLLBACK", "AFTER")
		s.Termination, s.Seconds = "ROLLBACK AFTER", p.number()
		p.accept("SECONDS")
	}
}

// revert reads [WITH COOKIE = @v].
func (p *parser) revert(start token, _ string) Detail {
	s := &Revert{}
	if p.accept("WITH") {
		p.expect("COOKIE", "=")
		s.Cookie = p.variable()
	}
	s.Span = p.from(start.Span)
	return s
}

// kill reads the number of a session [WITH STATUSONLY]. The unit of work of a distributed transaction is not read.
func (p *parser) kill(start token, _ string) Detail {
	s := &Kill{Session: p.number()}
	if p.accept("WITH") {
		p.expect("STATUSONLY")
		s.StatusOnly = true
	}
	s.Span = p.from(start.Span)
	return s
}

// databaseOption reads an option of ALTER DATABASE SET: a word, and with or without = its value.
func (p *parser) databaseOption() Option {
	t := p.peek()
	if t.kind != tokenWord {
		p.failExpected("an option")
	}
	p.next()
	o := Option{Name: t.upper}
	value := p.peek()
	if p.accept("=") {
		value = p.peek()
	}
	for depth := 0; ; p.next() {
		next := p.peek()
		if next.kind == tokenEOF || depth == 0 && next.isAny(",", "WITH") {
			break
		}
		if next.is("(") {
			depth++
		} else if next.is(")") {
			depth--
		}
	}
	o.Span = p.from(t.Span)
	if o.Span.To > value.From {
		o.Value = strings.ToUpper(p.file.Slice(p.from(value.Span)))
	}
	return o
}

// switchTrigger reads names|ALL ON table|DATABASE|ALL SERVER.
func (p *parser) switchTrigger(start token, words string) Detail {
	s := &SwitchTrigger{Enable: words == "ENABLE TRIGGER"}
	if !p.accept("ALL") {
		s.Names = commaList(p, p.objectName)
	}
	p.expect("ON")
	if !p.accept("DATABASE") && !p.accept("ALL", "SERVER") {
		s.On = p.objectName()
	}
	s.Span = p.from(start.Span)
	return s
}

// dbcc reads arguments in parentheses and options.
//
//	DBCC CHECKIDENT ('dbo.t', RESEED, 10) WITH NO_INFOMSGS
func (p *parser) dbcc(start token, words string) Detail {
	s := &DBCC{Command: strings.TrimPrefix(words, "DBCC ")}
	if p.accept("(") {
		if !p.peek().is(")") {
			s.Args = commaList(p, p.dbccArgument)
		}
		p.expect(")")
	}
	if p.accept("WITH") {
		for more := true; more; more = p.accept(",") {
			t := p.peek()
			words := p.words()
			s.Options = append(s.Options, Option{Span: p.from(t.Span), Name: strings.Join(words, " ")})
		}
	}
	s.Span = p.from(start.Span)
	return s
}

// dbccArgument reads a constant, a variable, or a word, which is a string.
func (p *parser) dbccArgument() Expr {
	if t := p.peek(); t.kind == tokenWord || t.kind == tokenQuoted {
		from := p.at
		for p.peek().kind == tokenWord || p.peek().kind == tokenQuoted || p.peek().is(".") {
			p.next()
		}
		span := p.from(p.tokens[from].Span)
		return &Literal{Span: span, Kind: StringLiteral, Value: p.file.Slice(span)}
	}
	return p.expr()
}

// alterServerRole reads name ADD|DROP MEMBER login.
func (p *parser) alterServerRole(start token, _ string) Detail {
	s := &AlterServerRole{Name: p.name("the name of a role")}
	verb := p.next()
	p.expect("MEMBER")
	member := p.name("the name of a login")
	s.Action, s.Member = verb.upper+" MEMBER", &member
	s.Span = p.from(start.Span)
	if !verb.isAny("ADD", "DROP") {
		p.failExpected("ADD", "DROP")
	}
	return s
}

// updateStatistics reads a table, and one of its statistics or several in parentheses.
//
//	UPDATE STATISTICS dbo.t   UPDATE STATISTICS dbo.t ix WITH FULLSCAN   UPDATE STATISTICS dbo.t (a, b)
func (p *parser) updateStatistics(start token, _ string) Detail {
	s := &UpdateStatistics{Table: p.objectName()}
	switch {
	case p.peek().is("("):
		s.Names = p.identList()
	case p.peek().isName() && !p.peek().is("WITH"):
		s.Names = []Ident{p.ident()}
	}
	s.Span = p.from(start.Span)
	if p.accept("WITH") {
		p.skipRest(false)
	}
	return s
}
