package syntax

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// createTable reads CREATE TABLE name (…) with its storage options.
//
//	CREATE TABLE dbo.orders (id bigint NOT NULL PRIMARY KEY, total decimal(10,2) DEFAULT 0) ON [PRIMARY]
func (p *parser) createTable(start diag.Span) Stmt {
	p.next()
	s := &CreateTable{Name: p.qualifiedName("the name of a table", 3)}
	if t := p.peek(); t.is("AS") {
		p.fail(t.Span, "write the columns, or SELECT … INTO", "expected (, found AS")
	}
	s.Def = p.tableDef()
	options := p.at
	s.Options = p.storage()
	s.History = p.historyTable(p.tokens[options:p.at])
	if t := p.peek(); t.is("AS") {
		p.fail(t.Span, "", "tables of a graph aren't supported")
	}
	s.Span = p.from(start)
	return s
}

// historyTable finds HISTORY_TABLE = name among the tokens of options that have been read, whose own values are texts.
// It is nil if the table isn't named: the server then makes up a name, by which no script can know it.
func (p *parser) historyTable(options []token) *ObjectName {
	for i, t := range options {
		if !t.is("HISTORY_TABLE") || i+2 >= len(options) || !options[i+1].is("=") || !options[i+2].isName() {
			continue
		}
		last := i + 2
		n := &ObjectName{Parts: []Ident{options[last].asIdent()}}
		for last+2 < len(options) && options[last+1].is(".") && options[last+2].isName() {
			last += 2
			n.Parts = append(n.Parts, options[last].asIdent())
		}
		n.Span = options[i+2].Span.Until(options[last].Span)
		return n
	}
	return nil
}

// tableDef reads columns, constraints and indexes in parentheses. A comma may stand after the last of them.
// Servers allow that comma, and generated scripts have it.
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
// PERIOD FOR SYSTEM_TIME names the two columns of a temporal table, whose GENERATED says so already.
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
		d.Period = p.identList()
	default:
		d.Columns = append(d.Columns, p.columnDef())
		d.hoist()
	}
}

// hoist makes constraints of the last column that name columns of their own what they are: constraints of the table,
// with
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
// The name comes first, and then a type or AS; a computed column has no type of its own.
func (p *parser) columnDef() ColumnDef {
	name := p.peek()
	c := ColumnDef{Name: p.name("the name of a column")}
	switch next := p.peek(); {
	case p.accept("AS"):
		c.Computed = p.expr()
	// A column timestamp needs no type: it is the old name of rowversion.
	case name.is("TIMESTAMP") && (!next.isName() || next.isAny("ROWGUIDCOL", "SPARSE", "HIDDEN")):
		c.Type = &TypeName{Span: name.Span, Name: wordName(name)}
	default:
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
// What is read over (FILESTREAM, what MASKED says) changes neither type nor nullability.
func (p *parser) columnOption(c *ColumnDef) bool {
	t := p.peek()
	switch {
	case t.isAny("NULL", "NOT"):
		p.columnNull(c)
	case p.accept("IDENTITY"):
		c.Identity = true
		c.Seed, c.Increment = p.identity()
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
	case p.accept("HIDDEN"):
		c.Hidden = true
	case p.accept("FILESTREAM"), p.accept("COLUMN_SET", "FOR", "ALL_SPARSE_COLUMNS"):
	case p.accept("GENERATED"):
		p.expect("ALWAYS", "AS")
		c.Generated = p.generated()
	case p.accept("MASKED"), p.accept("ENCRYPTED"):
		c.Protection = t.upper
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
// Saying the same twice is allowed, as servers do.
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
// Seed and increment are numbers with signs: IDENTITY(-1, -1).
func (p *parser) identity() (seed, increment string) {
	if !p.accept("(") {
		return "", ""
	}
	seed = p.number()
	p.comma()
	increment = p.number()
	p.expect(")")
	return seed, increment
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
// DEFAULT is a constraint to a server, and has a name like others; here it is a property of the column.
func (p *parser) columnConstraint(c *ColumnDef) bool {
	start := p.peek().Span
	name := p.constraintName()
	t := p.peek()
	switch {
	case p.accept("DEFAULT"):
		c.DefaultName = name
		c.Default = p.expr()
		c.WithValues = p.accept("WITH", "VALUES")
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

// constraintName reads CONSTRAINT name, or returns nil when it isn't there: a server makes up a name then.
func (p *parser) constraintName() *Ident {
	if !p.accept("CONSTRAINT") {
		return nil
	}
	name := p.name("the name of a constraint")
	return &name
}

// tableConstraint reads [CONSTRAINT name] and a constraint of a table.
func (p *parser) tableConstraint() Constraint {
	start := p.peek().Span
	name := p.constraintName()
	k := p.constraintBody(true)
	k.Name = name
	k.Span = p.from(start)
	return k
}

// constraintBody reads a constraint without its name.
// table says that it stands apart from a column; only then it names columns, and only then DEFAULT has a FOR.
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
//
//	PRIMARY KEY NONCLUSTERED (id) WITH (FILLFACTOR = 80)
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
// HASH is of tables in memory, and always nonclustered.
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

// foreignKey reads [FOREIGN KEY [(columns)]] REFERENCES table [(columns)] and its actions, which are options: ON
// DELETE,
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
		k.Referenced = p.identList()
		k.Options = append(k.Options, Option{Span: p.from(t.Span), Name: "COLUMNS", Value: nameList(k.Referenced)})
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
//
//	ON DELETE CASCADE   ON UPDATE SET NULL
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
		d.Include = p.identList()
		d.Options = append(d.Options, Option{Span: p.from(t.Span), Name: "INCLUDE", Value: nameList(d.Include)})
	}
	if p.accept("WHERE") {
		d.Where = p.condition()
	}
	d.Options = append(d.Options, p.storage()...)
	d.Span = p.from(start)
	return d
}

// nameList returns names as the value of an option, which is a text: "a, b".
func nameList(names []Ident) string {
	values := make([]string, len(names))
	for i, n := range names {
		values[i] = n.Value
	}
	return strings.Join(values, ", ")
}
