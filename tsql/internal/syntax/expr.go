package syntax

import (
	"strings"
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
	switch x := Unparen(x).(type) {
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
		case p.startsMethod():
			p.link()
			p.next()
			x = p.method(p.scalar(x), p.ident())
		case p.peek().is(".") && p.peekN(1).kind == tokenWord:
			p.link()
			p.next()
			m := &Method{X: p.scalar(x), Name: p.ident(), Property: true}
			m.Span = p.from(x.Range())
			x = m
		default:
			if m := p.typeMethod(x); m != nil {
				x = m
				continue
			}
			p.refuseMethod()
			return x
		}
	}
}
