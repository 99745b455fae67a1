package syntax

import "strings"

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
