package syntax

import "github.com/duroxide/duroxide-go/tsql/internal/diag"

// A Query is a whole query: its common table expressions, its body and what follows it.
// Only the query of a statement may have With and Options, and only there ORDER BY orders what a client sees.
type Query struct {
	diag.Span
	With    []*CTE
	Body    QueryBody
	OrderBy []OrderItem
	Offset  Expr // OFFSET n ROWS
	Fetch   Expr // FETCH NEXT n ROWS ONLY
	For     *ForClause
	Options []Option // OPTION (…)
}

// CTE is one common table expression.
// It is known to the statement that follows, and to the CTEs after it.
type CTE struct {
	diag.Span
	Name    Ident
	Columns []Ident
	Query   *Query
}

// ForClause is FOR JSON, FOR XML or FOR BROWSE. Options holds the words after it. FOR JSON and FOR XML make of all rows
// one column of text, which the server sends in pieces.
type ForClause struct {
	diag.Span
	Kind    string // "JSON", "XML", "BROWSE"
	Options []Option
}

// A QueryBody is a Select, a SetOperation or a ParenQuery: what ORDER BY, which belongs to the Query, is applied to.
type QueryBody interface {
	Node
	queryBody()
}

type (
	// Select is one SELECT without what belongs to the whole query.
	// The clauses are in the order of the text, which is not that of evaluation: aliases of Items are known to ORDER BY
	// alone.
	Select struct {
		diag.Span
		Distinct bool
		Top      *Top
		Items    []SelectItem
		Into     *ObjectName   // SELECT … INTO table, which creates the table
		From     []TableSource // comma-separated
		Where    Expr
		GroupBy  *GroupBy
		Having   Expr
		Windows  []NamedWindow
	}

	// SetOperation is UNION [ALL], EXCEPT or INTERSECT.
	// The names of its columns are those of X.
	SetOperation struct {
		diag.Span
		Op   string // "UNION", "EXCEPT", "INTERSECT"
		All  bool
		X, Y QueryBody
	}

	// ParenQuery is a query in parentheses as an operand of a set operation.
	ParenQuery struct {
		diag.Span
		Query *Query
	}
)

func (*Select) queryBody()       {}
func (*SetOperation) queryBody() {}
func (*ParenQuery) queryBody()   {}

// SelectItem is one element of a select list. Exactly one form: X alone (Star included), X with Alias, or an
// assignment, Variable = X (or += and so on).
type SelectItem struct {
	diag.Span
	Variable *Variable
	AssignOp string // "=", "+=", … when Variable is set
	X        Expr
	Alias    *Ident
}

// Name is the name of the result's column: its alias, or that of the column which it is; empty if it has none.
func (i *SelectItem) Name() string {
	if i.Alias != nil {
		return i.Alias.Value
	}
	if ref, ok := Unparen(i.X).(*ColumnRef); ok {
		return ref.Last().Value
	}
	return ""
}

// HasTop reports whether a query is one SELECT with TOP, so that ORDER BY has a meaning below another query.
func HasTop(body QueryBody) bool {
	s, ok := body.(*Select)
	return ok && s.Top != nil
}

// NamedWindow is one definition of the WINDOW clause.
type NamedWindow struct {
	diag.Span
	Name   Ident
	Window *Window
}

// Top is TOP (n) [PERCENT] [WITH TIES].
// Without ORDER BY it is any n rows.
type Top struct {
	diag.Span
	N        Expr
	Percent  bool
	WithTies bool
}

// GroupBy is GROUP BY. Sets holds one list per grouping set: a plain GROUP BY is one set, and ROLLUP, CUBE and
// GROUPING SETS have Extended set, in which case grouped columns may be NULL in the result.
type GroupBy struct {
	diag.Span
	Items    []Expr
	Extended bool // ROLLUP, CUBE, GROUPING SETS, ALL, ()
}

// A TableSource is what FROM reads.
type TableSource interface {
	Node
	tableSource()
}

type (
	// TableRef is a table, a view, a CTE, a synonym or a temp table by name. A table variable is a VariableTable.
	// In UPDATE and DELETE the name may be an alias of FROM.
	TableRef struct {
		diag.Span
		Name     *ObjectName
		Temporal string // the text of FOR SYSTEM_TIME …, if any
		Versions bool   // it is one other than AS OF, so that a row may come in several versions
		// Form is that of Temporal, such as "AS OF", and Bounds are the times that it names.
		Form   string
		Bounds []Expr
		Alias  *Ident
		Hints  []Option
	}

	// VariableTable is @t [AS alias].
	VariableTable struct {
		diag.Span
		Name  string // with the @
		Alias *Ident
		Hints []Option
	}

	// DerivedTable is (query) AS alias [(columns)].
	// The alias is compulsory.
	DerivedTable struct {
		diag.Span
		Query   *Query
		Alias   *Ident
		Columns []Ident
	}

	// ValuesTable is (VALUES (…), (…)) AS alias (columns).
	ValuesTable struct {
		diag.Span
		Rows    [][]Expr
		Alias   *Ident
		Columns []Ident
	}

	// FunctionTable is a table-valued function, OPENJSON, STRING_SPLIT, GENERATE_SERIES, OPENROWSET and the like.
	// In CROSS APPLY its arguments may be columns of what stands before.
	FunctionTable struct {
		diag.Span
		Call    *Call
		With    []JSONColumn // OPENJSON (…) WITH (…); nil when there is no WITH
		Alias   *Ident
		Columns []Ident
	}

	// NodesTable is x.nodes('path') AS t (c): a row for each of the nodes. In CROSS APPLY, x may be a column of what
	// stands before.
	NodesTable struct {
		diag.Span
		Call    *Method
		Alias   *Ident
		Columns []Ident
	}

	// Join is an INNER, LEFT, RIGHT, FULL or CROSS join, or CROSS or OUTER APPLY.
	Join struct {
		diag.Span
		Kind string // "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "CROSS APPLY", "OUTER APPLY"
		// Outer says that OUTER is written, which T-SQL allows and does not need.
		Outer bool
		Hint  string // LOOP, HASH, MERGE, REMOTE or ""
		X, Y  TableSource
		On    Expr // nil for CROSS and APPLY
		// X and Y say how joins nest. A chain leans to the left; a JOIN b JOIN c ON … ON … has the second join in Y.
	}

	// ParenSource is a join in parentheses.
	// They only say which joins come first.
	ParenSource struct {
		diag.Span
		X TableSource
	}

	// Pivot is x PIVOT (…) AS alias or x UNPIVOT (…) AS alias:
	//
	//	PIVOT (SUM(amount) FOR quarter IN ([Q1], [Q2])) AS p
	//	UNPIVOT (amount FOR quarter IN (q1, q2)) AS u
	Pivot struct {
		diag.Span
		X         TableSource
		Unpivot   bool
		Aggregate *Call     // of PIVOT
		Value     *Ident    // of UNPIVOT: the value column
		For       ColumnRef // the pivoted (PIVOT) or name (UNPIVOT) column
		In        []Ident
		Alias     *Ident
	}
)

func (*TableRef) tableSource()      {}
func (*VariableTable) tableSource() {}
func (*DerivedTable) tableSource()  {}
func (*ValuesTable) tableSource()   {}
func (*FunctionTable) tableSource() {}
func (*NodesTable) tableSource()    {}
func (*Join) tableSource()          {}
func (*ParenSource) tableSource()   {}
func (*Pivot) tableSource()         {}

// JSONColumn is one column of OPENJSON … WITH: total decimal(10,2) '$.sum', lines nvarchar(max) AS JSON. Without a path
// the property has the column's name.
type JSONColumn struct {
	diag.Span
	Name   Ident
	Type   *TypeName
	Path   *Literal
	AsJSON bool
}
