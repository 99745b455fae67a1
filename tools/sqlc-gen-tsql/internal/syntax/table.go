package syntax

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"
)

// createTable reads CREATE TABLE name (…) with its storage options.
func (p *parser) createTable(start diag.Span) Stmt {
	p.next()
	s := &CreateTable{Name: p.qualifiedName("the name of a table", 3)}
	if t := p.peek(); t.is("AS") {
		p.fail(t.Span, "write the columns, or SELECT … INTO", "expected (, found AS")
	}
	s.Def = p.tableDef()
	s.Options = p.storage()
	if t := p.peek(); t.is("AS") {
		p.fail(t.Span, "", "tables of a graph aren't supported")
	}
	s.Span = p.from(start)
	return s
}

// tableDef reads columns, constraints and indexes in parentheses. A comma may stand after the last of them.
func (p *parser) tableDef() *TableDef {
	start := p.peek().Span
	p.expect("(")
	d := &TableDef{}
	p.tableElement(d)
	for p.accept(",") {
		if p.peek().is(")") {
			break
		}
		p.tableElement(d)
	}
	if t := p.peek(); !t.is(")") {
		p.failExpected(",", ")")
	}
	p.next()
	d.Span = p.from(start)
	return d
}

// tableElement reads one column, constraint or index, or the PERIOD of a temporal table.
func (p *parser) tableElement(d *TableDef) {
	t := p.peek()
	switch {
	case t.isAny("CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "DEFAULT"):
		d.Constraints = append(d.Constraints, p.tableConstraint())
	case t.is("INDEX"):
		d.Indexes = append(d.Indexes, p.inlineIndex())
	case t.is("PERIOD") && p.peekN(1).is("FOR"):
		p.next()
		p.expect("FOR", "SYSTEM_TIME")
		p.identList()
	default:
		d.Columns = append(d.Columns, p.columnDef())
		d.hoist()
	}
}

// hoist makes constraints of the last column that name columns of their own what they are: constraints of the table, with
// the comma before them forgotten. Servers accept that.
func (d *TableDef) hoist() {
	c := &d.Columns[len(d.Columns)-1]
	c.Constraint = slices.DeleteFunc(c.Constraint, func(k Constraint) bool {
		if len(k.Columns) > 0 {
			d.Constraints = append(d.Constraints, k)
		}
		return len(k.Columns) > 0
	})
	if len(c.Constraint) == 0 {
		c.Constraint = nil
	}
}

// columnDef reads a column with its options in any order.
func (p *parser) columnDef() ColumnDef {
	c := ColumnDef{Name: p.name("the name of a column")}
	if p.accept("AS") {
		c.Computed = p.expr()
	} else {
		c.Type = p.typeName()
	}
	// Servers take options and constraints in any order, so a column ends where neither follows.
	for p.columnOption(&c) || p.columnConstraint(&c) {
		continue
	}
	c.Span = p.from(c.Name.Span)
	return c
}

// columnOption reads one property of a column, and reports whether there was one.
func (p *parser) columnOption(c *ColumnDef) bool {
	t := p.peek()
	switch {
	case t.isAny("NULL", "NOT"):
		p.columnNull(c)
	case p.accept("IDENTITY"):
		c.Identity = true
		p.identity()
	case p.accept("COLLATE"):
		c.Collation = p.ident().Value
	case p.accept("PERSISTED"):
		if c.Computed == nil {
			p.fail(t.Span, "", "only computed columns are PERSISTED")
		}
		c.Persisted = true
	case p.accept("ROWGUIDCOL"):
		c.RowGUID = true
	case p.accept("SPARSE"):
		c.Sparse = true
	case p.accept("FILESTREAM"), p.accept("HIDDEN"), p.accept("COLUMN_SET", "FOR", "ALL_SPARSE_COLUMNS"):
	case p.accept("GENERATED"):
		p.expect("ALWAYS", "AS")
		c.Generated = p.generated()
	case p.accept("MASKED"), p.accept("ENCRYPTED"):
		p.expect("WITH")
		p.optionList()
	case t.is("INDEX"):
		index := p.inlineIndex()
		c.Index = &index
	default:
		return false
	}
	return true
}

// columnNull reads NULL or NOT NULL, or NOT FOR REPLICATION, which may stand apart from IDENTITY.
func (p *parser) columnNull(c *ColumnDef) {
	t := p.peek()
	if p.accept("NOT", "FOR", "REPLICATION") {
		return
	}
	if t.is("NOT") && !p.peekN(1).is("NULL") {
		p.next()
		p.failExpected("NULL")
	}
	null := p.nullability()
	if c.Null != NullUnsaid && c.Null != null {
		p.fail(t.Span, "", "column %s is both NULL and NOT NULL", clip(c.Name.Value))
	}
	c.Null = null
}

// identity reads [(seed, increment)] after IDENTITY.
func (p *parser) identity() {
	if !p.accept("(") {
		return
	}
	p.number()
	p.comma()
	p.number()
	p.expect(")")
}

// generated reads what is generated: ROW START, TRANSACTION_ID END and so on.
func (p *parser) generated() string {
	what, end := p.peek(), p.peekN(1)
	if !what.isAny("ROW", "TRANSACTION_ID", "SEQUENCE_NUMBER", "SUSER_SID", "SUSER_SNAME") {
		p.failExpected("ROW", "TRANSACTION_ID", "SEQUENCE_NUMBER")
	}
	p.next()
	if !end.isAny("START", "END") {
		p.failExpected("START", "END")
	}
	p.next()
	return what.upper + " " + end.upper
}

// columnConstraint reads one constraint or the default of a column, and reports whether there was one.
func (p *parser) columnConstraint(c *ColumnDef) bool {
	start := p.peek().Span
	var name *Ident
	if p.accept("CONSTRAINT") {
		id := p.name("the name of a constraint")
		name = &id
	}
	t := p.peek()
	switch {
	case p.accept("DEFAULT"):
		c.Default = p.expr()
		p.accept("WITH", "VALUES")
	case name != nil && t.isAny("NULL", "NOT"): // named, though the name is kept nowhere
		p.columnNull(c)
	case t.isAny("PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "REFERENCES"):
		k := p.constraintBody(false)
		k.Name = name
		k.Span = p.from(start)
		c.Constraint = append(c.Constraint, k)
	case name != nil:
		p.failExpected("PRIMARY KEY", "UNIQUE", "CHECK", "REFERENCES", "DEFAULT")
	default:
		return false
	}
	return true
}

// tableConstraint reads [CONSTRAINT name] and a constraint of a table.
func (p *parser) tableConstraint() Constraint {
	start := p.peek().Span
	var name *Ident
	if p.accept("CONSTRAINT") {
		id := p.name("the name of a constraint")
		name = &id
	}
	k := p.constraintBody(true)
	k.Name = name
	k.Span = p.from(start)
	return k
}

// constraintBody reads a constraint without its name.
func (p *parser) constraintBody(table bool) Constraint {
	switch t := p.peek(); {
	case t.isAny("PRIMARY", "UNIQUE"):
		return p.key(table)
	case p.accept("CHECK"):
		k := Constraint{Kind: "CHECK"}
		p.accept("NOT", "FOR", "REPLICATION")
		p.expect("(")
		k.Check = p.condition()
		p.expectClose("CHECK (")
		return k
	case t.is("FOREIGN"), t.is("REFERENCES") && !table:
		return p.foreignKey(table)
	case table && p.accept("DEFAULT"):
		k := Constraint{Kind: "DEFAULT", Default: p.expr()}
		p.expect("FOR")
		column := p.name("the name of a column")
		k.For = &column
		if p.accept("WITH", "VALUES") {
			k.Options = []Option{{Span: p.tokens[p.at-1].Span, Name: "WITH VALUES"}}
		}
		return k
	default:
		p.failExpected("PRIMARY KEY", "UNIQUE", "CHECK", "FOREIGN KEY", "DEFAULT")
		return Constraint{}
	}
}

// key reads PRIMARY KEY or UNIQUE. One of a table names its columns.
func (p *parser) key(table bool) Constraint {
	k := Constraint{Kind: p.next().upper}
	if k.Kind == "PRIMARY" {
		p.expect("KEY")
		k.Kind = "PRIMARY KEY"
	}
	var options []Option
	k.Clustered, options = p.clustering()
	k.Options = append(k.Options, options...)
	if table || p.peek().is("(") {
		k.Columns = p.indexColumns()
	}
	k.Options = append(k.Options, p.storage()...)
	return k
}

// clustering reads CLUSTERED or NONCLUSTERED and HASH; the latter two are options.
func (p *parser) clustering() (clustered bool, options []Option) {
	if p.accept("CLUSTERED") {
		return true, nil
	}
	for _, word := range []string{"NONCLUSTERED", "HASH"} {
		if t := p.peek(); p.accept(word) {
			options = append(options, Option{Span: t.Span, Name: word})
		}
	}
	return false, options
}

// foreignKey reads [FOREIGN KEY [(columns)]] REFERENCES table [(columns)] and its actions, which are options: ON DELETE,
// ON UPDATE and COLUMNS, the columns referred to.
func (p *parser) foreignKey(table bool) Constraint {
	k := Constraint{Kind: "FOREIGN KEY"}
	if p.accept("FOREIGN") {
		p.expect("KEY")
		if table || p.peek().is("(") {
			for _, column := range p.identList() {
				k.Columns = append(k.Columns, IndexColumn{Span: column.Span, Name: column})
			}
		}
	}
	p.expect("REFERENCES")
	k.References = p.objectName()
	if t := p.peek(); t.is("(") {
		columns := p.identList()
		k.Options = append(k.Options, Option{Span: p.from(t.Span), Name: "COLUMNS", Value: joined(columns)})
	}
	for {
		t := p.peek()
		switch {
		case t.is("ON") && p.peekN(1).isAny("DELETE", "UPDATE"):
			p.next()
			event := p.next().upper
			k.Options = append(k.Options, Option{Name: "ON " + event, Value: p.action(), Span: p.from(t.Span)})
		case p.accept("NOT", "FOR", "REPLICATION"):
			k.Options = append(k.Options, Option{Span: p.from(t.Span), Name: "NOT FOR REPLICATION"})
		default:
			return k
		}
	}
}

// action reads what happens to the rows that refer to one that goes.
func (p *parser) action() string {
	for _, words := range [][]string{{"NO", "ACTION"}, {"CASCADE"}, {"SET", "NULL"}, {"SET", "DEFAULT"}} {
		if p.accept(words...) {
			return strings.Join(words, " ")
		}
	}
	p.failExpected("NO ACTION", "CASCADE", "SET NULL", "SET DEFAULT")
	return ""
}

// inlineIndex reads INDEX name [UNIQUE] [CLUSTERED|NONCLUSTERED] [(columns)] …. INCLUDE is an option.
func (p *parser) inlineIndex() IndexDef {
	start := p.next().Span
	d := IndexDef{Name: p.name("the name of an index"), Unique: p.accept("UNIQUE")}
	d.Clustered, d.Options = p.clustering()
	if t := p.peek(); p.accept("COLUMNSTORE") {
		d.Options = append(d.Options, Option{Span: t.Span, Name: "COLUMNSTORE"})
	}
	if p.peek().is("(") {
		d.Columns = p.indexColumns()
	}
	if t := p.peek(); p.accept("INCLUDE") {
		columns := p.identList()
		d.Options = append(d.Options, Option{Span: p.from(t.Span), Name: "INCLUDE", Value: joined(columns)})
	}
	if p.accept("WHERE") {
		d.Where = p.condition()
	}
	d.Options = append(d.Options, p.storage()...)
	d.Span = p.from(start)
	return d
}

// joined returns names as the value of an option.
func joined(names []Ident) string {
	values := make([]string, len(names))
	for i, n := range names {
		values[i] = n.Value
	}
	return strings.Join(values, ", ")
}

// alterTable reads ALTER TABLE name and its action.
func (p *parser) alterTable(start diag.Span) Stmt {
	p.next()
	s := &AlterTable{Name: p.qualifiedName("the name of a table", 3)}
	// WITH CHECK is the default for what is added; only its opposite leaves a trace in the tree.
	check := p.peek()
	with := check.is("WITH") && p.peekN(1).isAny("CHECK", "NOCHECK")
	if with {
		p.next()
		check = p.next()
	}
	t := p.peek()
	switch {
	case p.accept("ADD"):
		s.Add = p.addition()
		if with && check.is("NOCHECK") {
			for i := range s.Add.Constraints {
				k := &s.Add.Constraints[i]
				k.Options = append(k.Options, Option{Span: k.Span, Name: "WITH NOCHECK"})
			}
		}
	case t.isAny("CHECK", "NOCHECK"):
		p.next()
		p.expect("CONSTRAINT")
		s.Other = t.upper + " CONSTRAINT"
		if !p.accept("ALL") {
			s.Names = p.idents()
		}
	case with:
		p.failExpected("ADD", "CHECK CONSTRAINT", "NOCHECK CONSTRAINT")
	case p.accept("ALTER"):
		p.expect("COLUMN")
		s.Other = "ALTER COLUMN"
		p.alterColumn(s)
	case p.accept("DROP"):
		return p.alterDrop(s, start)
	default:
		p.alterOther(s)
	}
	s.Span = p.from(start)
	return s
}

// addition reads what ALTER TABLE adds: elements as of CREATE TABLE, without parentheses.
func (p *parser) addition() *TableDef {
	d := &TableDef{}
	if t := p.peek(); t.is("COLUMN") {
		p.fail(t.Span, "leave out COLUMN", "ADD is followed by the column itself, not by COLUMN")
	}
	start := p.peek().Span
	p.tableElement(d)
	for p.accept(",") {
		p.tableElement(d)
	}
	d.Span = p.from(start)
	return d
}

// alterColumn reads the column with its new type, or ADD or DROP of a property.
func (p *parser) alterColumn(s *AlterTable) {
	c := ColumnDef{Name: p.name("the name of a column")}
	if verb := p.peek(); verb.isAny("ADD", "DROP") {
		p.next()
		words := p.words()
		if len(words) == 0 {
			p.failExpected("a property of the column")
		}
		s.Other += " " + verb.upper + " " + strings.Join(words, " ")
		if p.peek().is("(") {
			p.optionList() // of MASKED WITH (…)
		}
	} else {
		c.Type = p.typeName()
		for p.columnOption(&c) {
			continue
		}
	}
	c.Span = p.from(c.Name.Span)
	s.Column = &c
	if p.accept("WITH") {
		p.optionList()
	}
}

// alterDrop reads DROP [CONSTRAINT|COLUMN|INDEX] [IF EXISTS] names, …. A list of both kinds is several statements.
func (p *parser) alterDrop(s *AlterTable, start diag.Span) Stmt {
	if p.accept("PERIOD", "FOR", "SYSTEM_TIME") {
		s.Other, s.Span = "DROP PERIOD FOR SYSTEM_TIME", p.from(start)
		return s
	}
	var parts []*AlterTable
	for more := true; more; more = p.accept(",") {
		t := p.peek()
		switch {
		case t.isAny("COLUMN", "CONSTRAINT", "INDEX"):
			p.next()
			parts = append(parts, &AlterTable{Name: s.Name, Other: "DROP " + t.upper})
			p.ifExists()
		case len(parts) == 0: // without a word a constraint is meant
			parts = append(parts, &AlterTable{Name: s.Name, Other: "DROP CONSTRAINT"})
			p.ifExists()
		}
		last := parts[len(parts)-1]
		last.Names = append(last.Names, p.ident())
		if p.peek().is("WITH") && p.peekN(1).is("(") {
			p.next()
			p.optionList()
		}
	}
	list := &several{Span: p.from(start)}
	for _, part := range parts {
		part.Span = list.Span
		list.stmts = append(list.stmts, part)
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return list
}

// alterActions are the other actions of ALTER TABLE, longest first.
var alterActions = splitAll(
	"ENABLE TRIGGER", "DISABLE TRIGGER", "ENABLE CHANGE_TRACKING", "DISABLE CHANGE_TRACKING", "ENABLE FILETABLE_NAMESPACE",
	"DISABLE FILETABLE_NAMESPACE", "REBUILD", "SET", "SWITCH",
)

// alterOther reads an action that no stage looks into.
func (p *parser) alterOther(s *AlterTable) {
	for _, words := range alterActions {
		if p.accept(words...) {
			s.Other = strings.Join(words, " ")
			p.skipRest(false)
			return
		}
	}
	p.failExpected("ADD", "ALTER COLUMN", "DROP", "CHECK", "NOCHECK", "ENABLE", "DISABLE", "REBUILD", "SET", "SWITCH")
}
