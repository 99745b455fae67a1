package syntax

import "strings"

// execStmt reads EXECUTE of a procedure or of text, and EXECUTE AS.
func (p *parser) execStmt() Stmt {
	if p.peekN(1).is("AS") {
		return p.executeAs()
	}
	return p.exec()
}

// executeAs reads EXECUTE AS CALLER, or LOGIN|USER = name [WITH …], as a statement.
func (p *parser) executeAs() Stmt {
	start := p.next().Span
	p.next() // AS
	if !p.accept("CALLER") {
		if !p.peek().isAny("LOGIN", "USER") {
			p.failExpected("CALLER", "LOGIN", "USER")
		}
		p.next()
		p.expect("=")
		p.constantOrVariable("EXECUTE AS")
		if p.accept("WITH", "COOKIE", "INTO") {
			p.variable()
		} else if p.accept("WITH") {
			p.expect("NO", "REVERT")
		}
	}
	return &Other{Span: p.from(start), Words: "EXECUTE AS"}
}

// exec reads EXECUTE, also as the source of an INSERT.
func (p *parser) exec() *Exec {
	start := p.next().Span
	e := &Exec{}
	if p.peek().is("(") {
		p.execText(e)
	} else {
		p.execProcedure(e)
	}
	// Any other WITH begins the next statement, which checkSeparator then complains about.
	if p.peek().is("WITH") && p.peekN(1).isAny("RECOMPILE", "RESULT") {
		p.next()
		p.execOptions(e)
	}
	e.Span = p.from(start)
	return e
}

// execText reads ('…' + @x, @argument, …) [AS USER = '…'] [AT server].
func (p *parser) execText(e *Exec) {
	p.next() // (
	// What follows the first comma are arguments for the linked server; they are kept for their variables.
	e.SQL = []Expr{p.expr()}
	for p.accept(",") {
		e.SQL = append(e.SQL, p.expr())
		if !p.accept("OUTPUT") {
			p.accept("OUT")
		}
	}
	p.expect(")")
	start := p.peek().Span
	if p.peek().is("AS") && p.peekN(1).isAny("LOGIN", "USER") {
		p.next()
		kind := p.next().upper
		p.expect("=")
		value := p.file.Slice(p.constant())
		e.Options = append(e.Options, Option{Span: p.from(start), Name: "AS " + kind, Value: value})
	}
	start = p.peek().Span
	if p.accept("AT") {
		name := "AT"
		if p.accept("DATA_SOURCE") {
			name = "AT DATA_SOURCE"
		}
		server := p.ident()
		e.Options = append(e.Options, Option{Span: p.from(start), Name: name, Value: server.Value})
	}
}

// execProcedure reads [@status =] procedure [arguments].
func (p *parser) execProcedure(e *Exec) {
	if p.peek().kind == tokenVariable && p.peekN(1).is("=") {
		e.Status = p.variable()
		p.next() // =
	}
	if p.peek().kind == tokenVariable {
		e.ProcVar = p.variable()
	} else {
		e.Name = p.qualifiedName("the name of a procedure", 4)
	}
	p.refuseNumber()
	if !p.beginsArgument() {
		return
	}
	e.Args = []ExecArg{p.execArg()}
	for p.accept(",") {
		e.Args = append(e.Args, p.execArg())
	}
	p.refuseUnnamed(e.Args)
}

// refuseNumber reports the number of a numbered procedure, a feature that was given up long ago.
func (p *parser) refuseNumber() {
	if p.peek().is(";") && p.peekN(1).kind == tokenInt {
		p.next()
		p.fail(p.peek().Span, "give each procedure a name of its own", "numbered procedures aren't supported")
	}
}

// refuseUnnamed reports a positional argument after a named one.
func (p *parser) refuseUnnamed(args []ExecArg) {
	named := false
	for i, a := range args {
		if a.Name == "" && named {
			p.fail(a.Span, "name it too", "argument %d has no name, though one before it has", i+1)
		}
		named = named || a.Name != ""
	}
}

// beginsArgument reports whether an argument of EXEC comes next rather than the next statement.
func (p *parser) beginsArgument() bool {
	t := p.peek()
	switch t.kind {
	case tokenWord, tokenQuoted:
		return t.isAny("DEFAULT", "NULL") || t.isName() && !p.endsStatement()
	case tokenPunct:
		return t.isAny("+", "-") // of a number
	case tokenEOF, tokenGo:
		return false
	default:
		return true
	}
}

// execArg reads one argument: [@name =] value [OUTPUT].
func (p *parser) execArg() ExecArg {
	start := p.peek().Span
	var a ExecArg
	if p.peek().kind == tokenVariable && p.peekN(1).is("=") {
		a.Name = p.next().value
		p.next() // =
	}
	switch t := p.peek(); {
	case t.isName() && !p.peekN(1).isAny("(", "."):
		// A bare word is a string: EXEC sp_rename t, u.
		p.next()
		a.X = &Literal{Span: t.Span, Kind: StringLiteral, Value: t.value}
	case t.is("DEFAULT"):
		a.X = p.exprOrDefault()
	default:
		a.X = p.constantOrVariable("EXEC")
	}
	if p.accept("OUTPUT") || p.accept("OUT") {
		a.Output = true
		if _, ok := a.X.(*Variable); !ok {
			p.fail(a.X.Range(), "pass a variable", "OUTPUT needs a variable that receives the value")
		}
	}
	a.Span = p.from(start)
	return a
}

// execOptions reads RECOMPILE and RESULT SETS.
func (p *parser) execOptions(e *Exec) {
	for {
		start := p.peek().Span
		switch {
		case p.accept("RECOMPILE"):
			e.Options = append(e.Options, Option{Span: start, Name: "RECOMPILE"})
		case p.accept("RESULT", "SETS"):
			e.ResultSets = p.resultSets()
			e.ResultSets.Span = p.from(start)
		default:
			p.failExpected("RECOMPILE", "RESULT SETS")
		}
		if !p.accept(",") {
			return
		}
	}
}

// resultSets reads UNDEFINED, NONE or the definitions of WITH RESULT SETS.
func (p *parser) resultSets() *ResultSets {
	r := &ResultSets{}
	switch {
	case p.accept("UNDEFINED"):
		r.Undefined = true
		return r
	case p.accept("NONE"):
		r.None = true
		return r
	}
	p.expect("(")
	r.Sets = []ResultSetDef{p.resultSet()}
	for p.accept(",") {
		r.Sets = append(r.Sets, p.resultSet())
	}
	p.expect(")")
	return r
}

// resultSet reads (columns), AS OBJECT name or AS TYPE name.
func (p *parser) resultSet() ResultSetDef {
	start := p.peek().Span
	var d ResultSetDef
	switch {
	case p.accept("AS", "OBJECT"):
		d.Object = p.objectName()
	case p.accept("AS", "TYPE"):
		d.Type = p.objectName()
	case p.peek().is("AS"):
		p.next()
		p.failExpected("OBJECT", "TYPE")
	default:
		p.expect("(")
		d.Columns = []ColumnDef{p.resultColumn()}
		for p.accept(",") {
			d.Columns = append(d.Columns, p.resultColumn())
		}
		p.expect(")")
	}
	d.Span = p.from(start)
	return d
}

// resultColumn reads name type [COLLATE name] [NULL|NOT NULL].
func (p *parser) resultColumn() ColumnDef {
	start := p.peek().Span
	c := ColumnDef{Name: p.name("the name of a column")}
	c.Type = p.typeName()
	if p.accept("COLLATE") {
		c.Collation = p.ident().Value
	}
	c.Null = p.nullability()
	c.Span = p.from(start)
	return c
}

// nullability reads NULL or NOT NULL, if one of them is next.
func (p *parser) nullability() Nullability {
	switch {
	case p.accept("NULL"):
		return NullAllowed
	case p.accept("NOT", "NULL"):
		return NullRefused
	default:
		return NullUnsaid
	}
}

// bareOptions reads options of a module, which stand after WITH without parentheses: WITH RECOMPILE, EXECUTE AS OWNER.
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
