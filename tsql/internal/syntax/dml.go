package syntax

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// dataStatement reads a statement that reads or changes rows, or returns nil if none begins with t, the next token.
// A WITH begins common table expressions, which stand before the statement that they belong to.
func (p *parser) dataStatement(t token) Stmt {
	switch {
	case t.is("SELECT"):
		q := p.query()
		return &SelectStmt{Span: q.Span, Query: q}
	case t.is("WITH"):
		p.next()
		with := p.ctes()
		return p.change(t.Span, with)
	case t.is("UPDATE") && p.peekN(1).is("STATISTICS"):
		return p.other(2)
	case t.isAny("INSERT", "UPDATE", "DELETE", "MERGE"):
		return p.change(t.Span, nil)
	case t.is("TRUNCATE"):
		p.next()
		p.expect("TABLE")
		table := p.objectName()
		if w := p.peek(); w.is("WITH") {
			p.fail(w.Span, "", "TRUNCATE of partitions isn't supported")
		}
		return &Truncate{Span: p.from(t.Span), Table: table}
	default:
		return nil
	}
}

// change reads the statement that common table expressions, if there are any, belong to.
func (p *parser) change(start diag.Span, with []*CTE) Stmt {
	switch t := p.peek(); {
	case t.is("INSERT"):
		return p.insert(start, with)
	case t.is("UPDATE"):
		return p.update(start, with)
	case t.is("DELETE"):
		return p.deleteStmt(start, with)
	case t.is("MERGE"):
		return p.merge(start, with)
	case t.isAny("SELECT", "("):
		q := p.queryAfterWith(start, with)
		return &SelectStmt{Span: q.Span, Query: q}
	default:
		p.failExpected("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE")
		return nil
	}
}

// insert reads INSERT [TOP] [INTO] target [(columns)] [OUTPUT …] source.
//
//	INSERT INTO dbo.orders (id, total) OUTPUT inserted.id VALUES (@id, @total), (@id + 1, 0)
//	INSERT @t EXEC dbo.list_orders
func (p *parser) insert(start diag.Span, with []*CTE) Stmt {
	p.next()
	s := &Insert{With: with, Top: p.top()}
	p.accept("INTO")
	s.Target = p.target()
	s.Columns = p.insertColumns(p.qualifiedColumn)
	s.Output = p.output()
	switch t := p.peek(); { // exactly one source
	case t.is("VALUES"):
		p.next()
		s.Rows = p.valueRows()
		p.checkRows(s)
	case t.is("DEFAULT"):
		p.next()
		p.expect("VALUES")
		s.Default = true
	case t.isAny("EXEC", "EXECUTE"):
		s.Exec = p.exec()
	case t.isAny("SELECT", "("):
		s.Query = p.query()
	case t.is("WITH"):
		p.fail(t.Span, "write WITH … before INSERT", "expected VALUES or SELECT, found WITH")
	default:
		p.failExpected("VALUES", "SELECT", "EXEC", "DEFAULT VALUES")
	}
	s.Options = p.hints()
	s.Span = p.from(start)
	return s
}

// checkRows compares the number of values with that of the columns. All rows have as many as the first.
// Without a list, the columns are those of the table, which only package analyze knows.
func (p *parser) checkRows(s *Insert) {
	if n := len(s.Columns); n > 0 && len(s.Rows) > 0 && len(s.Rows[0]) != n {
		row := s.Rows[0]
		at := row[0].Range().Until(row[len(row)-1].Range())
		p.report(at, "", "expected as many values as there are columns, %d, found %d", n, len(row))
	}
}

// hints reads OPTION (…) at the end of a statement, if it is there.
func (p *parser) hints() []Option {
	if p.peek().is("OPTION") {
		return p.queryOptions()
	}
	return nil
}

// target reads the table that is changed: a name with hints, or a table variable.
// The target of UPDATE and DELETE may be an alias or a CTE; that it is one, and of what, FROM tells later.
func (p *parser) target() TableSource {
	t := p.peek()
	if t.kind == tokenVariable {
		p.next()
		return &VariableTable{Span: t.Span, Name: t.value}
	}
	if t.isAny("OPENQUERY", "OPENROWSET", "OPENDATASOURCE") {
		p.fail(t.Span, "", "changing rows through %s isn't supported", t.upper)
	}
	r := &TableRef{Name: p.qualifiedName("the name of a table", 4)}
	if p.peek().is("WITH") && p.peekN(1).is("(") {
		r.Hints = p.tableHints()
	}
	r.Span = p.from(t.Span)
	return r
}

// insertColumns reads (a, b, …) unless the parenthesis begins a query.
// INSERT t (SELECT …) and INSERT t ((SELECT …) UNION …) have none.
func (p *parser) insertColumns(column func() Ident) []Ident {
	if !p.peek().is("(") || startsQuery(p.peekN(1)) || p.peekN(1).is("(") {
		return nil
	}
	p.next()
	columns := commaList(p, column)
	p.expectClose("the list of columns")
	return columns
}

// qualifiedColumn reads a column in the list of INSERT, of which the last part is the name: the server passes over what
// stands in front of it, whatever that is.
func (p *parser) qualifiedColumn() Ident {
	parts := p.qualifiedName("the name of a column", 4).Parts
	return parts[len(parts)-1]
}

// plainColumn reads a column where no qualifier may stand: in the INSERT of a MERGE (error 10739) and behind OUTPUT
// INTO.
func (p *parser) plainColumn() Ident {
	column := p.name("the name of a column")
	if t := p.peek(); t.is(".") {
		p.fail(t.Span, "leave the qualifier out", "the columns of this list are plain names")
	}
	return column
}

// output reads OUTPUT items [INTO target [(columns)]] and a second OUTPUT after one with INTO. Without any it
// returns nil.
//
//	OUTPUT deleted.id INTO @gone (id) OUTPUT inserted.*
//
// The first stores the rows and the second sends them, so that only the last without INTO is a result set.
func (p *parser) output() *Output {
	start := p.peek().Span
	if !p.accept("OUTPUT") {
		return nil
	}
	o := &Output{Items: p.selectItems()}
	if p.accept("INTO") {
		o.Into = p.target()
		o.IntoColumns = p.insertColumns(p.plainColumn)
		if t := p.peek(); t.is("OUTPUT") {
			if o.Then = p.output(); o.Then.Into != nil {
				p.fail(t.Span, "", "of two OUTPUT clauses only the first can have INTO")
			}
		}
	}
	o.Span = p.from(start)
	return o
}

// update reads UPDATE [TOP] target SET … [OUTPUT …] [FROM …] [WHERE …].
//
//	UPDATE TOP (1) q SET taken = 1 OUTPUT inserted.id FROM dbo.queue AS q WITH (READPAST) WHERE q.taken = 0
func (p *parser) update(start diag.Span, with []*CTE) Stmt {
	p.next()
	s := &Update{With: with, Top: p.top(), Target: p.target()}
	p.refuseAlias("UPDATE")
	p.expect("SET")
	s.Set = p.assignments()
	s.Output = p.output()
	if p.accept("FROM") {
		s.From = p.tableSources()
	}
	s.Where, s.Cursor = p.where()
	s.Options = p.hints()
	p.refuseMisplacedClause()
	s.Span = p.from(start)
	return s
}

// refuseAlias reports an alias of a target, which is declared in FROM instead.
// UPDATE dbo.orders AS o SET … is what other dialects write, and what is missed most often here.
func (p *parser) refuseAlias(verb string) {
	if t := p.peek(); t.is("AS") || t.isName() && !t.is("OUTPUT") && !p.endsStatement() {
		p.fail(t.Span, "name the table with its alias in FROM, and the alias here", "the target of %s has no alias", verb)
	}
}

// refuseMisplacedClause reports a clause of UPDATE or DELETE that stands after one that it must precede.
func (p *parser) refuseMisplacedClause() {
	if t := p.peek(); t.isAny("OUTPUT", "FROM", "WHERE", "ORDER", "GROUP") {
		p.fail(t.Span, "the order is SET, OUTPUT, FROM, WHERE, OPTION", "%s can't stand here", t.upper)
	}
}

// where reads WHERE condition or WHERE CURRENT OF cursor.
// The cursor stands on the one row that is changed.
func (p *parser) where() (cond Expr, cursor *CursorName) {
	if !p.accept("WHERE") {
		return nil, nil
	}
	if p.accept("CURRENT", "OF") {
		name := p.cursorName()
		return nil, &name
	}
	return p.condition(), nil
}

// assignments reads the elements of SET.
// All of them see the row as it was: SET a = b, b = a swaps.
func (p *parser) assignments() []Assignment {
	return commaList(p, p.assignment)
}

// assignment reads column = x, @v = x, @v = column = x or column.modify(x).
func (p *parser) assignment() Assignment {
	start := p.peek().Span
	var a Assignment
	if p.peek().kind == tokenVariable {
		a.Variable = p.variable()
		a.Op = p.assignOp()
		// After "@v = c" a second operator makes c a column that is set, and without one it is a value.
		if a.Op == "=" && p.assignedColumnNext() {
			a.Column = p.assignedColumn()
			a.Op = p.assignOp()
		}
	} else {
		a.Column = p.assignedColumn()
		if parts := a.Column.Parts; len(parts) > 1 && parts[len(parts)-1].Value == modify && p.peek().is("(") {
			a.Column = columnOf(parts)
			a.Op, a.X = "=", p.modified(a.Column, parts[len(parts)-1])
			a.Span = p.from(start)
			return a
		}
		a.Op = p.assignOp()
	}
	a.X = p.exprOrDefault()
	a.Span = p.from(start)
	return a
}

// assignOp reads = or a compound assignment operator.
func (p *parser) assignOp() string {
	if !isAssignment(p.peek()) {
		p.failExpected("=")
	}
	return p.next().value
}

// assignedColumnNext reports whether a name and an assignment operator are next, as after "@v =".
func (p *parser) assignedColumnNext() bool {
	n := 0
	for p.peekN(n).isName() && p.peekN(n+1).is(".") {
		n += 2
	}
	return p.peekN(n).isName() && isAssignment(p.peekN(n+1))
}

// assignedColumn reads the column that is set.
// It may be qualified by the target's alias; package analyze checks that it is.
func (p *parser) assignedColumn() *ColumnRef {
	name := p.qualifiedName("the name of a column", 4)
	last := name.Last()
	if t := p.peek(); t.is("(") && !last.Quoted && strings.EqualFold(last.Value, "WRITE") {
		p.fail(last.Span, "write column = STUFF(column, …)", "the .WRITE clause isn't supported")
	}
	return &ColumnRef{Span: name.Span, Parts: name.Parts}
}

// deleteStmt reads DELETE [TOP] [FROM] target [OUTPUT …] [FROM …] [WHERE …].
// The first FROM is noise; the second one joins:
//
//	DELETE FROM o FROM dbo.orders AS o JOIN dbo.gone AS g ON g.id = o.id
func (p *parser) deleteStmt(start diag.Span, with []*CTE) Stmt {
	p.next()
	s := &Delete{With: with, Top: p.top()}
	p.accept("FROM")
	s.Target = p.target()
	p.refuseAlias("DELETE")
	s.Output = p.output()
	if p.accept("FROM") {
		s.From = p.tableSources()
	}
	s.Where, s.Cursor = p.where()
	s.Options = p.hints()
	p.refuseMisplacedClause()
	s.Span = p.from(start)
	return s
}

// merge reads MERGE [TOP] [INTO] target [AS alias] USING source ON condition WHEN … [OUTPUT …].
//
//	MERGE dbo.stock WITH (HOLDLOCK) AS s USING @lines AS l ON s.item = l.item
//	WHEN MATCHED THEN UPDATE SET amount -= l.amount
//	WHEN NOT MATCHED THEN INSERT (item, amount) VALUES (l.item, 0);
func (p *parser) merge(start diag.Span, with []*CTE) Stmt {
	p.next()
	s := &Merge{With: with, Top: p.top()}
	p.accept("INTO")
	s.Target = p.target()
	p.targetAlias(s.Target)
	p.expect("USING")
	s.Source = p.tableSource()
	p.expect("ON")
	s.On = p.condition()
	for p.peek().is("WHEN") {
		s.Actions = append(s.Actions, p.mergeAction())
	}
	if len(s.Actions) == 0 {
		p.failExpected("WHEN")
	}
	s.Output = p.output()
	s.Options = p.hints()
	s.Span = p.from(start)
	// The one statement of T-SQL that must have its semicolon.
	if t := p.peek(); !t.is(";") {
		p.report(t.Span, "end MERGE with a semicolon", "expected ;, found %s", t.describe())
	}
	return s
}

// targetAlias reads [AS] alias of the target of MERGE.
// In contrast to UPDATE and DELETE, the target has its alias right here. USING isn't reserved and so has to be told
// apart.
func (p *parser) targetAlias(target TableSource) {
	if !p.accept("AS") && (!p.peek().isName() || p.peek().is("USING")) {
		return
	}
	alias := p.name("an alias")
	switch t := target.(type) {
	case *TableRef:
		t.Alias = &alias
		t.Span = p.from(t.Span)
	case *VariableTable:
		t.Alias = &alias
		t.Span = p.from(t.Span)
	}
}

// mergeAction reads WHEN [NOT] MATCHED [BY …] [AND condition] THEN action.
// NOT MATCHED alone is NOT MATCHED BY TARGET: the row is in the source only.
func (p *parser) mergeAction() MergeAction {
	start := p.next().Span
	a := MergeAction{When: "MATCHED"}
	if p.accept("NOT") {
		a.When = "NOT MATCHED BY TARGET"
	}
	p.expect("MATCHED")
	if a.When != "MATCHED" && p.accept("BY") {
		if p.accept("SOURCE") {
			a.When = "NOT MATCHED BY SOURCE"
		} else {
			p.expect("TARGET")
		}
	}
	if p.accept("AND") {
		a.And = p.condition()
	}
	p.expect("THEN")
	p.mergeThen(&a)
	a.Span = p.from(start)
	return a
}

// mergeThen reads what follows THEN: rows that exist are updated or deleted, those that don't are inserted.
func (p *parser) mergeThen(a *MergeAction) {
	t := p.peek()
	inserts := a.When == "NOT MATCHED BY TARGET"
	switch {
	case inserts && t.is("INSERT"):
		p.next()
		a.Columns = p.insertColumns(p.plainColumn)
		if p.accept("DEFAULT", "VALUES") {
			break
		}
		p.expect("VALUES")
		from := p.peek().Span
		rows := p.valueRows()
		if len(rows) != 1 {
			p.fail(p.from(from), "", "MERGE inserts one row at a time, found %d", len(rows))
		}
		a.Values = rows[0]
	case !inserts && t.is("UPDATE"):
		p.next()
		p.expect("SET")
		a.Set = p.assignments()
	case !inserts && t.is("DELETE"):
		p.next()
	case inserts:
		p.failExpected("INSERT")
	default:
		p.failExpected("UPDATE", "DELETE")
	}
	a.Action = t.upper
}
