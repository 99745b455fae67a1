package syntax

import (
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// indexNext reports whether the words of an index that isn't of a special kind come next.
// Up to three words may stand before INDEX, in this order: UNIQUE CLUSTERED COLUMNSTORE.
func (p *parser) indexNext() bool {
	for n := range 4 {
		switch t := p.peekN(n); {
		case t.is("INDEX"):
			return true
		case !t.isAny("UNIQUE", "CLUSTERED", "NONCLUSTERED", "COLUMNSTORE"):
			return false
		}
	}
	return false
}

// createIndex reads CREATE [UNIQUE] [CLUSTERED|NONCLUSTERED] [COLUMNSTORE] INDEX name ON table (columns) ….
//
//	CREATE UNIQUE INDEX ix ON dbo.orders (customer, created DESC) INCLUDE (total) WHERE total > 0
func (p *parser) createIndex(start diag.Span) Stmt {
	s := &CreateIndex{Unique: p.accept("UNIQUE"), Clustered: p.accept("CLUSTERED")}
	if !s.Clustered {
		p.accept("NONCLUSTERED")
	}
	s.Columnstore = p.accept("COLUMNSTORE")
	p.expect("INDEX")
	s.Name = p.name("the name of an index")
	p.expect("ON")
	s.Table = p.objectName()
	// A clustered columnstore index holds all columns and names none.
	if p.peek().is("(") || !s.Columnstore || !s.Clustered {
		s.Columns = p.indexColumns()
	}
	if p.accept("INCLUDE") {
		s.Include = p.identList()
	}
	if s.Columnstore && p.accept("ORDER") {
		p.indexColumns()
	}
	if p.accept("WHERE") {
		s.Where = p.condition()
	}
	s.Options = p.storage()
	s.Span = p.from(start)
	return s
}

// indexColumns reads (a, b DESC, …).
// The order of a column changes no rule about keys, and is kept for vet.
func (p *parser) indexColumns() []IndexColumn {
	p.expect("(")
	var columns []IndexColumn
	for {
		c := IndexColumn{Name: p.name("the name of a column")}
		if !p.accept("ASC") {
			c.Desc = p.accept("DESC")
		}
		c.Span = p.from(c.Name.Span)
		columns = append(columns, c)
		if !p.accept(",") {
			break
		}
	}
	p.expectClose("the list of columns")
	return columns
}

// storage reads what may follow the columns of a table, an index or a key in any order: WITH (…), WITH FILLFACTOR = n,
// ON filegroup, ON scheme (column), TEXTIMAGE_ON and FILESTREAM_ON.
// It is kept as options: where rows are stored matters to no stage.
func (p *parser) storage() []Option {
	var options []Option
	for {
		t := p.peek()
		switch {
		case t.is("WITH") && p.peekN(1).is("("):
			p.next()
			options = append(options, p.optionList()...)
		case t.is("WITH") && p.peekN(1).isAny(oldIndexOptions...):
			p.next()
			options = append(options, p.oldIndexOption())
			for p.peek().is(",") && p.peekN(1).isAny(oldIndexOptions...) { // else what follows is a table's next column
				p.next()
				options = append(options, p.oldIndexOption())
			}
		case t.isAny("ON", "TEXTIMAGE_ON", "FILESTREAM_ON"):
			p.next()
			options = append(options, p.filegroup(t))
		default:
			return options
		}
	}
}

// oldIndexOptions are the options of an index that may stand without parentheses.
var oldIndexOptions = []string{"FILLFACTOR", "PAD_INDEX", "IGNORE_DUP_KEY", "DROP_EXISTING", "SORT_IN_TEMPDB", "STATISTICS_NORECOMPUTE"}

// oldIndexOption reads FILLFACTOR = n or a word such as PAD_INDEX, written without parentheses.
// That form is of SQL Server 2000, and scripts of that age still have it.
func (p *parser) oldIndexOption() Option {
	t := p.next()
	o := Option{Name: t.upper}
	if p.accept("=") {
		o.Value = p.next().value
	}
	o.Span = p.from(t.Span)
	return o
}

// filegroup reads the name of a filegroup or "default", or of a partition scheme with its column.
func (p *parser) filegroup(t token) Option {
	name := p.peek()
	if name.kind != tokenString && !name.is("PRIMARY") {
		p.name("the name of a filegroup")
	} else {
		p.next()
	}
	if p.peek().is("(") {
		p.identList()
	}
	return Option{Span: p.from(t.Span), Name: t.upper, Value: p.file.Slice(p.from(name.Span))}
}
