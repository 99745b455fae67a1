package syntax

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// tableSources reads the comma-separated list after FROM.
func (p *parser) tableSources() []TableSource {
	return commaList(p, p.tableSource)
}

// tableSource reads a table and what is joined to it.
//
//	dbo.orders AS o WITH (UPDLOCK) LEFT JOIN dbo.lines AS l ON l.order_id = o.id
func (p *parser) tableSource() TableSource {
	p.enter()
	defer p.leave()
	return p.joined(p.singleSource())
}

// joined reads the joins that follow a source.
// Joins lean to the left, so a chain is read by a loop.
func (p *parser) joined(x TableSource) TableSource {
	for p.startsJoin() {
		x = p.join(x)
	}
	return x
}

// startsJoin reports whether a join is next. LEFT and RIGHT are also functions, but none can stand here.
func (p *parser) startsJoin() bool {
	t, after := p.peek(), p.peekN(1)
	switch {
	case t.is("CROSS"), t.is("OUTER") && after.is("APPLY"):
		return true
	default:
		return t.isAny("JOIN", "INNER", "LEFT", "RIGHT", "FULL")
	}
}

// join reads one join with its right side and its condition.
// CROSS JOIN and APPLY have no condition and so end with their right side.
func (p *parser) join(x TableSource) TableSource {
	p.enter()
	defer p.leave()
	p.countJoin()
	first := p.peek()
	j := &Join{X: x}
	switch {
	case p.accept("CROSS", "JOIN"):
		j.Kind = "CROSS"
	case p.accept("CROSS", "APPLY"), p.accept("OUTER", "APPLY"):
		j.Kind = first.upper + " APPLY"
	case first.is("CROSS"):
		p.next()
		p.failExpected("JOIN", "APPLY")
	default:
		p.joinKind(j)
		p.joinCondition(j)
		j.Span = p.from(x.Range())
		return j
	}
	j.Y = p.singleSource()
	if t := p.peek(); t.is("ON") && j.Kind == "CROSS" {
		p.fail(t.Span, "write INNER JOIN", "a CROSS JOIN has no ON condition")
	}
	j.Span = p.from(x.Range())
	return j
}

// joinKind reads [INNER | LEFT|RIGHT|FULL [OUTER]] [hint] JOIN.
// A hint needs one of the words before it: LOOP JOIN alone would make LOOP an alias.
func (p *parser) joinKind(j *Join) {
	j.Kind = "INNER"
	t := p.peek()
	if t.isAny("INNER", "LEFT", "RIGHT", "FULL") {
		p.next()
		j.Kind = t.upper
		if j.Kind != "INNER" {
			j.Outer = p.accept("OUTER")
		}
		if hint := p.peek(); hint.isAny("LOOP", "HASH", "MERGE", "REMOTE") {
			p.next()
			j.Hint = hint.upper
		}
	}
	if !p.peek().is("JOIN") {
		p.failExpected("JOIN")
	}
	p.next()
}

// joinCondition reads the right side of a join and ON. Before the ON further joins may stand, each with an ON of its
// own: a JOIN b JOIN c ON … ON ….
func (p *parser) joinCondition(j *Join) {
	j.Y = p.singleSource()
	for p.startsJoin() {
		j.Y = p.join(j.Y)
	}
	t := p.peek()
	switch {
	case t.is("USING"):
		p.fail(t.Span, "write ON a.c = b.c", "T-SQL has no JOIN … USING")
	case !t.is("ON"):
		p.fail(t.Span, "add ON and a condition; a join without one is a CROSS JOIN",
			"%s JOIN needs an ON condition; found %s", article(j.Kind), t.describe())
	}
	p.next()
	j.On = p.condition()
}

// article puts a or an before a word.
func article(word string) string {
	if strings.ContainsRune("AEIO", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}

// singleSource reads one source with the PIVOTs after it.
func (p *parser) singleSource() TableSource {
	return p.pivots(p.plainSource())
}

// pivots reads the PIVOTs and UNPIVOTs that follow a source, each of which is a source again.
// Each counts as a join, since it makes the tree as much deeper.
func (p *parser) pivots(x TableSource) TableSource {
	for p.peek().isAny("PIVOT", "UNPIVOT") {
		p.countJoin()
		x = p.pivot(x)
	}
	return x
}

// plainSource reads a table, a table variable, a function, or something in parentheses.
// The functions that are reserved words are told by their parenthesis; all others are names.
func (p *parser) plainSource() TableSource {
	t := p.peek()
	switch {
	case t.kind == tokenVariable:
		return p.variableTable()
	case t.is("("):
		source, query := p.parenthesized()
		if query != nil {
			return p.derived(query)
		}
		return source
	case t.isAny("OPENROWSET", "OPENQUERY", "OPENDATASOURCE", "OPENXML",
		"CONTAINSTABLE", "FREETEXTTABLE") && p.peekN(1).is("("):
		p.next()
		return p.functionTable(wordName(t))
	case t.is("LATERAL") && p.peekN(1).is("(") && startsQuery(p.peekN(2)):
		p.fail(t.Span, "write CROSS APPLY or OUTER APPLY", "T-SQL has no LATERAL")
	case t.isName():
		return p.namedSource()
	case t.is("::"):
		p.refuseMethod()
	case t.isAny("SELECT", "WITH"):
		p.fail(t.Span, "put it into parentheses, with an alias behind them", "a query in FROM needs parentheses")
	}
	p.fail(t.Span, "", "expected a table, found %s", t.describe())
	return nil
}

// variableTable reads @t [[AS] alias] [WITH (hints)].
func (p *parser) variableTable() TableSource {
	t := p.next()
	if name := p.peekN(1); p.startsMethod() && name.value == "nodes" {
		p.next()
		return p.nodes(&Variable{Span: t.Span, Name: t.value}, p.ident())
	}
	p.refuseMethod()
	v := &VariableTable{Name: t.value}
	v.Alias = p.tableAlias()
	if p.peek().is("WITH") && p.peekN(1).is("(") {
		v.Hints = p.tableHints()
	}
	v.Span = p.from(t.Span)
	return v
}

// tableAlias reads [AS] alias, or returns nil when there is none.
// A word that begins what follows (WHERE, SET, a statement) is none: see isBareAlias.
func (p *parser) tableAlias() *Ident {
	if !p.accept("AS") && !p.isBareAlias(p.peek()) {
		return nil
	}
	alias := p.name("an alias")
	return &alias
}

// namedSource reads a table or a function by name.
// A parenthesis after the name makes it a function, unless hints of the old form stand in it.
func (p *parser) namedSource() TableSource {
	name := p.objectName()
	p.refuseMethod()
	if p.peek().is("(") && !p.oldHints() {
		if last := name.Last(); isMethod(name.Parts) && last.Value == "nodes" {
			return p.nodes(columnOf(name.Parts), last)
		}
		return p.functionTable(name)
	}
	return p.tableRef(name)
}

// tableRef reads what follows a table's name: [FOR SYSTEM_TIME …] [[AS] alias] [TABLESAMPLE (…)] [hints].
func (p *parser) tableRef(name *ObjectName) TableSource {
	r := &TableRef{Name: name}
	if p.peek().is("FOR") && p.peekN(1).is("SYSTEM_TIME") {
		p.temporal(r)
	}
	// The old form of hints, without WITH, stands on either side of the alias.
	if p.oldHints() {
		r.Hints = p.hintList()
	}
	r.Alias = p.tableAlias()
	if p.peek().is("TABLESAMPLE") {
		r.Hints = append(r.Hints, p.tableSample())
	}
	switch {
	case p.peek().is("WITH") && p.peekN(1).is("("):
		r.Hints = append(r.Hints, p.tableHints()...)
	case p.oldHints():
		r.Hints = append(r.Hints, p.hintList()...)
	case p.peek().is("(") && r.Alias != nil:
		p.fail(p.peek().Span, "name the columns in a derived table, (SELECT …) AS t (columns)",
			"a table's alias can't rename its columns")
	}
	if t := p.peek(); len(r.Hints) > 0 && r.Alias == nil && (t.is("AS") || p.isBareAlias(t)) {
		p.fail(t.Span, "", "the alias of a table comes before its hints")
	}
	r.Span = p.from(name.Span)
	return r
}

// temporal reads FOR SYSTEM_TIME.
//
//	FOR SYSTEM_TIME AS OF @then
func (p *parser) temporal(r *TableRef) {
	start := p.peek().Span
	p.expect("FOR", "SYSTEM_TIME")
	switch {
	case p.accept("AS", "OF"):
		r.Form, r.Bounds = "AS OF", []Expr{p.scalar(p.sum())}
	case p.accept("FROM"):
		r.Form, r.Bounds = "FROM", []Expr{p.scalar(p.sum())}
		p.expect("TO")
		r.Bounds = append(r.Bounds, p.scalar(p.sum()))
	case p.accept("BETWEEN"):
		r.Form, r.Bounds = "BETWEEN", []Expr{p.scalar(p.sum())}
		p.expect("AND")
		r.Bounds = append(r.Bounds, p.scalar(p.sum()))
	case p.accept("CONTAINED", "IN"):
		p.expect("(")
		r.Form, r.Bounds = "CONTAINED IN", []Expr{p.expr()}
		p.expect(",")
		r.Bounds = append(r.Bounds, p.expr())
		p.expect(")")
	case p.accept("ALL"):
		r.Form = "ALL"
	default:
		p.failExpected("AS OF", "FROM", "BETWEEN", "CONTAINED IN", "ALL")
	}
	r.Temporal, r.Versions = p.file.Slice(p.from(start)), r.Form != "AS OF"
}

// functionTable reads the call of a table-valued function and what follows it. The name has been read.
//
//	OPENJSON(@lines) WITH (id int '$.id') AS l
//	STRING_SPLIT(@ids, ',') AS s
//	dbo.orders_of(@customer) AS o
func (p *parser) functionTable(name *ObjectName) TableSource {
	// Only names without a schema are those of built-in functions.
	kind := ""
	if len(name.Parts) == 1 {
		kind = strings.ToUpper(name.Parts[0].Value)
	}
	if t := p.peekN(1); kind == "OPENROWSET" && t.is("BULK") {
		p.fail(t.Span, "load the file with BULK INSERT into a table", "OPENROWSET (BULK …) isn't supported")
	}
	f := &FunctionTable{Call: p.call(name)}
	if t := p.peek(); t.is("WITH") && p.peekN(1).is("(") {
		if kind != "OPENJSON" && kind != "OPENXML" {
			p.fail(t.Span, "", "only OPENJSON and OPENXML have WITH and columns; hints stand after tables")
		}
		f.With = p.jsonColumns()
	}
	p.refuseMethod()
	f.Alias = p.tableAlias()
	if f.Alias != nil && p.peek().is("(") {
		f.Columns = p.identList()
	}
	f.Span = p.from(name.Span)
	return f
}

// jsonColumns reads WITH (name type ['path'] [AS JSON], …).
//
//	WITH (id bigint '$.id', name nvarchar(50), tags nvarchar(max) '$.tags' AS JSON)
func (p *parser) jsonColumns() []JSONColumn {
	p.expect("WITH", "(")
	var list []JSONColumn
	for {
		c := JSONColumn{Name: p.name("the name of a column")}
		c.Type = p.typeName()
		if t := p.peek(); t.kind == tokenString || t.kind == tokenNString {
			p.next()
			c.Path = &Literal{Span: t.Span, Kind: literalKinds[t.kind], Value: t.value}
		}
		c.AsJSON = p.accept("AS", "JSON")
		c.Span = p.from(c.Name.Span)
		list = append(list, c)
		if !p.accept(",") {
			break
		}
	}
	p.expectClose("WITH (")
	return list
}

// parenthesized reads a source that begins with a parenthesis. What it is shows only inside: a query, whose alias the
// caller reads, a VALUES table, or joins.
func (p *parser) parenthesized() (TableSource, *ParenQuery) {
	p.enter()
	defer p.leave()
	start := p.peek().Span
	p.expect("(")
	t := p.peek()
	switch {
	case t.is("VALUES"):
		return p.valuesTable(start), nil
	case startsQuery(t):
		q := p.embedded()
		p.expectClose("the derived table")
		return nil, &ParenQuery{Span: p.from(start), Query: q}
	case t.isAny("INSERT", "UPDATE", "DELETE", "MERGE"):
		p.fail(t.Span, "write OUTPUT … INTO a table variable and read that", "%s as a source of rows isn't supported", t.upper)
	}
	var x TableSource
	if t.is("(") {
		// The inner parentheses hold a query: an operand if a set operation or the end follows, else a derived table.
		var query *ParenQuery
		if x, query = p.parenthesized(); query != nil {
			if next := p.peek(); isSetOperator(next) || next.isAny(")", "ORDER") {
				q := p.queryFrom(t.Span, nil, query)
				p.checkEmbedded(q, "a subquery")
				p.expectClose("the derived table")
				return nil, &ParenQuery{Span: p.from(start), Query: q}
			}
			x = p.derived(query)
		}
		x = p.joined(p.pivots(x))
	} else {
		x = p.tableSource()
	}
	p.expectClose("the join")
	return &ParenSource{Span: p.from(start), X: x}, nil
}

// derived reads AS alias [(columns)] after a query.
// Columns rename those of the query from the left, all of them or none.
func (p *parser) derived(query *ParenQuery) TableSource {
	d := &DerivedTable{Query: query.Query}
	d.Alias, d.Columns = p.requiredAlias("a derived table")
	d.Span = p.from(query.Span)
	return d
}

// valuesTable reads VALUES (…), …) AS alias (columns); start is the parenthesis before it.
func (p *parser) valuesTable(start diag.Span) TableSource {
	p.expect("VALUES")
	v := &ValuesTable{Rows: p.valueRows()}
	p.expectClose("(VALUES")
	// Rows of a table have no columns with defaults behind them.
	for _, row := range v.Rows {
		for _, x := range row {
			if l, ok := x.(*Literal); ok && l.Kind == DefaultLiteral {
				p.fail(l.Span, "", "DEFAULT can stand only in the VALUES of an INSERT")
			}
		}
	}
	v.Alias, v.Columns = p.requiredAlias("a VALUES table")
	if len(v.Columns) != len(v.Rows[0]) {
		p.fail(v.Alias.Span, "name the columns in parentheses after the alias",
			"a VALUES table of %d columns needs as many names, found %d", len(v.Rows[0]), len(v.Columns))
	}
	v.Span = p.from(start)
	return v
}

// requiredAlias reads [AS] alias [(columns)].
// what says of what, for the message.
func (p *parser) requiredAlias(what string) (*Ident, []Ident) {
	alias := p.tableAlias()
	if alias == nil {
		t := p.peek()
		p.fail(t.Span, "add AS and a name", "%s needs an alias; found %s", what, t.describe())
	}
	if p.peek().is("(") {
		return alias, p.identList()
	}
	return alias, nil
}

// pivot reads PIVOT (aggregate FOR column IN (…)) AS alias and UNPIVOT (value FOR name IN (…)) AS alias.
func (p *parser) pivot(x TableSource) TableSource {
	word := p.next()
	v := &Pivot{X: x, Unpivot: word.is("UNPIVOT")}
	p.expect("(")
	if v.Unpivot {
		value := p.name("the name of the value column")
		v.Value = &value
	} else {
		v.Aggregate = p.call(p.objectName())
	}
	p.expect("FOR")
	column := p.objectName()
	v.For = ColumnRef{Span: column.Span, Parts: column.Parts}
	p.expect("IN")
	v.In = p.identList()
	p.expectClose(word.upper + " (")
	alias := p.tableAlias()
	if alias == nil {
		t := p.peek()
		p.fail(t.Span, "add AS and a name", "%s needs an alias; found %s", word.upper, t.describe())
	}
	v.Alias = alias
	v.Span = p.from(x.Range())
	return v
}
