package syntax

// execStmt reads EXECUTE of a procedure or of text, and EXECUTE AS.
// A procedure's name alone, which servers take for a call at the beginning of a batch, is refused by unknownStatement.
func (p *parser) execStmt() Stmt {
	if p.peekN(1).is("AS") {
		return p.executeAs()
	}
	return p.exec()
}

// executeAs reads EXECUTE AS CALLER, or LOGIN|USER = name [WITH …], as a statement.
// It changes who the session is until REVERT, and sends no rows.
func (p *parser) executeAs() Stmt {
	start := p.next().Span
	p.next() // AS
	s := &ExecuteAs{Kind: "CALLER"}
	if !p.accept("CALLER") {
		if !p.peek().isAny("LOGIN", "USER") {
			p.failExpected("CALLER", "LOGIN", "USER")
		}
		s.Kind = p.next().upper
		p.expect("=")
		s.User = p.constantOrVariable("EXECUTE AS")
		if p.accept("WITH", "COOKIE", "INTO") {
			s.Cookie = p.variable()
		} else if p.accept("WITH") {
			p.expect("NO", "REVERT")
			s.NoRevert = true
		}
	}
	s.Span = p.from(start)
	return &Other{Span: s.Span, Words: "EXECUTE AS", Detail: s}
}

// exec reads EXECUTE, also as the source of an INSERT.
//
//	EXEC @rc = dbo.ship @id = 5, @left = @left OUTPUT WITH RECOMPILE
//	EXEC (N'SELECT * FROM ' + @table) WITH RESULT SETS ((id int, name nvarchar(50)))
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
// The arguments have no parentheses around them, so where they end is where no comma follows.
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
	e.Args = commaList(p, p.execArg)
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
// Procedures without arguments are followed by anything: EXEC dbo.a EXEC dbo.b are two calls.
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
// T-SQL takes constants and variables here, never expressions: EXEC p @a + 1 is an error, and so is EXEC p GETDATE().
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
//
//	WITH RECOMPILE, RESULT SETS ((id int NOT NULL), AS TYPE dbo.lines)
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
	r.Sets = commaList(p, p.resultSet)
	p.expect(")")
	return r
}

// resultSet reads (columns), AS OBJECT name or AS TYPE name.
// The latter two take the columns of a table, a view or a table type.
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
		d.Columns = commaList(p, p.resultColumn)
		p.expect(")")
	}
	d.Span = p.from(start)
	return d
}

// resultColumn reads name type [COLLATE name] [NULL|NOT NULL].
// Neither identity nor default can be said of a column of a result.
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
