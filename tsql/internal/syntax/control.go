package syntax

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// controlStatement reads a statement that says what is executed next, or returns nil if none begins with t, the next
// token.
func (p *parser) controlStatement(t token) Stmt {
	switch {
	case t.is("IF"):
		return p.ifStmt()
	case t.is("WHILE"):
		return p.while()
	case t.is("BEGIN"):
		return p.begin()
	case t.is("COMMIT"), t.is("ROLLBACK"), t.is("SAVE"):
		return p.transaction()
	case t.is("RETURN"):
		return p.returnStmt()
	case t.is("BREAK"):
		return &Break{Span: p.next().Span}
	case t.is("CONTINUE"):
		return &Continue{Span: p.next().Span}
	case t.is("GOTO"):
		p.next()
		label := p.name("a label")
		return &Goto{Span: p.from(t.Span), Label: label}
	case t.is("THROW"):
		return p.throw()
	case t.is("RAISERROR"):
		return p.raiserror()
	case t.is("PRINT"):
		p.next()
		x := p.expr()
		return &Print{Span: p.from(t.Span), X: x}
	case t.is("WAITFOR"):
		return p.waitfor()
	case t.is("EXEC"), t.is("EXECUTE"):
		return p.execStmt()
	default:
		return nil
	}
}

// label reads "name:".
func (p *parser) label() Stmt {
	name := p.ident()
	p.expect(":")
	return &Label{Span: p.from(name.Span), Label: name}
}

// ifStmt reads IF condition statement [ELSE statement]. A semicolon may stand before ELSE.
// An ELSE belongs to the nearest IF, as reading from the left has it. IF @a = 1 SELECT 1; ELSE SELECT 2 is right.
func (p *parser) ifStmt() Stmt {
	start := p.next().Span
	s := &If{Cond: p.condition()}
	s.Then = p.single()
	// Only one semicolon: a second would be an empty statement, and the ELSE without an IF.
	if p.peek().is(";") && p.peekN(1).is("ELSE") {
		p.next()
	}
	if p.accept("ELSE") {
		s.Else = p.single()
	}
	s.Span = p.from(start)
	return s
}

// while reads WHILE condition statement.
func (p *parser) while() Stmt {
	start := p.next().Span
	s := &While{Cond: p.condition()}
	s.Body = p.single()
	s.Span = p.from(start)
	return s
}

// begin reads what BEGIN may begin: a transaction, TRY, or a block.
func (p *parser) begin() Stmt {
	switch after := p.peekN(1); {
	case after.isAny("TRAN", "TRANSACTION", "DISTRIBUTED"):
		return p.beginTransaction()
	case after.is("TRY"):
		return p.tryCatch()
	case after.is("CATCH"):
		p.report(after.Span, "write BEGIN TRY … END TRY before it", "CATCH without a TRY")
		return p.tryCatch()
	}
	start := p.next().Span
	s := &Block{}
	if p.accept("ATOMIC") {
		p.expect("WITH")
		s.Atomic = p.optionList()
	}
	s.Stmts = p.block("BEGIN", start, "")
	s.Span = p.from(start)
	return s
}

// block reads statements and the END after them, with the word that belongs to it. The words are those of its
// beginning, which start is the place of. A missing END is reported without giving up the statements: it is missing at
// the end of the batch, so nothing is left to go wrong.
// after is TRY, CATCH or "": END TRY ends BEGIN TRY, and a bare END a plain block.
func (p *parser) block(words string, start diag.Span, after string) []Stmt {
	at := p.at
	stmts := p.statements(blockScope)
	// END TRY can't end a plain block; whoever wrote it forgot the block's own END.
	foreign := after == "" && p.peekN(1).isAny("TRY", "CATCH") && !p.peekN(2).is(":")
	if t := p.peek(); !t.is("END") || foreign {
		found := t.describe()
		if foreign {
			found += " " + p.peekN(1).describe()
		}
		line, _ := p.file.Position(start.From)
		p.report(t.Span, "", "expected END, found %s; the %s of line %d has none", found, words, line)
		return stmts
	}
	// Only CATCH may be empty.
	if p.at == at && after != "CATCH" {
		p.report(p.peek().Span, "put at least a PRINT or a RETURN before it", "expected a statement, found END")
	}
	p.next()
	if t := p.peek(); after != "" && !p.accept(after) {
		p.report(t.Span, "", "expected %s, found %s", after, t.describe())
	}
	return stmts
}

// tryCatch reads BEGIN TRY … END TRY BEGIN CATCH … END CATCH, or the second half if the first is missing.
// Nothing may stand between the halves, and one is nothing without the other.
func (p *parser) tryCatch() Stmt {
	start := p.peek().Span
	s := &TryCatch{}
	if p.accept("BEGIN", "TRY") {
		s.Try = p.block("BEGIN TRY", start, "TRY")
		// A semicolon between the two is an error that servers report as a mysterious one near BEGIN.
		if t := p.peek(); t.is(";") && p.peekN(1).is("BEGIN") && p.peekN(2).is("CATCH") {
			p.report(t.Span, "remove the semicolon", "END TRY must be followed by BEGIN CATCH at once")
			p.next()
		}
	}
	from := p.peek()
	switch {
	case p.accept("BEGIN", "CATCH"):
		s.Catch = p.block("BEGIN CATCH", from.Span, "CATCH")
	case !p.tokens[p.at-1].is("TRY"): // the missing END was reported
	default:
		p.report(from.Span, "", "expected BEGIN CATCH, found %s", from.describe())
	}
	s.Span = p.from(start)
	return s
}

// beginTransaction reads BEGIN [DISTRIBUTED] TRANSACTION [name [WITH MARK ['…']]].
// The name of a transaction is a label for people; only the outermost one's can be rolled back to.
func (p *parser) beginTransaction() Stmt {
	start := p.next().Span
	s := &Transaction{Verb: "BEGIN", Distributed: p.accept("DISTRIBUTED")}
	p.transactionWord()
	// Only a transaction with a name can be marked in the log.
	s.Name = p.transactionName()
	if s.Name != "" && p.accept("WITH", "MARK") {
		s.Mark = true
		if t := p.peek(); t.kind == tokenString || t.kind == tokenNString {
			p.next()
		}
	}
	s.Span = p.from(start)
	return s
}

// transaction reads COMMIT, ROLLBACK and SAVE. The word TRANSACTION is necessary only where a name follows.
//
//	COMMIT [TRAN[SACTION] [name] | WORK] [WITH (DELAYED_DURABILITY = ON|OFF)]
//	ROLLBACK [TRAN[SACTION] [name or savepoint] | WORK]
//	SAVE TRAN[SACTION] savepoint
func (p *parser) transaction() Stmt {
	verb := p.next()
	s := &Transaction{Verb: verb.upper}
	switch {
	case verb.is("SAVE"):
		p.transactionWord()
		if s.Name = p.transactionName(); s.Name == "" {
			p.failExpected("the name of a savepoint")
		}
	case p.peek().isAny("TRAN", "TRANSACTION"):
		p.next()
		s.Name = p.transactionName()
	default:
		p.accept("WORK")
	}
	if verb.is("COMMIT") && p.peek().is("WITH") && p.peekN(1).is("(") {
		p.next()
		for _, o := range p.optionList() {
			s.Delayed = o.Name == "DELAYED_DURABILITY" && strings.EqualFold(o.Value, "ON")
		}
	}
	s.Span = p.from(verb.Span)
	return s
}

// transactionWord reads TRANSACTION or its short form.
func (p *parser) transactionWord() {
	if !p.accept("TRAN") && !p.accept("TRANSACTION") {
		p.failExpected("TRANSACTION")
	}
}

// transactionName reads a name or a variable, as written, or returns "". THROW isn't taken for a name, though a server
// does so: the transaction would stay, and the error be lost.
func (p *parser) transactionName() string {
	t := p.peek()
	if t.kind == tokenVariable || t.isName() && !p.endsStatement() {
		return p.file.Slice(p.next().Span)
	}
	return ""
}

// returnStmt reads RETURN [x]. That only procedures and functions return values is for a later stage to check.
// Its operand isn't bounded by anything, hence endsStatement: in IF @a = 1 RETURN SELECT 1 the SELECT is the next
// statement.
func (p *parser) returnStmt() Stmt {
	s := &Return{Span: p.next().Span}
	start := s.Span
	if !p.endsStatement() {
		s.X = p.expr()
	}
	s.Span = p.from(start)
	return s
}

// throw reads THROW [number, message, state]. A semicolon must stand before it, since THROW is no keyword; see
// checkSeparator.
func (p *parser) throw() Stmt {
	s := &Throw{Span: p.next().Span}
	start := s.Span
	if p.endsStatement() {
		return s
	}
	s.Number = p.constantOrVariable("THROW")
	p.comma()
	s.Message = p.constantOrVariable("THROW")
	p.comma()
	s.State = p.constantOrVariable("THROW")
	s.Span = p.from(start)
	return s
}

// constantOrVariable reads an operand where T-SQL allows only a constant or a variable, not an expression. what is the
// statement, for the message.
func (p *parser) constantOrVariable(what string) Expr {
	x := p.expr()
	if !isConstant(x) {
		switch x.(type) {
		case *Variable, *SystemVariable:
		default:
			p.fail(x.Range(), "compute the value into a variable first", "%s takes constants and variables, not expressions", what)
		}
	}
	return x
}

// isConstant reports whether x is a literal or a signed number.
// -1 is a literal to people and to these statements, though the grammar has it as an operator and a number.
func isConstant(x Expr) bool {
	if u, ok := x.(*Unary); ok && u.Op != "~" {
		x = u.X
	}
	_, ok := x.(*Literal)
	return ok
}

// raiserror reads RAISERROR (message, severity, state, …) [WITH LOG, NOWAIT, SETERROR].
// In contrast to THROW it takes the parentheses, and a number of sys.messages or a text with %d and %s for the
// arguments
// that follow. The old form RAISERROR 50000 'x' is gone since SQL Server 2012.
func (p *parser) raiserror() Stmt {
	start := p.next().Span
	if t := p.peek(); !t.is("(") {
		p.fail(t.Span, "write RAISERROR (message, severity, state)", "expected (, found %s", t.describe())
	}
	p.next()
	s := &Raiserror{Args: []Expr{p.constantOrVariable("RAISERROR")}}
	for p.accept(",") {
		s.Args = append(s.Args, p.constantOrVariable("RAISERROR"))
	}
	if len(s.Args) < 3 {
		p.fail(p.from(start), "write RAISERROR (message, severity, state)", "RAISERROR needs at least 3 arguments, not %d", len(s.Args))
	}
	p.expect(")")
	if p.accept("WITH") {
		s.Options = p.flags("LOG", "NOWAIT", "SETERROR")
	}
	s.Span = p.from(start)
	return s
}

// flags reads words of a set, separated by commas.
func (p *parser) flags(known ...string) []Option {
	var options []Option
	for {
		t := p.peek()
		if !t.isAny(known...) {
			p.failExpected(known...)
		}
		p.next()
		options = append(options, Option{Span: t.Span, Name: t.upper})
		if !p.accept(",") {
			return options
		}
	}
}

// waitfor reads WAITFOR DELAY|TIME x.
//
//	WAITFOR DELAY '00:00:05'
func (p *parser) waitfor() Stmt {
	start := p.next().Span
	kind := p.peek()
	if p.accept("(") {
		p.refuseBroker(p.peek())
		p.failExpected("RECEIVE", "GET CONVERSATION GROUP")
	}
	if !kind.isAny("DELAY", "TIME") {
		p.failExpected("DELAY", "TIME")
	}
	p.next()
	x := p.constantOrVariable("WAITFOR")
	return &Waitfor{Span: p.from(start), Kind: kind.upper, X: x}
}
