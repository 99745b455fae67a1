package syntax

import (
	"maps"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// onOffOptions are the options of SET that are ON or OFF, of which several may be set at once.
var onOffOptions = wordSet(`
	ANSI_DEFAULTS ANSI_NULL_DFLT_OFF ANSI_NULL_DFLT_ON ANSI_NULLS ANSI_PADDING ANSI_WARNINGS ARITHABORT ARITHIGNORE
	CONCAT_NULL_YIELDS_NULL CURSOR_CLOSE_ON_COMMIT DISABLE_DEF_CNST_CHK FMTONLY FORCEPLAN IMPLICIT_TRANSACTIONS NO_BROWSETABLE
	NOCOUNT NOEXEC NUMERIC_ROUNDABORT PARSEONLY QUOTED_IDENTIFIER REMOTE_PROC_TRANSACTIONS RESULT_SET_CACHING SHOWPLAN_ALL
	SHOWPLAN_TEXT SHOWPLAN_XML XACT_ABORT`)

// valueOptions are those that have a value: a constant, a variable, or one of these words.
var valueOptions = map[string][]string{
	"CONTEXT_INFO":              nil,
	"DATEFIRST":                 nil,
	"DATEFORMAT":                {"MDY", "DMY", "YMD", "YDM", "MYD", "DYM"},
	"DEADLOCK_PRIORITY":         {"LOW", "NORMAL", "HIGH"},
	"FIPS_FLAGGER":              {"OFF"},
	"LANGUAGE":                  nil, // and any name
	"LOCK_TIMEOUT":              nil,
	"QUERY_GOVERNOR_COST_LIMIT": nil,
	"ROWCOUNT":                  nil,
	"TEXTSIZE":                  nil,
}

// isolationLevels are those of SET TRANSACTION ISOLATION LEVEL.
var isolationLevels = [][]string{
	{"READ", "UNCOMMITTED"}, {"READ", "COMMITTED"}, {"REPEATABLE", "READ"}, {"SNAPSHOT"}, {"SERIALIZABLE"},
}

// variableStatement reads a statement on variables, options or cursors, or returns nil if none begins with t.
func (p *parser) variableStatement(t token) Stmt {
	switch {
	case t.is("DECLARE"):
		return p.declare()
	case t.is("SET"):
		return p.set()
	case t.is("FETCH"):
		return p.fetch()
	case t.isAny("OPEN", "CLOSE") && p.peekN(1).isAny("SYMMETRIC", "MASTER", "ALL"):
		return p.other(2)
	case t.isAny("OPEN", "CLOSE", "DEALLOCATE"):
		p.next()
		name := p.cursorName()
		return &CursorStmt{Span: p.from(t.Span), Verb: t.upper, CursorName: name}
	case t.is("USE"):
		p.next()
		name := p.name("the name of a database")
		return &Use{Span: p.from(t.Span), Database: name}
	default:
		return nil
	}
}

// variable reads @name.
func (p *parser) variable() *Variable {
	t := p.peek()
	if t.kind != tokenVariable {
		p.failExpected("a variable")
	}
	p.next()
	return &Variable{Span: t.Span, Name: t.value}
}

// declare reads DECLARE of variables or of a cursor.
//
//	DECLARE @n int = 1, @s nvarchar(50)
//	DECLARE @t TABLE (id int PRIMARY KEY)
//	DECLARE c CURSOR LOCAL FAST_FORWARD FOR SELECT …
func (p *parser) declare() Stmt {
	start := p.next().Span
	// Cursors have plain names, in contrast to variables that hold one.
	if p.peek().isName() {
		return p.declareCursor(start)
	}
	d := &Declare{Vars: []VarDecl{p.varDecl()}}
	for p.accept(",") {
		d.Vars = append(d.Vars, p.varDecl())
	}
	p.refuseShared(d.Vars)
	d.Span = p.from(start)
	return d
}

// refuseShared reports a table variable beside other variables. T-SQL's grammar has two forms of DECLARE, a list of
// scalar variables and one table: DECLARE @a int, @t TABLE (…) is an error near TABLE. The tree keeps all of them, so
// that what uses the variables has no errors of its own.
func (p *parser) refuseShared(vars []VarDecl) {
	if len(vars) == 1 {
		return
	}
	if i := slices.IndexFunc(vars, func(v VarDecl) bool { return v.Table != nil }); i >= 0 {
		p.report(vars[i].Span, "write a DECLARE of its own", "the table variable %s shares its DECLARE", clip(vars[i].Name))
	}
}

// varDecl reads one variable: @x [AS] type [= x] or @t [AS] TABLE (…).
// The value is computed where the DECLARE stands, every time: in a loop it sets the variable anew.
func (p *parser) varDecl() VarDecl {
	start := p.peek().Span
	v := VarDecl{Name: p.variable().Name}
	p.accept("AS")
	if p.accept("TABLE") {
		v.Table = p.tableDef()
	} else {
		v.Type = p.typeOrCursor()
		if at := p.peek().Span; p.nullability() == NullRefused && !p.native {
			p.report(p.from(at), notNullFix, "the variable %s is NOT NULL outside a natively compiled module", clip(v.Name))
		}
		if p.accept("=") {
			v.Init = p.expr()
		}
	}
	v.Span = p.from(start)
	return v
}

// typeOrCursor is typeName where CURSOR, a keyword, is one too.
func (p *parser) typeOrCursor() *TypeName {
	t := p.peek()
	if !t.is("CURSOR") {
		return p.typeName()
	}
	p.next()
	return &TypeName{Span: t.Span, Name: wordName(t)}
}

// declareCursor reads name [INSENSITIVE] [SCROLL] CURSOR … after DECLARE.
// INSENSITIVE and SCROLL before the word are the form of the standard, options after it that of T-SQL.
func (p *parser) declareCursor(start diag.Span) Stmt {
	name := p.ident().Value
	d := &CursorDefinition{}
	d.Insensitive = p.accept("INSENSITIVE")
	d.Scroll = p.accept("SCROLL")
	if t := p.peek(); !t.is("CURSOR") {
		p.fail(t.Span, "the names of variables begin with @", "expected CURSOR, found %s", t.describe())
	}
	return p.cursorDefinition(start, CursorName{Name: name}, d)
}

// cursorDefinition reads CURSOR [options] FOR query [FOR READ ONLY | FOR UPDATE [OF columns]].
// A cursor of a cursor variable is never global.
func (p *parser) cursorDefinition(start diag.Span, name CursorName, d *CursorDefinition) Stmt {
	p.expect("CURSOR")
	named := name.Name[0] != '@'
	for t := p.peek(); named && t.is("GLOBAL") || t.isAny("LOCAL", "FORWARD_ONLY", "SCROLL", "STATIC", "KEYSET", "DYNAMIC",
		"FAST_FORWARD", "READ_ONLY", "SCROLL_LOCKS", "OPTIMISTIC", "TYPE_WARNING"); t = p.peek() {
		d.Options = append(d.Options, p.next().upper)
	}
	// The query leaves a FOR that isn't FOR JSON, XML or BROWSE alone.
	p.expect("FOR")
	d.Query = p.query()
	if p.accept("FOR", "UPDATE") {
		d.Update = true
		if p.accept("OF") {
			d.Columns = p.idents()
		}
	} else if p.accept("FOR") {
		p.expect("READ", "ONLY")
		d.ReadOnly = true
	}
	d.Span = p.from(start)
	return &CursorStmt{Span: d.Span, CursorName: name, Verb: "DECLARE", Definition: d}
}

// cursorName reads [GLOBAL] name or a cursor variable.
// GLOBAL may be a name itself, so it is an option only if a name follows.
func (p *parser) cursorName() CursorName {
	if p.peek().kind == tokenVariable {
		return CursorName{Name: p.next().value}
	}
	global := false
	if p.peekN(1).isName() && !isStatementStart(p.peekN(1)) {
		global = p.accept("GLOBAL")
	}
	return CursorName{Name: p.name("the name of a cursor").Value, Global: global}
}

// fetch reads FETCH [[NEXT|…] FROM] cursor [INTO @a, …].
// FROM may be left out when no direction is said. Without INTO the row goes to the client as a result set.
func (p *parser) fetch() Stmt {
	start := p.next().Span
	s := &CursorStmt{Verb: "FETCH", Direction: "NEXT"}
	switch t := p.peek(); {
	case t.isAny("NEXT", "PRIOR", "FIRST", "LAST") && p.fetchDirection():
		s.Direction = p.next().upper
		p.expect("FROM")
	case t.isAny("ABSOLUTE", "RELATIVE") && !p.peekN(1).is("INTO"):
		s.Direction = p.next().upper
		s.Offset = p.constantOrVariable("FETCH")
		p.expect("FROM")
	default:
		p.accept("FROM")
	}
	s.CursorName = p.cursorName()
	if p.accept("INTO") {
		s.Into = commaList(p, p.variable)
	}
	s.Span = p.from(start)
	return s
}

// fetchDirection reports whether the next word, NEXT or the like, isn't itself the name of the cursor.
func (p *parser) fetchDirection() bool {
	after := p.peekN(1)
	return after.is("FROM") || after.kind == tokenVariable ||
		after.isName() && !isStatementStart(after) && !p.peekN(2).is(":")
}

// set reads SET of a variable or of options.
//
//	SET @v = 1                          SET NOCOUNT, XACT_ABORT ON
//	SET TRANSACTION ISOLATION LEVEL …   SET IDENTITY_INSERT dbo.t ON
//	SET STATISTICS IO ON                SET LOCK_TIMEOUT 5000
func (p *parser) set() Stmt {
	start := p.next().Span
	t := p.peek()
	switch {
	case t.kind == tokenVariable:
		return p.setVariable(start)
	case t.isAny("TRANSACTION", "TRAN"):
		return p.setIsolation(start)
	case t.is("IDENTITY_INSERT"):
		p.next()
		table := p.objectName()
		name := "IDENTITY_INSERT " + p.file.Slice(table.Span)
		value := p.onOff()
		return &SetOption{Span: p.from(start), Name: name, Value: value}
	case t.is("STATISTICS"):
		return p.setFlags(start, "STATISTICS ")
	case t.kind == tokenWord && onOffOptions[t.upper]:
		return p.setFlags(start, "")
	case t.kind == tokenWord:
		if words, ok := valueOptions[t.upper]; ok {
			return p.setValue(start, words)
		}
	}
	p.failOption(t)
	return nil
}

// failOption reports something that isn't an option of SET.
func (p *parser) failOption(t token) {
	if t.kind != tokenWord {
		p.failExpected("a variable", "an option")
	}
	known := slices.AppendSeq(slices.Collect(maps.Keys(onOffOptions)), maps.Keys(valueOptions))
	fix := ""
	if isAssignment(p.peekN(1)) {
		fix = "the names of variables begin with @"
	} else if word := diag.Nearest(t.upper, known); word != "" {
		fix = "write " + word
	}
	p.fail(t.Span, fix, "unknown option %q of SET", clip(t.value))
}

// setVariable reads @v = x, @v += x or @cursor = CURSOR ….
// A method call such as SET @x.modify(…) begins like an assignment, hence the look for a dot.
func (p *parser) setVariable(start diag.Span) Stmt {
	v := p.variable()
	op := p.peek()
	if op.is(".") && p.peekN(1).value == modify && p.peekN(2).is("(") {
		p.next()
		return &SetVariable{Variable: v, Op: "=", X: p.modified(v, p.ident()), Span: p.from(start)}
	}
	if !isAssignment(op) {
		p.failExpected("=")
	}
	p.next()
	if op.is("=") && p.peek().is("CURSOR") {
		return p.cursorDefinition(start, CursorName{Name: v.Name}, &CursorDefinition{})
	}
	x := p.expr()
	return &SetVariable{Span: p.from(start), Variable: v, Op: op.value, X: x}
}

// setIsolation reads TRANSACTION ISOLATION LEVEL and the level.
func (p *parser) setIsolation(start diag.Span) Stmt {
	p.next()
	p.expect("ISOLATION", "LEVEL")
	for _, level := range isolationLevels {
		if p.accept(level...) {
			return &SetOption{
				Span: p.from(start), Name: "TRANSACTION ISOLATION LEVEL", Value: strings.Join(level, " "),
			}
		}
	}
	p.failExpected("READ COMMITTED", "READ UNCOMMITTED", "REPEATABLE READ", "SNAPSHOT", "SERIALIZABLE")
	return nil
}

// setFlags reads option [, option …] ON|OFF; those of STATISTICS stand after that word.
// prefix is "STATISTICS " for those, else empty.
func (p *parser) setFlags(start diag.Span, prefix string) Stmt {
	var names []string
	if prefix != "" {
		p.next()
	}
	for {
		t := p.peek()
		if prefix != "" && !t.isAny("IO", "TIME", "XML", "PROFILE") {
			p.failExpected("IO", "TIME", "XML", "PROFILE")
		}
		if prefix == "" && (t.kind != tokenWord || !onOffOptions[t.upper]) {
			p.failOption(t)
		}
		names = append(names, prefix+p.next().upper)
		if !p.accept(",") {
			break
		}
	}
	value := p.onOff()
	if value == "OFF" && slices.Contains(names, "QUOTED_IDENTIFIER") {
		p.refuseQuotes()
	}
	// Each option is a statement of its own in the tree, so that nobody has to look for it in a list.
	list := &several{Span: p.from(start)}
	for _, name := range names {
		list.stmts = append(list.stmts, &SetOption{Span: list.Span, Name: name, Value: value})
	}
	return list.simplest()
}

// refuseQuotes reports the first pair of double quotes between SET QUOTED_IDENTIFIER OFF and the next SET of it: what
// stands in them is a string there, and would be read as a name.
func (p *parser) refuseQuotes() {
	for _, t := range p.tokens[p.at:] {
		switch {
		case t.is("QUOTED_IDENTIFIER"):
			return
		case t.kind == tokenQuoted && p.file.Text[t.From] == '"':
			p.report(t.Span, "write strings in single quotes, names in brackets, and leave the option ON",
				"under SET QUOTED_IDENTIFIER OFF double quotes hold a string")
			return
		}
	}
}

// onOff reads ON or OFF.
func (p *parser) onOff() string {
	if !p.peek().isAny("ON", "OFF") {
		p.failExpected("ON", "OFF")
	}
	return p.next().upper
}

// setValue reads an option with its value, which may be one of the given words.
func (p *parser) setValue(start diag.Span, words []string) Stmt {
	s := &SetOption{Name: p.next().upper}
	switch t := p.peek(); {
	case t.kind == tokenWord && t.isAny(words...), s.Name == "LANGUAGE" && t.isName():
		p.next()
		s.Value = strings.ToUpper(t.value)
	case t.kind == tokenWord:
		p.failExpected(append([]string{"a constant", "a variable"}, words...)...)
	default:
		s.X = p.constantOrVariable("SET " + s.Name)
		s.Value = p.file.Slice(s.X.Range())
	}
	s.Span = p.from(start)
	return s
}
