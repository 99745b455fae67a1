package syntax

import "strings"

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
