package syntax

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// call reads the arguments of a call and what may follow them. The name has been read; a parenthesis is next. How many
// arguments a function takes is the business of package analyze.
//
//	name ([arguments]) [WITHIN GROUP (…)] [IGNORE|RESPECT NULLS] [OVER (…)]
func (p *parser) call(name *ObjectName) *Call {
	c := &Call{Name: name}
	p.expect("(")
	if !p.peek().is(")") {
		p.arguments(c)
	}
	p.expectClose(name.Last().Value + " (")
	p.afterCall(c)
	c.Span = p.from(name.Span)
	return c
}

// arguments reads what stands between the parentheses, which for some functions is more than a list of values.
func (p *parser) arguments(c *Call) {
	name := ""
	if len(c.Name.Parts) == 1 && !c.Name.Parts[0].Quoted {
		name = strings.ToUpper(c.Name.Parts[0].Value)
	}
	// Quoted or qualified, none of these words is the built-in function.
	switch name {
	// The only built-in function that takes a condition.
	case "IIF":
		c.Args = []Expr{p.condition()}
		for p.accept(",") {
			c.Args = append(c.Args, p.expr())
		}
	case "TRIM":
		p.trimArguments(c)
	case "JSON_OBJECT", "JSON_OBJECTAGG":
		p.jsonObject(c)
	// NULL ON NULL may stand alone, after no values at all; that it is no value shows only at the ON.
	case "JSON_ARRAY", "JSON_ARRAYAGG":
		if !p.jsonNulls(c) {
			c.Args = p.exprList()
			p.jsonNulls(c)
		}
	case "CONTAINS", "FREETEXT", "CONTAINSTABLE", "FREETEXTTABLE":
		p.fullText(c, strings.HasSuffix(name, "TABLE"))
	default:
		p.plainArguments(c)
	}
}

// plainArguments reads * or [DISTINCT|ALL] values. DEFAULT may stand for an argument of a function of the user's; which
// functions those are shows only later, because in FROM they are called without their schema too.
func (p *parser) plainArguments(c *Call) {
	if p.accept("*") {
		c.Star = true
		return
	}
	if p.accept("DISTINCT") {
		c.Distinct = true
	} else {
		p.accept("ALL")
	}
	c.Args = append(c.Args, p.exprOrDefault())
	for p.accept(",") {
		c.Args = append(c.Args, p.exprOrDefault())
	}
}

// trimArguments reads TRIM ([[LEADING|TRAILING|BOTH] [characters] FROM] x). The tree has the arguments in the order of
// the text; from which ends is trimmed changes no type.
func (p *parser) trimArguments(c *Call) {
	// None of the three is reserved, so TRIM(leading) and TRIM(both.x) are of columns.
	side := p.peek().isAny("LEADING", "TRAILING", "BOTH") && !p.peekN(1).isAny(")", ".")
	if side {
		p.next()
	}
	if !side || !p.peek().is("FROM") {
		c.Args = append(c.Args, p.expr())
	}
	if side && !p.peek().is("FROM") {
		p.failExpected("FROM")
	}
	if p.accept("FROM") {
		c.Args = append(c.Args, p.expr())
	}
}

// jsonObject reads the pairs of JSON_OBJECT ('key': value, …) and JSON_OBJECTAGG (key: value), and NULL ON NULL behind
// them. Keys and Args of the call are parallel.
func (p *parser) jsonObject(c *Call) {
	if p.jsonNulls(c) {
		return
	}
	for {
		c.Keys = append(c.Keys, p.expr())
		if t := p.peek(); !t.is(":") {
			p.fail(t.Span, "write the pairs as 'key': value", "expected : after a key of %s, found %s",
				c.Name.Parts[0].Value, t.describe())
		}
		p.next()
		c.Args = append(c.Args, p.expr())
		if !p.accept(",") {
			break
		}
	}
	p.jsonNulls(c)
}

// jsonNulls reads NULL ON NULL or ABSENT ON NULL and reports whether it was there.
func (p *parser) jsonNulls(c *Call) bool {
	t := p.peek()
	if !t.isAny("NULL", "ABSENT") || !p.peekN(1).is("ON") {
		return false
	}
	p.next()
	p.expect("ON", "NULL")
	c.JSONNulls = t.upper + " ON NULL"
	return true
}

// fullText reads the arguments of CONTAINS and FREETEXT and of their table forms: the table, columns or a star, the
// search condition and the language.
//
//	CONTAINS ((title, body), @words, LANGUAGE 1033)
//	CONTAINSTABLE (dbo.pages, *, N'"brass owl"', 10)
func (p *parser) fullText(c *Call, table bool) {
	if table {
		name := p.objectName()
		c.Args = append(c.Args, &ColumnRef{Span: name.Span, Parts: name.Parts})
		p.expect(",")
	}
	switch {
	case p.accept("*"):
		c.Star = true
	case p.accept("("):
		if p.accept("*") {
			c.Star = true
		} else {
			c.Args = append(c.Args, p.exprList()...)
		}
		p.expectClose("the list of columns")
	default:
		c.Args = append(c.Args, p.expr())
	}
	p.expect(",")
	c.Args = append(c.Args, p.expr())
	for p.accept(",") {
		p.accept("LANGUAGE")
		c.Args = append(c.Args, p.expr())
	}
}

// afterCall reads WITHIN GROUP (…), IGNORE|RESPECT NULLS and OVER. None of these words but OVER is reserved, hence
// the look
// at the word after; which functions take them is left to package analyze.
func (p *parser) afterCall(c *Call) {
	if p.accept("WITHIN", "GROUP") {
		p.expect("(")
		c.WithinGroup = p.orderBy()
		p.expectClose("WITHIN GROUP (")
	}
	if t := p.peek(); t.isAny("IGNORE", "RESPECT") && p.peekN(1).is("NULLS") {
		p.expect(t.upper, "NULLS")
		c.Nulls = t.upper + " NULLS"
	}
	if p.peek().is("OVER") {
		c.Over = p.over()
	}
}

// over reads OVER (…) or OVER name. The latter needs a WINDOW clause, which SQL Server 2022 has.
func (p *parser) over() *Window {
	start := p.peek().Span
	p.expect("OVER")
	if !p.peek().is("(") {
		name := p.ident()
		return &Window{Span: p.from(start), Name: name.Value}
	}
	return p.window(start)
}

// window reads ([name] [PARTITION BY …] [ORDER BY …] [ROWS|RANGE …]).
func (p *parser) window(start diag.Span) *Window {
	w := &Window{}
	p.expect("(")
	if t := p.peek(); t.isName() && !t.isAny("PARTITION", "ROWS", "RANGE") {
		w.Name = p.ident().Value
	}
	if p.accept("PARTITION") {
		p.expect("BY")
		w.PartitionBy = p.exprList()
	}
	if p.peek().is("ORDER") {
		w.OrderBy = p.orderBy()
	}
	if t := p.peek(); t.isAny("ROWS", "RANGE") {
		w.Frame = p.frame()
		if len(w.OrderBy) == 0 && w.Name == "" {
			p.fail(t.Span, "add ORDER BY before it", "%s in a window needs an ORDER BY", t.upper)
		}
	}
	p.expectClose("OVER (")
	w.Span = p.from(start)
	return w
}

// frame reads ROWS|RANGE bound or ROWS|RANGE BETWEEN bound AND bound and returns it in upper case. No type depends
// on it,
// so a text is enough.
func (p *parser) frame() string {
	words := []string{p.next().upper}
	if p.accept("BETWEEN") {
		words = append(words, "BETWEEN", p.frameBound())
		p.expect("AND")
		words = append(words, "AND")
	}
	return strings.Join(append(words, p.frameBound()), " ")
}

// frameBound reads one end of a frame. T-SQL wants a number there, not an expression.
func (p *parser) frameBound() string {
	t := p.peek()
	switch {
	case p.accept("CURRENT", "ROW"):
		return "CURRENT ROW"
	case t.is("UNBOUNDED"), t.kind == tokenInt:
		p.next()
		side := p.peek()
		if !side.isAny("PRECEDING", "FOLLOWING") {
			p.failExpected("PRECEDING", "FOLLOWING")
		}
		p.next()
		return strings.ToUpper(t.value) + " " + side.upper
	default:
		p.failExpected("UNBOUNDED", "CURRENT ROW", "a number of rows")
		return ""
	}
}
