package syntax

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// alterTable reads ALTER TABLE name and its action.
//
//	ALTER TABLE dbo.orders WITH NOCHECK ADD note nvarchar(50) NULL, CONSTRAINT ck CHECK (total >= 0)
//	ALTER TABLE dbo.orders ALTER COLUMN total decimal(12,2) NOT NULL
//	ALTER TABLE dbo.orders DROP COLUMN note, CONSTRAINT ck
func (p *parser) alterTable(start diag.Span) Stmt {
	p.next()
	s := &AlterTable{Name: p.qualifiedName("the name of a table", 3)}
	check := p.peek()
	with := check.is("WITH") && p.peekN(1).isAny("CHECK", "NOCHECK")
	if with {
		p.next()
		check = p.next()
		s.Check = check.upper
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
// ADD COLUMN is the usual mistake of people who come from other servers.
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
// A column gets a type, a collation and nullability anew; all else needs statements of its own.
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
// DROP COLUMN a, b goes on with the kind of the name before.
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
			parts = append(parts, &AlterTable{Name: s.Name, Other: "DROP " + t.upper, IfExists: p.ifExists()})
		case len(parts) == 0: // without a word a constraint is meant
			parts = append(parts, &AlterTable{Name: s.Name, Other: "DROP CONSTRAINT", IfExists: p.ifExists()})
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
	return list.simplest()
}

// alterActions are the other actions of ALTER TABLE, longest first.
var alterActions = splitAll(
	"ENABLE TRIGGER", "DISABLE TRIGGER", "ENABLE CHANGE_TRACKING", "DISABLE CHANGE_TRACKING", "ENABLE FILETABLE_NAMESPACE",
	"DISABLE FILETABLE_NAMESPACE", "REBUILD", "SET", "SWITCH",
)

// alterOther reads an action that no stage looks into.
// They concern storage, triggers and checks of rows, not what the table is.
func (p *parser) alterOther(s *AlterTable) {
	for _, words := range alterActions {
		if !p.accept(words...) {
			continue
		}
		s.Other = strings.Join(words, " ")
		rest := p.at
		p.skipRest(false)
		s.History = p.historyTable(p.tokens[rest:p.at])
		s.Opaque = !p.reread(rest, func(p *parser) { p.alterAction(s, words[0]) })
		return
	}
	p.failExpected("ADD", "ALTER COLUMN", "DROP", "CHECK", "NOCHECK", "ENABLE", "DISABLE", "REBUILD", "SET", "SWITCH")
}

// alterAction reads what follows the words of an action.
//
//	SET (LOCK_ESCALATION = DISABLE)   REBUILD WITH (DATA_COMPRESSION = PAGE)   ENABLE TRIGGER a, b
func (p *parser) alterAction(s *AlterTable, verb string) {
	switch verb {
	case "SET":
		s.Options = p.optionList()
	case "REBUILD":
		p.accept("PARTITION", "=", "ALL")
		if p.accept("WITH") {
			s.Options = p.optionList()
		}
	case "ENABLE", "DISABLE":
		if strings.HasSuffix(s.Other, "TRIGGER") && !p.accept("ALL") {
			s.Names = p.idents()
		}
	}
}
