package syntax

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// moduleForm says how a module's definition begins.
type moduleForm struct {
	start          diag.Span
	orAlter, alter bool
}

// module reads a procedure, function, view or trigger after CREATE, CREATE OR ALTER or ALTER. It returns nil if none is
// next.
func (p *parser) module(form moduleForm) Stmt {
	switch t := p.peek(); {
	case t.isAny("PROCEDURE", "PROC"):
		return p.procedure(form)
	case t.is("FUNCTION"):
		return p.function(form)
	case t.is("VIEW"):
		return p.view(form)
	case t.is("TRIGGER"):
		return p.trigger(form)
	default:
		return nil
	}
}

// procedure reads a procedure, whose body is the rest of the batch.
//
//	CREATE [OR ALTER] PROC[EDURE] name [(]params[)] [WITH options] [FOR REPLICATION] AS statements
//
// BEGIN and END around the body are customary and mean nothing: statements after the END belong to it as well.
func (p *parser) procedure(form moduleForm) Stmt {
	p.next()
	s := &CreateProcedure{OrAlter: form.orAlter, Alter: form.alter}
	s.Name = p.qualifiedName("the name of a procedure", 2)
	p.refuseNumber()
	s.Params = p.procedureParams()
	s.Options = p.bareOptions("RECOMPILE", "ENCRYPTION", "NATIVE_COMPILATION", "SCHEMABINDING")
	p.refuseNotNull(s.Params)
	p.accept("FOR", "REPLICATION")
	// Comments between this AS and the body belong to the procedure's description.
	as := p.peek()
	p.expect("AS")
	s.AsPos = as.Span
	if s.External = p.external(); !s.External {
		s.Body = p.statements(bodyScope)
	}
	s.Span = p.from(form.start)
	return s
}

// external reads EXTERNAL NAME assembly.class.method, and reports whether it was there.
// Its body is a method of .NET, about which a script says nothing more.
func (p *parser) external() bool {
	if !p.accept("EXTERNAL", "NAME") {
		return false
	}
	p.qualifiedName("the name of a method", 3)
	p.expectEnd("EXTERNAL NAME")
	return true
}

// procedureParams reads the parameters, which may stand in parentheses.
// A server takes both forms, though people write parentheses for functions only.
func (p *parser) procedureParams() []*Param {
	if p.accept("(") {
		var params []*Param
		if !p.peek().is(")") {
			params = p.params()
		}
		p.expectClose("the list of parameters")
		return params
	}
	if p.peek().kind == tokenVariable {
		return p.params()
	}
	return nil
}

// params reads parameters separated by commas.
func (p *parser) params() []*Param {
	return commaList(p, p.param)
}

// refuseNotNull reports parameters that are NOT NULL, which those of natively compiled modules alone may be.
func (p *parser) refuseNotNull(params []*Param) {
	for _, x := range params {
		if x.Null == NullRefused && !p.native {
			p.report(x.Span, notNullFix, "the parameter %s is NOT NULL in a module that is not natively compiled", clip(x.Name))
		}
	}
}

const notNullFix = "leave NOT NULL out"

// param reads @name [AS] type [VARYING] [NULL|NOT NULL] [= default] [OUTPUT] [READONLY].
func (p *parser) param() *Param {
	t := p.peek()
	if t.kind != tokenVariable {
		p.failExpected("a parameter")
	}
	p.next()
	x := &Param{Name: t.value}
	p.accept("AS")
	x.Type = p.typeOrCursor() // CURSOR VARYING OUTPUT is a cursor parameter
	x.Varying = p.accept("VARYING")
	x.Null = p.nullability()
	if p.accept("=") {
		x.Default = p.paramDefault()
	}
	for more := true; more; {
		switch {
		case p.accept("OUTPUT"), p.accept("OUT"):
			x.Output = true
		case p.accept("READONLY"):
			x.ReadOnly = true
		default:
			more = false
		}
	}
	x.Span = p.from(t.Span)
	return x
}

// paramDefault reads a constant. A bare word is a string.
// EXEC's arguments share that habit: @mode varchar(10) = fast is 'fast'.
func (p *parser) paramDefault() Expr {
	t := p.peek()
	if t.isName() && !p.peekN(1).isAny("(", ".") {
		p.next()
		return &Literal{Span: t.Span, Kind: StringLiteral, Value: t.value}
	}
	x := p.expr()
	if _, ok := x.(*SystemVariable); !ok && !isConstant(x) {
		p.fail(x.Range(), "make NULL the default and replace it in the body", "the default of a parameter is a constant or NULL")
	}
	return x
}

// function reads a scalar, inline or multi-statement function.
//
//	RETURNS int AS BEGIN … RETURN @x END           scalar
//	RETURNS TABLE AS RETURN SELECT …               inline, a view with parameters
//	RETURNS @t TABLE (…) AS BEGIN … RETURN END     multi-statement
func (p *parser) function(form moduleForm) Stmt {
	p.next()
	s := &CreateFunction{OrAlter: form.orAlter, Alter: form.alter}
	s.Name = p.qualifiedName("the name of a function", 2)
	p.expect("(")
	if !p.peek().is(")") {
		s.Params = p.params()
	}
	p.expectClose("the list of parameters")
	p.expect("RETURNS")
	inline := p.returns(s)
	s.Options = p.bareOptions("ENCRYPTION", "SCHEMABINDING", "NATIVE_COMPILATION", "RETURNS NULL ON NULL INPUT",
		"CALLED ON NULL INPUT", "INLINE")
	p.refuseNotNull(s.Params)
	p.accept("AS")
	s.External = p.external()
	switch {
	case s.External:
	case inline:
		// Unlike a procedure's, the text of the other modules ends by itself, and so must the batch.
		s.Inline = p.inlineBody()
		s.Span = p.from(form.start)
		p.expectEnd("the query of an inline function")
		return s
	default:
		if t := p.peek(); !t.is("BEGIN") {
			p.failExpected("BEGIN")
		}
		before := len(p.found)
		s.Body = []Stmt{p.begin()}
		if end := p.tokens[p.at-1]; len(p.found) == before && !endsWithReturn(s.Body) {
			p.report(end.Span, "write RETURN before it", "the last statement of a function must be RETURN")
		}
		s.Span = p.from(form.start)
		p.expectEnd("the END of a function")
		return s
	}
	s.Span = p.from(form.start)
	return s
}

// endsWithReturn reports whether RETURN is the last statement, as servers demand of functions whatever the paths.
func endsWithReturn(stmts []Stmt) bool {
	if len(stmts) == 0 {
		return false
	}
	switch last := stmts[len(stmts)-1].(type) {
	case *Return:
		return true
	case *Block:
		return endsWithReturn(last.Stmts)
	default:
		return false
	}
}

// returns reads what a function returns, and reports whether that is the table of one query.
func (p *parser) returns(s *CreateFunction) (inline bool) {
	switch t := p.peek(); {
	case t.kind == tokenVariable:
		p.next()
		p.expect("TABLE")
		s.TableVariable = t.value
		s.Table = p.tableDef()
	case t.is("TABLE"):
		p.next()
		return true
	default:
		s.Returns = p.typeName()
	}
	return false
}

// inlineBody reads RETURN query or RETURN (query), where only the latter may be a query with common table expressions
// in parentheses.
func (p *parser) inlineBody() *Query {
	p.expect("RETURN")
	closed := p.peek().is("(") && p.peekN(1).is("WITH")
	if closed {
		p.next()
	}
	q := p.query()
	if closed {
		p.expectClose("RETURN (")
	}
	p.checkEmbedded(q, "an inline function")
	return q
}

// view reads a view.
//
//	CREATE VIEW dbo.open_orders (id, total) AS SELECT … WITH CHECK OPTION
func (p *parser) view(form moduleForm) Stmt {
	p.next()
	s := &CreateView{OrAlter: form.orAlter, Alter: form.alter}
	s.Name = p.qualifiedName("the name of a view", 2)
	if p.peek().is("(") {
		s.Columns = p.identList()
	}
	s.Options = p.bareOptions("ENCRYPTION", "SCHEMABINDING", "VIEW_METADATA")
	p.expect("AS")
	s.Query = p.query()
	p.checkEmbedded(s.Query, "a view")
	// The query leaves a WITH alone that no parenthesis follows.
	s.CheckOption = p.accept("WITH", "CHECK", "OPTION")
	s.Span = p.from(form.start)
	p.expectEnd("the query of a view")
	return s
}

// trigger reads a trigger, whose body is the rest of the batch.
//
//	CREATE TRIGGER dbo.tr ON dbo.orders AFTER INSERT, UPDATE AS …
func (p *parser) trigger(form moduleForm) Stmt {
	p.next()
	s := &CreateTrigger{OrAlter: form.orAlter, Alter: form.alter}
	s.Name = p.qualifiedName("the name of a trigger", 2)
	p.expect("ON")
	if !p.accept("DATABASE") && !p.accept("ALL", "SERVER") {
		s.Table = p.objectName()
	}
	s.Options = p.bareOptions("ENCRYPTION", "SCHEMABINDING", "NATIVE_COMPILATION")
	switch {
	case p.accept("FOR"), p.accept("AFTER"):
	case p.accept("INSTEAD", "OF"):
		s.InsteadOf = true
	default:
		p.failExpected("AFTER", "FOR", "INSTEAD OF")
	}
	for more := true; more; more = p.accept(",") {
		event := p.peek()
		if s.Table != nil && !event.isAny("INSERT", "UPDATE", "DELETE") {
			p.failExpected("INSERT", "UPDATE", "DELETE")
		}
		if event.kind != tokenWord || event.is("AS") {
			p.failExpected("an event")
		}
		s.Events = append(s.Events, p.next().upper)
	}
	p.accept("WITH", "APPEND")
	p.accept("NOT", "FOR", "REPLICATION")
	p.expect("AS")
	if !p.external() {
		s.Body = p.statements(bodyScope)
	}
	s.Span = p.from(form.start)
	return s
}

// bareOptions reads options of a module, which stand after WITH without parentheses: WITH RECOMPILE, EXECUTE AS OWNER.
// Those that are known differ between the kinds of modules; none changes a type.
func (p *parser) bareOptions(known ...string) []Option {
	if !p.accept("WITH") {
		return nil
	}
	var options []Option
	for {
		options = append(options, p.bareOption(known))
		if !p.accept(",") {
			return options
		}
	}
}

// bareOption reads one phrase of those that are known, or EXECUTE AS with its principal.
func (p *parser) bareOption(known []string) Option {
	start := p.peek().Span
	if p.accept("EXECUTE", "AS") || p.accept("EXEC", "AS") {
		t := p.peek()
		if !t.isAny("CALLER", "SELF", "OWNER") && t.kind != tokenString && t.kind != tokenNString {
			p.failExpected("CALLER", "SELF", "OWNER", "a user's name as a string")
		}
		p.next()
		return Option{Span: p.from(start), Name: "EXECUTE AS", Value: t.value}
	}
	for _, phrase := range known {
		words := strings.Fields(phrase)
		if !p.accept(words...) {
			continue
		}
		p.native = p.native || phrase == "NATIVE_COMPILATION"
		o := Option{Name: phrase}
		if p.accept("=") {
			on := p.peek()
			if !on.isAny("ON", "OFF") {
				p.failExpected("ON", "OFF")
			}
			o.Value = p.next().upper
		}
		o.Span = p.from(start)
		return o
	}
	p.failExpected(append([]string{"EXECUTE AS"}, known...)...)
	return Option{}
}
