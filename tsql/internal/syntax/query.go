package syntax

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// maxJoins bounds the joins and set operations of one query, which like operators make trees as deep as they are long.
const maxJoins = 2_000

// startsQuery reports whether a query begins with the token. A query in parentheses is told from an expression in
// parentheses only by what is in them.
func startsQuery(t token) bool { return t.isAny("SELECT", "WITH") }

// isSetOperator reports whether the token joins two queries.
func isSetOperator(t token) bool { return t.isAny("UNION", "EXCEPT", "INTERSECT") }

// query reads a whole query with its common table expressions.
//
//	[WITH cte AS (…)] body [ORDER BY …] [OFFSET …] [FOR JSON …] [OPTION (…)]
func (p *parser) query() *Query {
	start := p.peek().Span
	var with []*CTE
	if p.accept("WITH") {
		with = p.ctes()
	}
	return p.queryAfterWith(start, with)
}

// queryAfterWith reads a query whose common table expressions were read already; start is where they began.
func (p *parser) queryAfterWith(start diag.Span, with []*CTE) *Query {
	return p.queryFrom(start, with, nil)
}

// queryFrom reads a query, or the rest of one whose first operand was read already as a value in parentheses.
// The latter is how a query that begins with a parenthesis is read, without going back: (SELECT …) UNION (SELECT …)
// looks
// like a value until the UNION.
func (p *parser) queryFrom(start diag.Span, with []*CTE, first QueryBody) *Query {
	p.enter()
	defer p.leave()
	if p.queries == 0 {
		p.joins = 0
	}
	p.queries++
	defer func() { p.queries-- }()

	// ORDER BY and what follows belong to the whole, not to the last operand of a set operation.
	q := &Query{With: with}
	q.Body = p.setOperations(first)
	if p.peek().is("ORDER") {
		q.OrderBy = p.orderBy()
	}
	p.offsetFetch(q)
	if p.peek().is("FOR") && p.peekN(1).isAny("JSON", "XML", "BROWSE") {
		q.For = p.forClause()
	}
	if p.peek().is("OPTION") {
		q.Options = p.queryOptions()
	}
	p.refuseMisplaced()
	q.Span = p.from(start)
	return q
}

// clauses is the order of the clauses of a query.
var clauses = []string{"INTO", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "OPTION"}

// refuseMisplaced reports a clause that stands after one that it must precede.
// Left alone, the word would be reported as the beginning of an unknown statement.
func (p *parser) refuseMisplaced() {
	t := p.peek()
	if isSetOperator(t) {
		p.fail(t.Span, "move ORDER BY, FOR and OPTION behind the last SELECT, or put this SELECT into a derived table",
			"%s can't stand here", t.upper)
	}
	if t.kind == tokenWord && slices.Contains(clauses, t.upper) {
		p.fail(t.Span, "the order is SELECT, INTO, FROM, WHERE, GROUP BY, HAVING, ORDER BY, OFFSET, FETCH, FOR, OPTION",
			"%s can't stand here", t.upper)
	}
}

// subquery reads a query in parentheses that is part of something else.
func (p *parser) subquery() *Query {
	p.expect("(")
	if t := p.peek(); !startsQuery(t) && !t.is("(") {
		p.fail(t.Span, "", "expected a query, found %s", t.describe())
	}
	q := p.embedded()
	p.expectClose("the query")
	return q
}

// embedded reads a query within another statement, up to its closing parenthesis.
func (p *parser) embedded() *Query {
	if t := p.peek(); t.is("WITH") {
		p.fail(t.Span, "move it to the beginning of the statement",
			"common table expressions can't be defined within a subquery")
	}
	q := p.query()
	p.checkEmbedded(q, "a subquery")
	return q
}

// checkEmbedded refuses what only the query of a statement may have.
// A server refuses the same. what names the surroundings, for the message.
func (p *parser) checkEmbedded(q *Query, what string) {
	if len(q.OrderBy) > 0 && q.Offset == nil && q.For == nil && !HasTop(q.Body) {
		p.fail(q.OrderBy[0].Span, "remove it, or say with TOP or OFFSET which rows are wanted",
			"ORDER BY in %s orders nothing", what)
	}
	if len(q.Options) > 0 {
		p.fail(q.Options[0].Span, "move it to the end of the statement", "OPTION can't stand in %s", what)
	}
}

// ctes reads name [(columns)] AS (query), … after WITH.
// A CTE may name itself after a UNION ALL; that this is recursion is no concern of the grammar.
func (p *parser) ctes() []*CTE {
	if t := p.peek(); t.is("XMLNAMESPACES") {
		p.fail(t.Span, "", "XML isn't supported")
	}
	var list []*CTE
	for {
		start := p.peek().Span
		c := &CTE{Name: p.name("the name of a common table expression")}
		if p.peek().is("(") {
			c.Columns = p.identList()
		}
		p.expect("AS")
		c.Query = p.subquery()
		c.Span = p.from(start)
		list = append(list, c)
		if !p.accept(",") {
			return list
		}
	}
}

// setOperations reads operands joined by UNION and EXCEPT, which are taken from the left.
// first is an operand that was read already, or nil.
func (p *parser) setOperations(first QueryBody) QueryBody {
	x := p.intersections(first)
	for p.peek().isAny("UNION", "EXCEPT") {
		x = p.setOperation(x, func() QueryBody { return p.intersections(nil) })
	}
	return x
}

// intersections reads operands joined by INTERSECT, which binds more tightly.
func (p *parser) intersections(first QueryBody) QueryBody {
	x := first
	if x == nil {
		x = p.operand()
	}
	for p.peek().is("INTERSECT") {
		x = p.setOperation(x, p.operand)
	}
	return x
}

// setOperation reads an operator and its right side.
func (p *parser) setOperation(x QueryBody, right func() QueryBody) QueryBody {
	p.countJoin()
	op := p.next().upper
	all := p.peek()
	if all.is("ALL") {
		if op != "UNION" {
			p.fail(all.Span, "remove ALL", "T-SQL has no %s ALL", op)
		}
		p.next()
	}
	y := right()
	return &SetOperation{Span: p.from(x.Range()), Op: op, All: all.is("ALL"), X: x, Y: y}
}

// countJoin counts one link of a chain of joins or set operations.
func (p *parser) countJoin() {
	if p.joins++; p.joins > maxJoins {
		p.fail(p.peek().Span, "split the query", "a query has more than %d joins and set operations", maxJoins)
	}
}

// operand reads a SELECT or a query in parentheses.
func (p *parser) operand() QueryBody {
	t := p.peek()
	switch {
	case t.is("SELECT"):
		return p.selectBody()
	case t.is("("):
		p.next()
		q := p.embedded()
		p.expectClose("the query")
		return &ParenQuery{Span: p.from(t.Span), Query: q}
	case t.is("VALUES"):
		p.fail(t.Span, "write SELECT … FROM (VALUES …) AS t (columns)", "expected SELECT, found VALUES")
	default:
		p.fail(t.Span, "", "expected SELECT, found %s", t.describe())
	}
	return nil
}

// selectBody reads one SELECT up to what belongs to the whole query.
//
//	SELECT [DISTINCT] [TOP …] items [INTO t] [FROM …] [WHERE …] [GROUP BY …] [HAVING …] [WINDOW …]
func (p *parser) selectBody() *Select {
	start := p.peek().Span
	p.expect("SELECT")
	s := &Select{}
	if p.accept("DISTINCT") {
		s.Distinct = true
	} else {
		p.accept("ALL")
	}
	s.Top = p.top()
	if t := p.peek(); t.isAny("DISTINCT", "ALL") && s.Top != nil {
		p.fail(t.Span, "write SELECT "+t.upper+" TOP …", "%s comes before TOP", t.upper)
	}
	s.Items = p.selectItems()
	if p.accept("INTO") {
		s.Into = p.objectName()
		if p.accept("ON") {
			p.ident() // the filegroup; where a table is stored changes nothing here
		}
	}
	if p.accept("FROM") {
		s.From = p.tableSources()
	}
	if p.accept("WHERE") {
		s.Where = p.condition()
	}
	if p.peek().is("GROUP") {
		s.GroupBy = p.groupBy()
	}
	if p.accept("HAVING") {
		s.Having = p.condition()
	}
	if p.peek().is("WINDOW") && p.peekN(1).isName() && p.peekN(2).is("AS") {
		s.Windows = p.windows()
	}
	s.Span = p.from(start)
	return s
}

// top reads TOP (n) [PERCENT] [WITH TIES], or returns nil when there is none.
// Without parentheses TOP takes a number only: in TOP @n * the star would be a multiplication.
func (p *parser) top() *Top {
	start := p.peek().Span
	if !p.accept("TOP") {
		return nil
	}
	top := &Top{}
	switch t := p.peek(); {
	case t.is("("):
		p.next()
		top.N = p.expr()
		p.expectClose("TOP (")
	case t.kind == tokenInt, t.kind == tokenDecimal, t.kind == tokenFloat:
		top.N = p.primary()
	default:
		p.fail(t.Span, "write TOP (…); only a number may stand without parentheses",
			"expected a number of rows in parentheses, found %s", t.describe())
	}
	top.Percent = p.accept("PERCENT")
	top.WithTies = p.accept("WITH", "TIES")
	top.Span = p.from(start)
	return top
}

// selectItems reads a select list.
func (p *parser) selectItems() []SelectItem {
	return commaList(p, p.selectItem)
}

// selectItem reads one element of a select list: @v = x, a = x, *, t.*, or x [[AS] a].
// In SELECT a = b the name is a, an old form that T-SQL keeps. A list is all assignments or none; package analyze
// checks
// that, since it is no matter of grammar.
func (p *parser) selectItem() SelectItem {
	t := p.peek()
	item := SelectItem{}
	switch {
	case t.kind == tokenVariable && isAssignment(p.peekN(1)):
		p.next()
		item.Variable = &Variable{Span: t.Span, Name: t.value}
		item.AssignOp = p.next().value
		item.X = p.expr()
	// a = x names a column; a comparison can't stand in a select list.
	case p.peekN(1).is("=") && isAlias(t):
		alias := p.next().asIdent()
		alias.Quoted = t.kind != tokenWord
		item.Alias = &alias
		p.expect("=")
		item.X = p.expr()
	default:
		if star := p.star(); star != nil {
			item.X = star
			break
		}
		item.X = p.expr()
		item.Alias = p.columnAlias()
	}
	item.Span = p.from(t.Span)
	return item
}

// isAlias reports whether a token can name a column of a select list.
func isAlias(t token) bool {
	return t.isName() || t.kind == tokenString || t.kind == tokenNString
}

// isAssignment reports whether the token is = or a compound assignment operator.
func isAssignment(t token) bool {
	if t.kind != tokenPunct {
		return false
	}
	switch t.value {
	case "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "||=":
		return true
	default:
		return false
	}
}

// star reads * or t.*, or returns nil when that isn't next.
// It looks ahead over the qualifier, because t.c and t.* begin alike.
func (p *parser) star() *Star {
	start := p.peek().Span
	n := 0
	for p.peekN(n).isName() && p.peekN(n+1).is(".") {
		n += 2
	}
	if !p.peekN(n).is("*") {
		return nil
	}
	s := &Star{}
	for range n / 2 {
		s.Qualifier = append(s.Qualifier, p.ident())
		p.expect(".")
	}
	p.expect("*")
	s.Span = p.from(start)
	return s
}

// columnAlias reads [AS] alias of a select item, or returns nil when there is none.
// A string is an alias too, without AS as well: SELECT a 'total'.
func (p *parser) columnAlias() *Ident {
	t := p.peek()
	switch {
	case p.accept("AS"):
		t = p.peek()
		if !isAlias(t) {
			p.ident() // fails
		}
	case t.kind == tokenString, t.kind == tokenNString:
	case !p.isBareAlias(t):
		return nil
	}
	alias := p.next().asIdent()
	alias.Quoted = t.kind != tokenWord
	return &alias
}

// isBareAlias reports whether the next token, t, is an alias though no AS stands before it. Words that aren't reserved
// but begin something else are not taken for one: where a server would, the text says something other than it means.
func (p *parser) isBareAlias(t token) bool {
	if !t.isName() || isStatementStart(t) {
		return false
	}
	if t.kind == tokenQuoted {
		return true
	}
	// label: on the line after a query.
	after := p.peekN(1)
	if after.is(":") {
		return false
	}
	p.refuseDialect(t, after)
	switch t.upper {
	case "OUTPUT", "USING":
		return false
	// OFFSET without ORDER BY is reported where it stands; as an alias it would hide the mistake.
	case "OFFSET":
		return after.isAny(",", ")", "FROM", "WHERE", "ON", ";") || after.kind == tokenEOF
	// WINDOW w AS (…) begins a clause.
	case "WINDOW":
		return !after.isName()
	case "ENABLE", "DISABLE":
		return !after.is("TRIGGER")
	}
	return true
}

// refuseDialect reports words that begin a clause in other dialects of SQL, where T-SQL would take them for an alias.
// Such a query would run and return all rows, which is worse than an error.
func (p *parser) refuseDialect(t, after token) {
	switch t.upper {
	case "LIMIT":
		if after.kind == tokenInt || after.kind == tokenVariable {
			p.fail(t.Span, "write SELECT TOP (n), or ORDER BY … OFFSET 0 ROWS FETCH NEXT n ROWS ONLY", "T-SQL has no LIMIT")
		}
	case "NATURAL":
		if after.isAny("JOIN", "INNER", "LEFT") {
			p.fail(t.Span, "write the condition with ON", "T-SQL has no NATURAL JOIN")
		}
	case "LOOP", "HASH", "REMOTE":
		if after.is("JOIN") {
			p.fail(t.Span, "write INNER "+t.upper+" JOIN", "a join hint needs INNER, LEFT, RIGHT or FULL before it")
		}
	}
}

// groupBy reads GROUP BY in all its forms.
func (p *parser) groupBy() *GroupBy {
	start := p.peek().Span
	p.expect("GROUP", "BY")
	g := &GroupBy{}
	// GROUP BY ALL, an old form, keeps groups that WHERE has emptied, and of these, aggregates are NULL.
	if p.accept("ALL") {
		g.Extended = true
	}
	p.grouping(g)
	for p.accept(",") {
		p.grouping(g)
	}
	if p.peek().is("WITH") && p.peekN(1).isAny("ROLLUP", "CUBE") {
		p.next()
		p.next()
		g.Extended = true
	}
	g.Span = p.from(start)
	return g
}

// grouping reads one element: an expression, ROLLUP (…), CUBE (…) or GROUPING SETS (…), whose expressions are put into
// one list.
// Which sets they make doesn't matter: only that a grouped column may be NULL in the result.
func (p *parser) grouping(g *GroupBy) {
	switch {
	case p.peek().isAny("ROLLUP", "CUBE") && p.peekN(1).is("("):
		p.next()
	case p.accept("GROUPING", "SETS"):
	case p.peek().is("(") && p.peekN(1).is(")"): // one group of all rows
	default:
		g.Items = append(g.Items, p.expr())
		return
	}
	g.Extended = true
	p.groupingSet(g)
}

// groupingSet reads (a, (b, c), ROLLUP (d), ()).
func (p *parser) groupingSet(g *GroupBy) {
	p.enter()
	defer p.leave()
	p.expect("(")
	if p.accept(")") {
		return
	}
	for {
		if p.peek().is("(") {
			p.groupingSet(g)
		} else {
			p.grouping(g)
		}
		if !p.accept(",") {
			break
		}
	}
	p.expectClose("the grouping set")
}

// windows reads WINDOW name AS (…), ….
// It is of SQL Server 2022. WINDOW isn't reserved, so selectBody looks two words ahead.
func (p *parser) windows() []NamedWindow {
	p.expect("WINDOW")
	var list []NamedWindow
	for {
		w := NamedWindow{Name: p.ident()}
		p.expect("AS")
		w.Window = p.window(p.peek().Span)
		w.Span = p.from(w.Name.Span)
		list = append(list, w)
		if !p.accept(",") {
			return list
		}
	}
}

// orderBy reads ORDER BY and its keys.
// A key may be a number, the place of a column: to the grammar that is an expression like others.
func (p *parser) orderBy() []OrderItem {
	p.expect("ORDER", "BY")
	var list []OrderItem
	for {
		o := OrderItem{X: p.expr()}
		if p.accept("DESC") {
			o.Desc = true
		} else {
			p.accept("ASC")
		}
		if t := p.peek(); t.is("NULLS") {
			p.fail(t.Span, "order by CASE WHEN x IS NULL THEN 0 ELSE 1 END before it", "T-SQL has no NULLS FIRST or LAST")
		}
		o.Span = p.from(o.X.Range())
		list = append(list, o)
		if !p.accept(",") {
			return list
		}
	}
}

// offsetFetch reads OFFSET n ROWS [FETCH NEXT n ROWS ONLY].
// It takes an ORDER BY, of which it is a part in the documentation.
func (p *parser) offsetFetch(q *Query) {
	t := p.peek()
	switch {
	case t.is("OFFSET") && len(q.OrderBy) == 0:
		p.fail(t.Span, "add ORDER BY, so that it is known which rows are skipped", "OFFSET needs an ORDER BY")
	case t.is("FETCH") && p.peekN(1).isAny("NEXT", "FIRST") && len(q.OrderBy) > 0 && !p.peekN(2).is("FROM"):
		p.fail(t.Span, "write OFFSET 0 ROWS before it", "FETCH needs an OFFSET")
	case !t.is("OFFSET"):
		return
	}
	p.next()
	q.Offset = p.expr()
	p.rows()
	// FETCH NEXT FROM is a statement about a cursor.
	if !p.peek().is("FETCH") || !p.peekN(1).isAny("NEXT", "FIRST") || p.peekN(2).is("FROM") {
		return
	}
	p.next()
	p.next()
	q.Fetch = p.expr()
	p.rows()
	p.expect("ONLY")
}

// rows reads ROW or ROWS, which mean the same.
func (p *parser) rows() {
	if !p.peek().isAny("ROW", "ROWS") {
		p.failExpected("ROWS")
	}
	p.next()
}

// valueRows reads (a, b), (c, d), … after VALUES.
// DEFAULT is refused later where the rows are those of a table in FROM.
func (p *parser) valueRows() [][]Expr {
	var rows [][]Expr
	for {
		start := p.peek().Span
		p.expect("(")
		row := commaList(p, p.exprOrDefault)
		p.expectClose("a row of VALUES")
		if len(rows) > 0 && len(row) != len(rows[0]) {
			p.fail(p.from(start), "", "the rows of VALUES differ in length: %d in the first, %d in row %d",
				len(rows[0]), len(row), len(rows)+1)
		}
		rows = append(rows, row)
		if !p.accept(",") {
			return rows
		}
	}
}
