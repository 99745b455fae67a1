package syntax

import (
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"
)

// maxLinks bounds the operators of an expression that lie one within another. A chain a + b + c … is a tree as deep
// as the chain is long, and the
// stages after the parser walk trees by recursion.
const maxLinks = 10_000

// Scalar expressions and conditions share parentheses, so one grammar reads both:
//
//	either:      conjunction { OR conjunction }
//	conjunction: negation { AND negation }
//	negation:    NOT negation | predicate
//	predicate:   sum [ comparison sum | BETWEEN … | IN … | LIKE … | IS … ]
//	sum:         product { (+ - & ^ | || << >>) product }
//	product:     unary { (* / %) unary }
//	unary:       (+ -) product | tilde
//	tilde:       ~ tilde | postfix
//	postfix:     primary { COLLATE name | AT TIME ZONE primary }
//
// Which of the two came out is a property of the node (isCondition), and every production that needs one of them checks
// its operands. Nothing is ever read twice.

// expr reads a scalar expression.
// It differs from condition in what may come out only; both read the same text.
func (p *parser) expr() Expr {
	return p.scalar(p.either())
}

// condition reads a condition.
func (p *parser) condition() Expr {
	return p.logical(p.either())
}

// exprList reads scalar expressions between commas.
func (p *parser) exprList() []Expr {
	return commaList(p, p.expr)
}

// exprOrDefault reads what may stand for a value in VALUES and SET and as an argument: an expression or DEFAULT.
// It is an error of the server, not of the grammar, if the column or the parameter has no default.
func (p *parser) exprOrDefault() Expr {
	if t := p.peek(); t.is("DEFAULT") {
		p.next()
		return &Literal{Span: t.Span, Kind: DefaultLiteral, Value: t.value}
	}
	return p.expr()
}

// isCondition tells conditions from scalar expressions.
// Parentheses don't matter: (a = 1) is a condition and (a) a value.
func isCondition(x Expr) bool {
	for {
		paren, ok := x.(*Paren)
		if !ok {
			break
		}
		x = paren.X
	}
	switch x := x.(type) {
	case *Compare, *Quantified, *Logical, *Not, *Between, *In, *Like, *IsNull, *Exists, *UpdateTest:
		return true
	case *Call:
		return isConditionCall(x)
	default:
		return false
	}
}

// isConditionCall reports whether the call is of a function that is a condition by itself.
// They are called like functions, but stand where conditions do: WHERE CONTAINS (title, @words).
func isConditionCall(c *Call) bool {
	if len(c.Name.Parts) != 1 || c.Name.Parts[0].Quoted {
		return false
	}
	switch strings.ToUpper(c.Name.Parts[0].Value) {
	case "CONTAINS", "FREETEXT", "REGEXP_LIKE":
		return true
	default:
		return false
	}
}

// scalar checks that x is a scalar expression.
// It returns x, so that a production can check what it reads in passing.
func (p *parser) scalar(x Expr) Expr {
	if isCondition(x) {
		p.fail(x.Range(), "T-SQL has no boolean values; write CASE WHEN … THEN 1 ELSE 0 END",
			"expected a value, found a condition")
	}
	return x
}

// logical checks that x is a condition.
// The commonest mistake is WHERE active, which other dialects allow for a boolean.
func (p *parser) logical(x Expr) Expr {
	if !isCondition(x) {
		p.fail(x.Range(), "compare it with something; a bit is compared too: "+clip(firstLine(p.file.Slice(x.Range())))+" = 1",
			"expected a condition, found a value")
	}
	return x
}

// firstLine cuts text for use in a message.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.ToValidUTF8(strings.TrimSpace(line), "?")
}

// link counts one operator of the expression that is being read.
// Operators that chain are read by loops, so enter doesn't count them.
func (p *parser) link() {
	p.links++
	p.checkHeight(0)
}

// checkHeight bounds how high a tree is by now: the operators of the present expression on top of the highest
// expression
// within it, under those of the expression around it.
// around are those of the latter, which are still being read.
func (p *parser) checkHeight(around int) {
	if around+p.links+p.tallest > maxLinks {
		p.fail(p.peek().Span, "split the expression", "an expression has more than %d operators", maxLinks)
	}
}

// either reads a scalar expression or a condition.
// It is where expressions nest: in parentheses, in arguments, in CASE.
func (p *parser) either() Expr {
	p.enter()
	defer p.leave()
	links, tallest := p.links, p.tallest
	p.links, p.tallest = 0, 0
	// What is nested here adds to the height of what is around it; siblings don't add up.
	defer func() { p.links, p.tallest = links, max(tallest, p.links+p.tallest) }()

	x := p.conjunction()
	for p.peek().is("OR") {
		x = p.connective(x, p.conjunction)
	}
	p.checkHeight(links)
	return x
}

// conjunction reads conditions joined by AND, or a single operand.
func (p *parser) conjunction() Expr {
	x := p.negation()
	for p.peek().is("AND") {
		x = p.connective(x, p.negation)
	}
	return x
}

// connective reads AND or OR and its right side.
func (p *parser) connective(x Expr, right func() Expr) Expr {
	p.link()
	p.logical(x)
	op := p.next().upper
	y := p.logical(right())
	return &Logical{Span: p.from(x.Range()), Op: op, X: x, Y: y}
}

// negation reads NOT. It binds more tightly than AND and less tightly than comparisons: NOT a = b is NOT (a = b).
// Several of them in a row are allowed, hence the recursion.
func (p *parser) negation() Expr {
	t := p.peek()
	if !t.is("NOT") {
		return p.predicate()
	}
	p.enter()
	defer p.leave()
	p.next()
	x := p.logical(p.negation())
	return &Not{Span: p.from(t.Span), X: x}
}

// predicate reads a comparison or another condition about scalars; without one it returns the scalar. None of these
// operators chains: a = b = c is no T-SQL.
func (p *parser) predicate() Expr {
	x := p.sum()
	switch t := p.peek(); {
	case t.kind == tokenPunct && isComparison(t.value):
		return p.comparison(x)
	case t.is("NOT") && p.peekN(1).isAny("BETWEEN", "IN", "LIKE"):
		p.next()
		return p.rangeTest(x, true)
	case t.isAny("BETWEEN", "IN", "LIKE"):
		return p.rangeTest(x, false)
	case t.is("IS"):
		return p.is(x)
	default:
		return x
	}
}

// isComparison reports whether a punctuation mark compares. !< and !> are "not less" and "not greater".
func isComparison(s string) bool {
	switch s {
	case "=", "<>", "!=", "<", "<=", ">", ">=", "!<", "!>":
		return true
	default:
		return false
	}
}

// comparison reads the operator and the right side, which may be ANY, SOME or ALL of a query.
//
//	a >= b   a = ANY (SELECT …)   a <> ALL (SELECT …)
func (p *parser) comparison(x Expr) Expr {
	p.scalar(x)
	op := p.next().value
	if op == "!=" {
		op = "<>"
	}
	if q := p.peek(); q.isAny("ANY", "SOME", "ALL") {
		p.next()
		query := p.subquery()
		return &Quantified{Span: p.from(x.Range()), Op: op, Quantifier: q.upper, X: x, Query: query}
	}
	y := p.scalar(p.sum())
	if t := p.peek(); t.kind == tokenPunct && isComparison(t.value) {
		p.fail(t.Span, "join two comparisons with AND", "a comparison can't be compared again with %s", t.value)
	}
	return &Compare{Span: p.from(x.Range()), Op: op, X: x, Y: y}
}

// rangeTest reads BETWEEN, IN or LIKE with its right side.
// The AND of BETWEEN belongs to it: its bounds are sums, which never take an AND for themselves.
func (p *parser) rangeTest(x Expr, not bool) Expr {
	p.scalar(x)
	switch p.next().upper {
	case "BETWEEN":
		low := p.scalar(p.sum())
		p.expect("AND")
		high := p.scalar(p.sum())
		return &Between{Span: p.from(x.Range()), X: x, Low: low, High: high, Not: not}
	case "IN":
		list, query := p.inList()
		return &In{Span: p.from(x.Range()), X: x, List: list, Query: query, Not: not}
	default:
		like := &Like{X: x, Not: not, Pattern: p.scalar(p.sum())}
		if p.accept("ESCAPE") {
			like.Escape = p.scalar(p.sum())
		}
		like.Span = p.from(x.Range())
		return like
	}
}

// inList reads what stands in the parentheses of IN: values or a query.
//
//	IN (1, 2, @x)   IN (SELECT …)   IN ((SELECT …) UNION (SELECT …))
func (p *parser) inList() ([]Expr, *Query) {
	if t := p.peek(); !t.is("(") {
		p.fail(t.Span, "write IN (…); a list in one variable is read by OPENJSON or STRING_SPLIT",
			"expected (, found %s", t.describe())
	}
	p.next()
	if p.peek().is(")") {
		p.fail(p.peek().Span, "leave the condition out or compare with NULL", "IN needs at least one value")
	}
	start := p.peek().Span
	if startsQuery(p.peek()) {
		q := p.embedded()
		p.expectClose("IN (")
		return nil, q
	}
	first := p.expr()
	// IN ((SELECT …) UNION (SELECT …)) looks like a list of values until its first query is read.
	if sub, ok := first.(*Subquery); ok {
		switch {
		case isSetOperator(p.peek()):
			q := p.queryFrom(start, nil, parenQuery(sub))
			p.checkEmbedded(q, "a subquery")
			p.expectClose("IN (")
			return nil, q
		case p.accept(")"):
			return nil, sub.Query
		}
	}
	list := []Expr{first}
	for p.accept(",") {
		list = append(list, p.expr())
	}
	p.expectClose("IN (")
	return list, nil
}

// is reads IS [NOT] NULL and IS [NOT] DISTINCT FROM.
func (p *parser) is(x Expr) Expr {
	p.scalar(x)
	p.expect("IS")
	not := p.accept("NOT")
	switch {
	case p.accept("NULL"):
		return &IsNull{Span: p.from(x.Range()), X: x, Not: not}
	case p.accept("DISTINCT", "FROM"):
		op := "IS DISTINCT FROM"
		if not {
			op = "IS NOT DISTINCT FROM"
		}
		y := p.scalar(p.sum())
		return &Compare{Span: p.from(x.Range()), Op: op, X: x, Y: y}
	default:
		p.failExpected("NULL", "DISTINCT FROM")
		return nil
	}
}

// sum reads what binds like +. The operators on bits are among them, unlike in C: a + b & c is (a + b) & c.
func (p *parser) sum() Expr {
	x := p.product()
	for {
		t := p.peek()
		if t.kind != tokenPunct {
			return x
		}
		switch t.value {
		case "+", "-", "&", "^", "|", "||", "<<", ">>":
			x = p.binary(x, p.product)
		default:
			return x
		}
	}
}

// product reads what binds like *.
// Unary operators are between it and the operands: see the grammar above.
func (p *parser) product() Expr {
	x := p.unary()
	for p.peek().isAny("*", "/", "%") {
		x = p.binary(x, p.unary)
	}
	return x
}

// binary reads an operator and its right side, so that chains lean to the left.
func (p *parser) binary(x Expr, right func() Expr) Expr {
	p.link()
	p.scalar(x)
	op := p.next().value
	y := p.scalar(right())
	return &Binary{Span: p.from(x.Range()), Op: op, X: x, Y: y}
}

// unary reads a sign. In T-SQL it binds less tightly than * / %: -1 % 2 is -(1 % 2), and a / -b * c is a / -(b * c).
func (p *parser) unary() Expr {
	t := p.peek()
	if !t.isAny("+", "-") {
		return p.tilde()
	}
	p.enter()
	defer p.leave()
	p.next()
	x := p.scalar(p.product())
	return &Unary{Span: p.from(t.Span), Op: t.value, X: x}
}

// tilde reads ~, which binds more tightly than every operator with two sides.
func (p *parser) tilde() Expr {
	t := p.peek()
	if !t.is("~") {
		return p.postfix()
	}
	p.enter()
	defer p.leave()
	p.next()
	x := p.scalar(p.tilde())
	return &Unary{Span: p.from(t.Span), Op: "~", X: x}
}

// postfix reads an operand with the COLLATE and AT TIME ZONE after it.
//
//	name COLLATE Latin1_General_BIN2
//	created AT TIME ZONE 'UTC' AT TIME ZONE @zone
func (p *parser) postfix() Expr {
	x := p.primary()
	for {
		switch {
		case p.peek().is("COLLATE"):
			p.link()
			p.scalar(x)
			p.next()
			name := p.ident()
			x = &Collate{Span: p.from(x.Range()), X: x, Name: name}
		case p.peek().is("AT") && p.peekN(1).is("TIME") && p.peekN(2).is("ZONE"):
			p.link()
			p.scalar(x)
			p.expect("AT", "TIME", "ZONE")
			zone := p.scalar(p.primary())
			x = &AtTimeZone{Span: p.from(x.Range()), X: x, Zone: zone}
		default:
			p.refuseMethod()
			return x
		}
	}
}

// refuseMethod reports x.method(…) and x::method(…), which XML and CLR types have.
//
//	@x.value('(/a)[1]', 'int')   geography::Point(1, 2, 4326)
func (p *parser) refuseMethod() {
	if t := p.peek(); t.isAny(".", "::") {
		p.fail(t.Span, "use JSON and its functions, or a function of your own",
			"methods of XML and CLR types aren't supported")
	}
}

// primary reads an operand.
func (p *parser) primary() Expr {
	t := p.peek()
	switch t.kind {
	case tokenVariable:
		p.next()
		return &Variable{Span: t.Span, Name: t.value}
	case tokenSystem:
		p.next()
		return &SystemVariable{Span: t.Span, Name: strings.ToUpper(t.value)}
	case tokenPunct:
		return p.punctuated(t)
	case tokenQuoted:
		return p.named()
	case tokenWord:
		if x := p.keyword(t); x != nil {
			return x
		}
		if !isReserved(t.upper) {
			return p.named()
		}
	default:
		if kind, ok := literalKinds[t.kind]; ok {
			p.next()
			return &Literal{Span: t.Span, Kind: kind, Value: t.value}
		}
	}
	p.failOperand(t)
	return nil
}

// literalKinds maps the tokens that are literals by themselves; NULL and DEFAULT are words.
var literalKinds = map[tokenKind]LiteralKind{
	tokenString:  StringLiteral,
	tokenNString: NStringLiteral,
	tokenInt:     IntLiteral,
	tokenDecimal: DecimalLiteral,
	tokenFloat:   FloatLiteral,
	tokenMoney:   MoneyLiteral,
	tokenBinary:  BinaryLiteral,
}

// clauseWords are reserved words that are hardly meant as names: something is missing before them.
var clauseWords = wordSet(`AND AS BETWEEN ELSE END EXCEPT EXEC FROM GROUP HAVING IN INSERT INTERSECT INTO IS JOIN LIKE NOT
	ON OPTION OR SELECT SET THEN UNION UPDATE VALUES WHEN WHERE WITH`)

// failOperand reports that no expression begins at t.
// The advice depends on what is likely: a comma too many, or a keyword as the name of a column.
func (p *parser) failOperand(t token) {
	fix := ""
	switch {
	case p.at > 0 && p.tokens[p.at-1].is(",") && (t.is(")") || t.kind == tokenWord):
		fix = "remove the comma before it"
		if t.kind == tokenWord && !clauseWords[t.upper] {
			fix += ", or write [" + t.value + "] if that is a name"
		}
	case t.is("DEFAULT"):
		fix = "DEFAULT stands alone, in VALUES, SET or as an argument"
	case t.kind == tokenWord && !clauseWords[t.upper]:
		fix = "write [" + clip(t.value) + "] if that is a name"
	}
	p.fail(t.Span, fix, "expected an expression, found %s", t.describe())
}

// punctuated reads an operand that begins with a punctuation mark.
func (p *parser) punctuated(t token) Expr {
	switch t.value {
	case "(":
		return p.paren()
	case "{":
		p.fail(t.Span, "write the function or the literal without braces", "ODBC escapes, {…}, aren't supported")
	case "*":
		p.fail(t.Span, "", "a star can stand only in a select list, an OUTPUT list and COUNT(*)")
	case "::":
		p.refuseMethod()
	}
	p.failOperand(t)
	return nil
}

// paren reads a subquery, or an expression or a condition in parentheses.
// Which of these it is, is known only inside; nothing is read twice for it.
func (p *parser) paren() Expr {
	start := p.next().Span
	if startsQuery(p.peek()) {
		q := p.embedded()
		p.expectClose("(")
		return &Subquery{Span: p.from(start), Query: q}
	}
	inner := p.peek().Span
	x := p.either()
	// ((SELECT …) UNION …): the value in parentheses turns out to be the first operand of a query.
	if sub, ok := x.(*Subquery); ok && isSetOperator(p.peek()) {
		q := p.queryFrom(inner, nil, parenQuery(sub))
		p.checkEmbedded(q, "a subquery")
		p.expectClose("(")
		return &Subquery{Span: p.from(start), Query: q}
	}
	if t := p.peek(); t.is(",") {
		p.fail(t.Span, "compare the columns one by one, or use EXISTS", "T-SQL has no row values (a, b)")
	}
	p.expectClose("(")
	return &Paren{Span: p.from(start), X: x}
}

// parenQuery turns what was read as an operand into an operand of a set operation.
// It loses nothing: both are a query and the span of its parentheses.
func parenQuery(sub *Subquery) *ParenQuery {
	return &ParenQuery{Span: sub.Span, Query: sub.Query}
}

// expectClose reads the parenthesis that closes what is named.
// What was opened may be many lines above, so the message names it.
func (p *parser) expectClose(opened string) {
	if t := p.peek(); !t.is(")") {
		p.fail(t.Span, "", "expected ) to close %s, found %s", opened, t.describe())
	}
	p.next()
}

// keyword reads an operand that begins with a word of its own syntax. It returns nil for a name, and for a word with
// which no operand begins.
// A word that isn't reserved is a name unless what follows makes it one of these: NEXT is a fine column.
func (p *parser) keyword(t token) Expr {
	switch t.upper {
	case "NULL":
		p.next()
		return &Literal{Span: t.Span, Kind: NullLiteral, Value: t.value}
	case "CURRENT_TIMESTAMP", "CURRENT_USER", "SESSION_USER", "SYSTEM_USER", "USER", "CURRENT_DATE":
		p.next()
		return &Call{Span: t.Span, Name: wordName(t), NoParens: true}
	case "IDENTITYCOL", "ROWGUIDCOL":
		p.next()
		return &ColumnRef{Span: t.Span, Parts: []Ident{wordIdent(t)}}
	case "CASE":
		return p.caseExpr()
	case "EXISTS":
		p.next()
		q := p.subquery()
		return &Exists{Span: p.from(t.Span), Query: q}
	case "NEXT":
		if p.peekN(1).is("VALUE") && p.peekN(2).is("FOR") {
			return p.nextValue()
		}
		return nil
	}
	if p.peekN(1).is("(") {
		return p.keywordCall(t)
	}
	return nil
}

// keywordCall reads calls of functions that are reserved words or whose arguments have a syntax of their own.
// Without a parenthesis most of them are names, or parts of other clauses such as LEFT JOIN.
func (p *parser) keywordCall(t token) Expr {
	switch t.upper {
	case "CAST", "TRY_CAST", "PARSE", "TRY_PARSE":
		return p.cast()
	case "CONVERT", "TRY_CONVERT":
		return p.convert()
	case "UPDATE":
		p.next()
		p.expect("(")
		column := p.ident()
		p.expectClose("UPDATE (")
		return &UpdateTest{Span: p.from(t.Span), Column: column}
	case "LEFT", "RIGHT", "COALESCE", "NULLIF", "IDENTITY", "CONTAINS", "FREETEXT":
		p.next()
		return p.call(wordName(t))
	default:
		return nil
	}
}

// wordIdent makes a name of a keyword that is the name of a function.
func wordIdent(t token) Ident { return Ident{Span: t.Span, Value: t.value} }

// wordName is wordIdent as the name of an object.
func wordName(t token) *ObjectName {
	return &ObjectName{Span: t.Span, Parts: []Ident{wordIdent(t)}}
}

// caseExpr reads CASE in both its forms.
//
//	CASE WHEN a > 1 THEN 'x' ELSE 'y' END    each WHEN is a condition
//	CASE a WHEN 1 THEN 'x' END               each WHEN is a value that a is compared with
func (p *parser) caseExpr() Expr {
	start := p.next().Span
	c := &Case{}
	if !p.peek().is("WHEN") {
		c.Input = p.expr()
	}
	if !p.peek().is("WHEN") {
		p.failExpected("WHEN")
	}
	for p.peek().is("WHEN") {
		arm := CaseWhen{Span: p.next().Span}
		if c.Input != nil {
			arm.When = p.expr()
		} else {
			arm.When = p.condition()
		}
		p.expect("THEN")
		arm.Then = p.expr()
		arm.Span = p.from(arm.Span)
		c.Whens = append(c.Whens, arm)
	}
	if p.accept("ELSE") {
		c.Else = p.expr()
	}
	if t := p.peek(); !t.is("END") {
		p.fail(t.Span, "close the CASE with END", "expected WHEN, ELSE or END, found %s", t.describe())
	}
	p.next()
	c.Span = p.from(start)
	return c
}

// cast reads CAST (x AS type), TRY_CAST and PARSE (x AS type [USING culture]), TRY_PARSE.
//
//	CAST(@x AS decimal(10, 2))   TRY_PARSE(@s AS date USING 'de-DE')
func (p *parser) cast() Expr {
	t := p.next()
	c := &Cast{Func: t.upper}
	p.expect("(")
	c.X = p.expr()
	p.expect("AS")
	c.Type = p.typeName()
	if strings.HasSuffix(c.Func, "PARSE") && p.accept("USING") {
		c.Style = p.expr()
	}
	p.expectClose(c.Func + " (")
	c.Span = p.from(t.Span)
	return c
}

// convert reads CONVERT (type, x [, style]) and TRY_CONVERT.
// The style, a number such as 126, says how dates and bytes look as text.
func (p *parser) convert() Expr {
	t := p.next()
	c := &Cast{Func: t.upper}
	p.expect("(")
	c.Type = p.typeName()
	p.expect(",")
	c.X = p.expr()
	if p.accept(",") {
		c.Style = p.expr()
	}
	p.expectClose(c.Func + " (")
	c.Span = p.from(t.Span)
	return c
}

// nextValue reads NEXT VALUE FOR sequence [OVER (ORDER BY …)].
func (p *parser) nextValue() Expr {
	start := p.peek().Span
	p.expect("NEXT", "VALUE", "FOR")
	n := &NextValue{Sequence: p.objectName()}
	if p.peek().is("OVER") {
		n.Over = p.over()
	}
	n.Span = p.from(start)
	return n
}

// named reads a column or, when a parenthesis follows the name, a call.
//
//	c   t.c   dbo.t.c   db..t.c   f(…)   dbo.f(…)
func (p *parser) named() Expr {
	start := p.peek().Span
	parts := []Ident{p.ident()}
	for p.peek().is(".") {
		p.next()
		if p.peek().is("*") {
			p.fail(p.peek().Span, "list the columns", "%s.* can stand only in a select list or an OUTPUT list", parts[0].Value)
		}
		// A part may be left out: db..t.c.
		if p.peek().is(".") && parts[len(parts)-1].Value != "" {
			parts = append(parts, Ident{Span: p.peek().Span})
			continue
		}
		parts = append(parts, p.ident())
	}
	span := p.from(start)
	if !p.peek().is("(") {
		p.checkParts(span, parts)
		return &ColumnRef{Span: span, Parts: parts}
	}
	// In x.value(…), x may be a column of type xml or a schema; the name of the method decides.
	name := &ObjectName{Span: span, Parts: parts}
	if isMethod(parts) {
		p.fail(parts[len(parts)-1].Span, "use JSON and its functions, or write ["+parts[len(parts)-1].Value+"] if that is a function of yours",
			"methods of XML and CLR types aren't supported")
	}
	p.checkParts(span, parts)
	return p.call(name)
}

// checkParts refuses names of more than five parts: server.database.schema.table.column.
func (p *parser) checkParts(span diag.Span, parts []Ident) {
	if len(parts) > 5 {
		p.fail(span, "", "a name has more than five parts")
	}
}

// isMethod reports whether a call is of a method of the XML type, whose names are in lower case always.
// A function of the user's may have such a name too; with its schema it is taken for a method unless it is in brackets.
func isMethod(parts []Ident) bool {
	last := parts[len(parts)-1]
	if len(parts) < 2 || last.Quoted {
		return false
	}
	switch last.Value {
	case "value", "query", "exist", "nodes", "modify":
		return true
	default:
		return false
	}
}
