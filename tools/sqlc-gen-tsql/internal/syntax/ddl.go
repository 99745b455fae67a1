package syntax

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"
)

// plainKinds are the objects whose definitions no stage looks into, by the words that name them; a phrase stands before
// those it begins with. What CREATE, ALTER or DROP says of them becomes Other.
var plainKinds = splitAll(
	"APPLICATION ROLE", "ASSEMBLY", "ASYMMETRIC KEY", "AUTHORIZATION", "AVAILABILITY GROUP", "BROKER PRIORITY",
	"CERTIFICATE", "CONTRACT", "MESSAGE TYPE", "QUEUE", "REMOTE SERVICE BINDING", "ROUTE", "SERVICE",
	"COLUMN ENCRYPTION KEY", "COLUMN MASTER KEY", "CREDENTIAL", "CRYPTOGRAPHIC PROVIDER", "DATABASE AUDIT SPECIFICATION",
	"DATABASE ENCRYPTION KEY", "DATABASE SCOPED CONFIGURATION", "DATABASE SCOPED CREDENTIAL", "DATABASE", "ENDPOINT",
	"EVENT NOTIFICATION", "EVENT SESSION", "EXTERNAL DATA SOURCE", "EXTERNAL FILE FORMAT", "FULLTEXT CATALOG",
	"FULLTEXT INDEX", "FULLTEXT STOPLIST", "MASTER KEY", "PARTITION FUNCTION", "PARTITION SCHEME", "RESOURCE GOVERNOR",
	"RESOURCE POOL", "SEARCH PROPERTY LIST", "SECURITY POLICY", "SERVER AUDIT", "SERVER CONFIGURATION", "SERVER ROLE",
	"STATISTICS", "SYMMETRIC KEY", "WORKLOAD GROUP",
)

// knownKinds are the objects with definitions of their own, for suggestions.
var knownKinds = strings.Fields(`
	TABLE INDEX TYPE VIEW FUNCTION PROCEDURE TRIGGER SEQUENCE SYNONYM SCHEMA ROLE USER LOGIN STATISTICS DATABASE`)

// serverWords begin statements about the server or a database that have no results worth knowing. The number is that of
// their leading words.
var serverWords = map[string]int{
	"BACKUP": 2, "BULK": 2, "CHECKPOINT": 1, "DBCC": 2, "KILL": 1, "RECONFIGURE": 1, "RESTORE": 2, "REVERT": 1,
	"SHUTDOWN": 1,
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
	case t.is("XML"), t.is("SPATIAL"), t.is("PRIMARY"):
		p.fail(t.Span, "", "XML and spatial indexes and XML schemas aren't supported")
	}
	return p.plain(verb)
}

// plain reads the rest of CREATE, ALTER or DROP of something that isn't looked into.
func (p *parser) plain(verb token) Stmt {
	t := p.peek()
	for _, words := range plainKinds {
		if p.accept(words...) {
			p.skipRest(verb.is("ALTER") && words[0] == "DATABASE")
			return &Other{Span: p.from(verb.Span), Words: verb.upper + " " + strings.Join(words, " ")}
		}
	}
	if t.kind != tokenWord {
		p.failExpected("the kind of an object")
	}
	fix := ""
	if word := nearest(t.upper, slices.Values(knownKinds)); word != "" {
		fix = "write " + word
	}
	p.fail(t.Span, fix, "%s %s isn't supported", verb.upper, clip(t.upper))
	return nil
}

// alter reads ALTER of anything.
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
		p.objectNameOrAll()
		p.skipRest(t.is("INDEX"))
		return &Other{Span: p.from(verb.Span), Words: "ALTER " + t.upper}
	}
	return p.plain(verb)
}

// objectNameOrAll reads a name or the keyword ALL.
func (p *parser) objectNameOrAll() {
	if !p.accept("ALL") {
		p.objectName()
	}
}

// createType reads CREATE TYPE name FROM type, or AS TABLE (…).
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
func (p *parser) createSequence(start diag.Span) Stmt {
	p.next()
	s := &CreateSequence{Name: p.qualifiedName("the name of a sequence", 2)}
	for {
		switch {
		case p.accept("AS"):
			s.Type = p.typeName()
		case p.accept("START", "WITH"), p.accept("INCREMENT", "BY"), p.accept("MINVALUE"), p.accept("MAXVALUE"):
			p.number()
		case p.accept("NO", "MINVALUE"), p.accept("NO", "MAXVALUE"), p.accept("NO", "CYCLE"), p.accept("NO", "CACHE"),
			p.accept("CYCLE"):
		case p.accept("CACHE"):
			if p.peek().kind == tokenInt {
				p.number()
			}
		default:
			s.Span = p.from(start)
			return s
		}
	}
}

// number reads a whole number with its sign.
func (p *parser) number() {
	if !p.accept("-") {
		p.accept("+")
	}
	if k := p.peek().kind; k != tokenInt && k != tokenDecimal {
		p.failExpected("a number")
	}
	p.next()
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
			p.name("the name of a user")
		}
	}
	s.Span = p.from(start)
	if t := p.peek(); t.isAny("CREATE", "GRANT", "DENY", "REVOKE") {
		p.fail(t.Span, "put GO before it", "a schema with its elements in one statement isn't supported")
	}
	return s
}

// principal reads CREATE or ALTER of a ROLE, USER or LOGIN; only the name is looked at.
func (p *parser) principal(verb token) Stmt {
	kind := p.next().upper
	s := &CreatePrincipal{Words: verb.upper + " " + kind, Name: p.name("the name of a " + strings.ToLower(kind))}
	p.skipRest(false)
	s.Span = p.from(verb.Span)
	return s
}

// permission reads GRANT, DENY and REVOKE.
func (p *parser) permission() Stmt {
	verb := p.next()
	s := &Permission{Verb: verb.upper}
	if verb.is("REVOKE") {
		p.accept("GRANT", "OPTION", "FOR")
	}
	s.Permissions = []string{p.permissionName()}
	for p.accept(",") {
		s.Permissions = append(s.Permissions, p.permissionName())
	}
	if p.accept("ON") {
		s.Class = p.permissionClass()
		s.On = p.objectName()
	}
	if from := verb.is("REVOKE") && p.accept("FROM"); !from && !p.accept("TO") {
		p.failExpected("TO")
	}
	s.To = []Ident{p.grantee()}
	for p.accept(",") {
		s.To = append(s.To, p.grantee())
	}
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

// dropKinds are the objects that are dropped by name alone, with the number of parts that the name may have.
var dropKinds = map[string]int{
	"AGGREGATE": 2, "DATABASE": 1, "DEFAULT": 2, "FUNCTION": 3, "LOGIN": 1, "PROC": 3, "PROCEDURE": 3, "ROLE": 1,
	"RULE": 2, "SCHEMA": 1, "SEQUENCE": 3, "STATISTICS": 3, "SYNONYM": 3, "TABLE": 3, "TYPE": 2, "USER": 1, "VIEW": 3,
}

// drop reads DROP of anything.
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
func (p *parser) dropNames(kind string, parts int) []*ObjectName {
	what := "the name of a " + strings.ToLower(kind)
	names := []*ObjectName{p.qualifiedName(what, parts)}
	for p.accept(",") {
		names = append(names, p.qualifiedName(what, parts))
	}
	return names
}

// dropTrigger reads TRIGGER [IF EXISTS] names [ON DATABASE | ON ALL SERVER].
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
	if len(list.stmts) == 1 {
		return list.stmts[0]
	}
	return list
}

// indexNext reports whether the words of an index that isn't of a special kind come next.
func (p *parser) indexNext() bool {
	for n := range 4 {
		switch t := p.peekN(n); {
		case t.is("INDEX"):
			return true
		case !t.isAny("UNIQUE", "CLUSTERED", "NONCLUSTERED", "COLUMNSTORE"):
			return false
		}
	}
	return false
}

// createIndex reads CREATE [UNIQUE] [CLUSTERED|NONCLUSTERED] [COLUMNSTORE] INDEX name ON table (columns) ….
func (p *parser) createIndex(start diag.Span) Stmt {
	s := &CreateIndex{Unique: p.accept("UNIQUE"), Clustered: p.accept("CLUSTERED")}
	if !s.Clustered {
		p.accept("NONCLUSTERED")
	}
	s.Columnstore = p.accept("COLUMNSTORE")
	p.expect("INDEX")
	s.Name = p.name("the name of an index")
	p.expect("ON")
	s.Table = p.objectName()
	// A clustered columnstore index holds all columns and names none.
	if p.peek().is("(") || !s.Columnstore || !s.Clustered {
		s.Columns = p.indexColumns()
	}
	if p.accept("INCLUDE") {
		s.Include = p.identList()
	}
	if s.Columnstore && p.accept("ORDER") {
		p.indexColumns()
	}
	if p.accept("WHERE") {
		s.Where = p.condition()
	}
	s.Options = p.storage()
	s.Span = p.from(start)
	return s
}

// indexColumns reads (a, b DESC, …).
func (p *parser) indexColumns() []IndexColumn {
	p.expect("(")
	var columns []IndexColumn
	for {
		c := IndexColumn{Name: p.name("the name of a column")}
		if !p.accept("ASC") {
			c.Desc = p.accept("DESC")
		}
		c.Span = p.from(c.Name.Span)
		columns = append(columns, c)
		if !p.accept(",") {
			break
		}
	}
	p.expectClose("the list of columns")
	return columns
}

// storage reads what may follow the columns of a table, an index or a key in any order: WITH (…), WITH FILLFACTOR = n,
// ON filegroup, ON scheme (column), TEXTIMAGE_ON and FILESTREAM_ON.
func (p *parser) storage() []Option {
	var options []Option
	for {
		t := p.peek()
		switch {
		case t.is("WITH") && p.peekN(1).is("("):
			p.next()
			options = append(options, p.optionList()...)
		case t.is("WITH") && p.peekN(1).isAny("FILLFACTOR", "PAD_INDEX"):
			p.next()
			for more := true; more; more = p.accept(",") {
				options = append(options, p.oldIndexOption())
			}
		case t.isAny("ON", "TEXTIMAGE_ON", "FILESTREAM_ON"):
			p.next()
			options = append(options, p.filegroup(t))
		default:
			return options
		}
	}
}

// oldIndexOption reads FILLFACTOR = n or PAD_INDEX, written without parentheses.
func (p *parser) oldIndexOption() Option {
	t := p.next()
	o := Option{Name: t.upper}
	if p.accept("=") {
		o.Value = p.next().value
	}
	o.Span = p.from(t.Span)
	return o
}

// filegroup reads the name of a filegroup or "default", or of a partition scheme with its column.
func (p *parser) filegroup(t token) Option {
	name := p.peek()
	if name.kind != tokenString && !name.is("PRIMARY") {
		p.name("the name of a filegroup")
	} else {
		p.next()
	}
	if p.peek().is("(") {
		p.identList()
	}
	return Option{Span: p.from(t.Span), Name: t.upper, Value: p.file.Slice(p.from(name.Span))}
}
