package syntax

import "github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"

// A Node is any part of the tree. What a node holds is what the text says, not what it means: names are not resolved,
// and a default that isn't written is nil or "".
type Node interface {
	Range() diag.Span
}

// A Script is one file: its batches in order and all its comments.
type Script struct {
	File     *diag.File
	Batches  []*Batch
	Comments []Comment // in the order of the text
}

// A Batch is the text between two GO lines.
type Batch struct {
	diag.Span
	Stmts []Stmt // a module's definition is the only one of its batch
	Count int    // the repetition of "GO 5"; 1 when none is given
}

// A Comment is a -- line comment (to the end of the line, without it) or a block comment, with its delimiters.
type Comment struct {
	diag.Span
	Text string // without the delimiters, not trimmed
	Line bool   // -- rather than /* */
}

// An Ident is a name: total, [order total], "order total". Value is the name itself: brackets and quotes are gone
// and doubled ones undone.
type Ident struct {
	diag.Span
	Value  string
	Quoted bool // written in brackets or double quotes
}

// An ObjectName is a name of up to four parts, server.database.schema.name. Parts left out ("db..t") are empty. The
// last
// part is the object's own name, so that code that looks only at that one counts from the end.
type ObjectName struct {
	diag.Span
	Parts []Ident // at least one
}

// A TypeName is a data type as it is written. Name is the type's possibly qualified name; synonyms of several words
// ("character varying", "double precision") are one part with single blanks.
type TypeName struct {
	diag.Span
	Name *ObjectName
	// Args are the facets: numbers, or "max" for (max). XML schema collections are refused. Whether a type takes them,
	// and which, is for package sqltype to say.
	Args []Ident
}

// Option is a word or phrase of an option list: a table hint, a query hint, WITH options of a module. Name is upper
// case with single blanks between words ("ALLOW_PAGE_LOCKS"); Value is the text after = or in parentheses, if any.
type Option struct {
	diag.Span
	Name  string
	Value string
}

// An Expr is a scalar expression or a condition; the parser lets conditions stand only where T-SQL does.
type Expr interface {
	Node
	expr()
}

// LiteralKind tells literals apart.
type LiteralKind int

// The kinds of literals.
const (
	NullLiteral    LiteralKind = iota
	IntLiteral                 // digits; a value beyond int is decimal in T-SQL
	DecimalLiteral             // 1.5
	FloatLiteral               // 1e5
	MoneyLiteral               // $1.50
	StringLiteral              // 'x'
	NStringLiteral             // N'x'
	BinaryLiteral              // 0xFF
	DefaultLiteral             // the keyword DEFAULT where a value may stand
)

type (
	// Literal is a constant. Value is its text; of strings, the content with doubled quotes undone.
	// Its type follows from Kind and Value; see the literals of package sqltype.
	Literal struct {
		diag.Span
		Kind  LiteralKind
		Value string
	}

	// Variable is @name. Name keeps the @.
	// Names of variables differ by case no more than other names do.
	Variable struct {
		diag.Span
		Name string
	}

	// SystemVariable is @@name. Name keeps both @ and is upper case.
	SystemVariable struct {
		diag.Span
		Name string
	}

	// ColumnRef is a column, possibly qualified: c, t.c, s.t.c, inserted.c. Also $action, $rowguid, $identity.
	// Which of the parts are a table's and which a schema's, only the tables in scope tell.
	ColumnRef struct {
		diag.Span
		Parts []Ident
	}

	// Star is * or t.* in a select list or an OUTPUT list. COUNT(*) is a Call with Star set instead.
	Star struct {
		diag.Span
		Qualifier []Ident
	}

	// Call is a call of a function, built in or not. Words that T-SQL makes functions without parentheses
	// (CURRENT_TIMESTAMP, CURRENT_USER, SESSION_USER, SYSTEM_USER, USER) are calls with NoParens.
	// Whether it is an aggregate, a window function or one of the scripts, its name tells package analyze.
	Call struct {
		diag.Span
		Name        *ObjectName
		Distinct    bool // COUNT(DISTINCT x)
		Star        bool // COUNT(*)
		Args        []Expr
		NoParens    bool
		WithinGroup []OrderItem // STRING_AGG(…) WITHIN GROUP (ORDER BY …)
		Nulls       string      // "IGNORE NULLS", "RESPECT NULLS" or ""
		Over        *Window
		// JSON functions only: "NULL ON NULL" / "ABSENT ON NULL"
		JSONNulls string
		// Keys of JSON_OBJECT('k': v): as many as Args; nil otherwise
		Keys []Expr
	}

	// Cast is CAST, TRY_CAST, CONVERT, TRY_CONVERT, PARSE or TRY_PARSE.
	// They are no calls, because a type stands among their arguments.
	Cast struct {
		diag.Span
		Func  string // upper case: "CAST", "TRY_CONVERT", …
		X     Expr
		Type  *TypeName
		Style Expr // third argument of CONVERT, culture of PARSE; nil if none
	}

	// Unary is + - ~ before an operand. NOT is Not.
	Unary struct {
		diag.Span
		Op string
		X  Expr
	}

	// Binary is one of + - * / % & | ^ || << >>.
	Binary struct {
		diag.Span
		Op   string
		X, Y Expr
	}

	// Paren is an expression or a condition in parentheses. The tree keeps them, so that a message can quote the text
	// and a rule can tell a = (b) from a = b; a stage that doesn't care looks through.
	Paren struct {
		diag.Span
		X Expr
	}

	// Case is CASE [input] WHEN … THEN … [ELSE …] END. When is a condition unless there is an input.
	// Without ELSE it may be NULL.
	Case struct {
		diag.Span
		Input Expr
		Whens []CaseWhen
		Else  Expr
	}

	// CaseWhen is one arm.
	CaseWhen struct {
		diag.Span
		When, Then Expr
	}

	// Subquery is a query in parentheses where a value stands. With no row its value is NULL, with several the server
	// fails at run time.
	Subquery struct {
		diag.Span
		Query *Query
	}

	// NextValue is NEXT VALUE FOR sequence [OVER (ORDER BY …)].
	NextValue struct {
		diag.Span
		Sequence *ObjectName
		Over     *Window
	}

	// AtTimeZone is x AT TIME ZONE zone.
	// A value without offset is taken to be in the zone, one with offset is converted to it.
	AtTimeZone struct {
		diag.Span
		X, Zone Expr
	}

	// Collate is x COLLATE name.
	Collate struct {
		diag.Span
		X    Expr
		Name Ident
	}

	// Compare is one of = <> != < <= > >= !< !> ; Op is as written except != which is <>. IS [NOT] DISTINCT FROM
	// is a comparison with those words as Op.
	Compare struct {
		diag.Span
		Op   string
		X, Y Expr
	}

	// Quantified is x op ANY|SOME|ALL (query).
	Quantified struct {
		diag.Span
		Op         string
		Quantifier string
		X          Expr
		Query      *Query
	}

	// Logical is AND or OR. Its operands are conditions, as that of Not is: T-SQL has no boolean values.
	Logical struct {
		diag.Span
		Op   string
		X, Y Expr
	}

	// Not is NOT condition.
	Not struct {
		diag.Span
		X Expr
	}

	// Between is x [NOT] BETWEEN lo AND hi.
	// Both bounds belong to the range.
	Between struct {
		diag.Span
		X, Low, High Expr
		Not          bool
	}

	// In is x [NOT] IN (list) or (query); one of List and Query is set.
	In struct {
		diag.Span
		X     Expr
		List  []Expr
		Query *Query
		Not   bool
	}

	// Like is x [NOT] LIKE pattern [ESCAPE e].
	// In the pattern % is any text, _ a character and [a-c] one of a set.
	Like struct {
		diag.Span
		X, Pattern, Escape Expr
		Not                bool
	}

	// IsNull is x IS [NOT] NULL.
	// In contrast to = NULL, which is never true.
	IsNull struct {
		diag.Span
		X   Expr
		Not bool
	}

	// Exists is EXISTS (query).
	// The select list of the query doesn't matter: EXISTS (SELECT * …) reads no columns.
	Exists struct {
		diag.Span
		Query *Query
	}

	// UpdateTest is the UPDATE(column) condition of a trigger.
	UpdateTest struct {
		diag.Span
		Column Ident
	}
)

// Window is OVER (…) or, with Name only, OVER name, which the WINDOW clause of the same SELECT defines. OVER (name
// ORDER
// BY …) has a Name and adds to that window.
type Window struct {
	diag.Span
	Name        string
	PartitionBy []Expr
	OrderBy     []OrderItem
	Frame       string // the text of the ROWS or RANGE clause, upper case; empty if none
}

// OrderItem is one key of ORDER BY.
type OrderItem struct {
	diag.Span
	X    Expr
	Desc bool
}

func (*Literal) expr()        {}
func (*Variable) expr()       {}
func (*SystemVariable) expr() {}
func (*ColumnRef) expr()      {}
func (*Star) expr()           {}
func (*Call) expr()           {}
func (*Cast) expr()           {}
func (*Unary) expr()          {}
func (*Binary) expr()         {}
func (*Paren) expr()          {}
func (*Case) expr()           {}
func (*Subquery) expr()       {}
func (*NextValue) expr()      {}
func (*AtTimeZone) expr()     {}
func (*Collate) expr()        {}
func (*Compare) expr()        {}
func (*Quantified) expr()     {}
func (*Logical) expr()        {}
func (*Not) expr()            {}
func (*Between) expr()        {}
func (*In) expr()             {}
func (*Like) expr()           {}
func (*IsNull) expr()         {}
func (*Exists) expr()         {}
func (*UpdateTest) expr()     {}

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
	// The clauses are in the order of the text, which is not that of evaluation: aliases of Items are known to ORDER BY alone.
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
	X        Expr
	Alias    *Ident
	Variable *Variable
	AssignOp string // "=", "+=", … when Variable is set
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
		Alias    *Ident
		Hints    []Option
		Temporal string // the text of FOR SYSTEM_TIME …, if any
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

	// Join is an INNER, LEFT, RIGHT, FULL or CROSS join, or CROSS or OUTER APPLY.
	Join struct {
		diag.Span
		Kind string // "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "CROSS APPLY", "OUTER APPLY"
		Hint string // LOOP, HASH, MERGE, REMOTE or ""
		X, Y TableSource
		On   Expr // nil for CROSS and APPLY
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

// A Stmt is a statement. Lists of statements are flat; BEGIN … END is a Block.
type Stmt interface {
	Node
	stmt()
}

// Data statements.
type (
	// SelectStmt is a query as a statement. With SELECT … INTO or assignments only, it yields no result set.
	// Which of the two it is, Select.Into and SelectItem.Variable say.
	SelectStmt struct {
		diag.Span
		Query *Query
	}

	// Insert is INSERT [INTO] target [(columns)] [OUTPUT …] source.
	// Without Columns the values are for all columns that the server doesn't fill by itself.
	Insert struct {
		diag.Span
		With    []*CTE
		Top     *Top
		Target  TableSource // TableRef or VariableTable
		Columns []Ident
		Output  *Output
		// One of the four sources:
		Rows    [][]Expr // VALUES
		Query   *Query
		Exec    *Exec
		Default bool // DEFAULT VALUES
		Options []Option
	}

	// Update is UPDATE target SET … [OUTPUT …] [FROM …] [WHERE …].
	// Without FROM the target is a table; with it, more often an alias.
	Update struct {
		diag.Span
		With    []*CTE
		Top     *Top
		Target  TableSource // TableRef (an alias or CTE of FROM included) or VariableTable
		Set     []Assignment
		Output  *Output
		From    []TableSource
		Where   Expr
		Cursor  string // WHERE CURRENT OF; empty if none
		Options []Option
	}

	// Delete is DELETE [FROM] target [OUTPUT …] [FROM …] [WHERE …].
	Delete struct {
		diag.Span
		With    []*CTE
		Top     *Top
		Target  TableSource
		Output  *Output
		From    []TableSource
		Where   Expr
		Cursor  string
		Options []Option
	}

	// Merge is MERGE [INTO] target [AS alias] USING source ON condition WHEN … THEN ….
	Merge struct {
		diag.Span
		With    []*CTE
		Top     *Top
		Target  TableSource
		Source  TableSource
		On      Expr
		Actions []MergeAction
		Output  *Output
		Options []Option
	}

	// Truncate is TRUNCATE TABLE.
	// It needs more rights than DELETE, and no row of it can be had by OUTPUT.
	Truncate struct {
		diag.Span
		Table *ObjectName
	}
)

// MergeAction is one WHEN clause of MERGE.
type MergeAction struct {
	diag.Span
	When    string // "MATCHED", "NOT MATCHED BY TARGET", "NOT MATCHED BY SOURCE"
	And     Expr   // the condition of WHEN MATCHED AND …; nil if none
	Action  string // "UPDATE", "DELETE", "INSERT"
	Set     []Assignment
	Columns []Ident
	Values  []Expr // nil with INSERT means DEFAULT VALUES
}

// Assignment is one element of SET: column = x, @v = x, @v = column = x, or a compound operator.
type Assignment struct {
	diag.Span
	Variable *Variable
	Column   *ColumnRef
	Op       string // "=", "+=", …
	X        Expr
}

// Output is OUTPUT items [INTO target [(columns)]]. T-SQL allows one with INTO followed by one without.
// The items name columns of inserted and deleted, the rows after and before the change.
type Output struct {
	diag.Span
	Items       []SelectItem // what is returned to the client, or stored if Into is set and Then is nil
	Into        TableSource  // TableRef or VariableTable; nil if the rows are returned
	IntoColumns []Ident
	Then        *Output // a second OUTPUT clause, after one with INTO
}

// Control of flow and variables.
type (
	// Declare is DECLARE of scalar variables and cursor variables, or of one table variable. Wherever it stands, its
	// variables are known to the end of the batch; T-SQL has no narrower scopes.
	Declare struct {
		diag.Span
		Vars []VarDecl
	}

	// SetVariable is SET @v = x, SET @v += x.
	// Of a query that finds no row it sets NULL, where SELECT @v = … leaves the variable as it is.
	SetVariable struct {
		diag.Span
		Variable *Variable
		Op       string
		X        Expr
	}

	// SetOption is SET NOCOUNT ON, SET TRANSACTION ISOLATION LEVEL …, SET IDENTITY_INSERT t ON. Name holds the words
	// up to the value, upper case ("NOCOUNT", "TRANSACTION ISOLATION LEVEL", "IDENTITY_INSERT dbo.t"); comma lists
	// ("SET ANSI_NULLS, QUOTED_IDENTIFIER ON") are several statements with the same span.
	SetOption struct {
		diag.Span
		Name  string
		Value string // upper case: "ON", "OFF", "READ COMMITTED", "5000"
		X     Expr   // the value when it is an expression
	}

	// If is IF cond stmt [ELSE stmt].
	// Then and Else are one statement each, often a Block.
	If struct {
		diag.Span
		Cond Expr
		Then Stmt
		Else Stmt
	}

	// While is WHILE cond stmt.
	While struct {
		diag.Span
		Cond Expr
		Body Stmt
	}

	// Block is BEGIN … END.
	// It has no scope of its own: variables declared in it are known after it.
	Block struct {
		diag.Span
		Stmts []Stmt
		// Atomic holds the options of BEGIN ATOMIC WITH (…); nil for a plain block.
		Atomic []Option
	}

	// TryCatch is BEGIN TRY … END TRY BEGIN CATCH … END CATCH.
	// Errors of a severity up to 10, and those that end the connection, don't reach the CATCH.
	TryCatch struct {
		diag.Span
		Try, Catch []Stmt
	}

	// Return is RETURN [x].
	// Only functions return values of any type; a procedure returns an int, its status.
	Return struct {
		diag.Span
		X     Expr
		Query *Query // the query of an inline table function
	}

	// Break is BREAK.
	Break struct{ diag.Span }

	// Continue is CONTINUE.
	Continue struct{ diag.Span }

	// Goto is GOTO label.
	Goto struct {
		diag.Span
		Label Ident
	}

	// Label is "label:", a statement of its own.
	Label struct {
		diag.Span
		Label Ident
	}

	// Throw is THROW or THROW number, message, state. Without operands it stands in a CATCH and re-raises the error.
	Throw struct {
		diag.Span
		Number, Message, State Expr // all nil when it re-raises
	}

	// Raiserror is RAISERROR (message, severity, state, …) [WITH …].
	Raiserror struct {
		diag.Span
		Args    []Expr
		Options []Option
	}

	// Print is PRINT x.
	Print struct {
		diag.Span
		X Expr
	}

	// Waitfor is WAITFOR DELAY|TIME x.
	Waitfor struct {
		diag.Span
		Kind string
		X    Expr
	}

	// Transaction is BEGIN|COMMIT|ROLLBACK|SAVE TRANSACTION. Verb is one of those words. COMMIT ignores
	// its Name; that of ROLLBACK may be a savepoint, after which the transaction goes on.
	Transaction struct {
		diag.Span
		Verb string
		Name string // as written; empty if none
		Mark bool
	}

	// Exec is EXECUTE [@rc =] procedure args [WITH …].
	// Exactly one of Name, ProcVar and SQL is set.
	Exec struct {
		diag.Span
		Status     *Variable
		Name       *ObjectName // nil when ProcVar or SQL is set
		ProcVar    *Variable   // EXEC @procedure_name
		SQL        []Expr      // EXEC ('…' + @x)
		Args       []ExecArg
		ResultSets *ResultSets
		Options    []Option // RECOMPILE and others
	}

	// CursorStmt is any statement on a cursor: DECLARE c CURSOR, OPEN, FETCH, CLOSE, DEALLOCATE.
	CursorStmt struct {
		diag.Span
		Verb  string      // "DECLARE", "OPEN", "FETCH", "CLOSE", "DEALLOCATE"
		Name  string      // of the cursor, with the @ of a cursor variable
		Query *Query      // of DECLARE
		Into  []*Variable // of FETCH; without it FETCH returns a result set
	}

	// Use is USE database.
	Use struct {
		diag.Span
		Database Ident
	}

	// Other is a statement whose operands don't matter here and that sends no rows: CHECKPOINT, DBCC, KILL, REVERT,
	// EXECUTE AS, UPDATE STATISTICS, BULK INSERT and so on. Words are the leading keywords, upper case. The stages
	// after the parser refuse it where it matters.
	Other struct {
		diag.Span
		Words string
	}
)

// ExecArg is one argument of EXEC: @id = 5, @total OUTPUT, DEFAULT, or a bare word, which is a string.
type ExecArg struct {
	diag.Span
	Name   string // with the @; empty for a positional argument
	X      Expr   // a Literal of kind DefaultLiteral for DEFAULT
	Output bool
}

// ResultSets is WITH RESULT SETS. Undefined and None are its forms without definitions.
type ResultSets struct {
	diag.Span
	Undefined, None bool
	Sets            []ResultSetDef
}

// ResultSetDef is one definition: columns, or AS OBJECT name, or AS TYPE name.
type ResultSetDef struct {
	diag.Span
	Columns []ColumnDef
	Object  *ObjectName // AS OBJECT
	Type    *ObjectName // AS TYPE
}

// VarDecl is one variable of a DECLARE: @n int = 1, or @t TABLE (…).
type VarDecl struct {
	diag.Span
	Name  string    // with the @
	Type  *TypeName // nil for a table variable
	Table *TableDef // of a table variable
	Init  Expr      // nil if none: the variable is NULL
}

// Definitions.
type (
	// CreateTable is CREATE TABLE name (…), of a table in a schema or of a temporary one (#t).
	CreateTable struct {
		diag.Span
		Name    *ObjectName
		Def     *TableDef
		Options []Option // WITH (…), ON filegroup and so on
	}

	// AlterTable is ALTER TABLE. Add holds what ADD adds; every other action is in Other with its leading words
	// ("ALTER COLUMN", "DROP COLUMN", "SET", "REBUILD", "CHECK CONSTRAINT", …) and, for ALTER COLUMN, Column.
	// ALTER TABLE … DROP of columns and constraints at once is several of them.
	AlterTable struct {
		diag.Span
		Name   *ObjectName
		Add    *TableDef
		Other  string
		Column *ColumnDef // of ALTER COLUMN
		Names  []Ident    // of DROP COLUMN and DROP CONSTRAINT
	}

	// CreateIndex is CREATE [UNIQUE] [CLUSTERED|NONCLUSTERED] [COLUMNSTORE] INDEX.
	// A unique one without WHERE is a key of its table.
	CreateIndex struct {
		diag.Span
		Name        Ident
		Unique      bool
		Clustered   bool
		Columnstore bool
		Table       *ObjectName
		Columns     []IndexColumn
		Include     []Ident
		Where       Expr
		Options     []Option
	}

	// CreateType is CREATE TYPE name FROM type [NULL|NOT NULL] or AS TABLE (…).
	// From or Table is set.
	CreateType struct {
		diag.Span
		Name    *ObjectName
		From    *TypeName
		NotNull bool
		Table   *TableDef
		Options []Option
	}

	// CreateView is CREATE VIEW; OrAlter and Alter tell the forms apart here and in the next three.
	CreateView struct {
		diag.Span
		OrAlter, Alter bool
		Name           *ObjectName
		Columns        []Ident
		Query          *Query
		Options        []Option
		CheckOption    bool
	}

	// CreateFunction is CREATE FUNCTION. Exactly one of Returns (scalar), Inline (inline table) and Table (multi-
	// statement table, with its variable's name) says what it returns.
	CreateFunction struct {
		diag.Span
		OrAlter, Alter bool
		Name           *ObjectName
		Params         []*Param
		Returns        *TypeName
		Inline         *Query
		TableVariable  string
		Table          *TableDef
		Body           []Stmt // empty for an inline function
		Options        []Option
		External       bool // EXTERNAL NAME: written in another language
	}

	// CreateProcedure is CREATE PROCEDURE.
	// Body has all statements to the end of the batch.
	CreateProcedure struct {
		diag.Span
		OrAlter, Alter bool
		Name           *ObjectName
		Params         []*Param
		Options        []Option
		Body           []Stmt
		AsPos          diag.Span // the AS before the body
		External       bool
	}

	// CreateTrigger is CREATE TRIGGER; its body is parsed, so that vet sees it.
	CreateTrigger struct {
		diag.Span
		OrAlter, Alter bool
		Name           *ObjectName
		Table          *ObjectName // nil for database and server triggers
		Events         []string
		InsteadOf      bool
		Body           []Stmt
	}

	// CreateSequence is CREATE SEQUENCE name [AS type], with properties that are read over.
	CreateSequence struct {
		diag.Span
		Name *ObjectName
		Type *TypeName // nil: bigint
	}

	// CreateSynonym is CREATE SYNONYM name FOR object.
	CreateSynonym struct {
		diag.Span
		Name, For *ObjectName
	}

	// CreateSchema is CREATE SCHEMA name [AUTHORIZATION owner]. Without a name of its own it has that of the owner.
	CreateSchema struct {
		diag.Span
		Name Ident
	}

	// CreatePrincipal is CREATE ROLE|USER|LOGIN and ALTER ROLE … ADD MEMBER.
	CreatePrincipal struct {
		diag.Span
		Words string // "CREATE ROLE", "ALTER ROLE", …
		Name  Ident
	}

	// Permission is GRANT, DENY or REVOKE.
	// What it permits is the server's to check.
	Permission struct {
		diag.Span
		Verb        string
		Permissions []string // upper case
		Class       string   // OBJECT, SCHEMA, TYPE …; empty if not written
		On          *ObjectName
		To          []Ident
	}

	// Drop is DROP kind names.
	// DROP INDEX of several indexes is several of them.
	Drop struct {
		diag.Span
		Kind     string // "TABLE", "PROCEDURE", "INDEX", …
		IfExists bool
		Names    []*ObjectName
		On       *ObjectName // DROP INDEX i ON t
	}
)

func (*SelectStmt) stmt()      {}
func (*Insert) stmt()          {}
func (*Update) stmt()          {}
func (*Delete) stmt()          {}
func (*Merge) stmt()           {}
func (*Truncate) stmt()        {}
func (*Declare) stmt()         {}
func (*SetVariable) stmt()     {}
func (*SetOption) stmt()       {}
func (*If) stmt()              {}
func (*While) stmt()           {}
func (*Block) stmt()           {}
func (*TryCatch) stmt()        {}
func (*Return) stmt()          {}
func (*Break) stmt()           {}
func (*Continue) stmt()        {}
func (*Goto) stmt()            {}
func (*Label) stmt()           {}
func (*Throw) stmt()           {}
func (*Raiserror) stmt()       {}
func (*Print) stmt()           {}
func (*Waitfor) stmt()         {}
func (*Transaction) stmt()     {}
func (*Exec) stmt()            {}
func (*CursorStmt) stmt()      {}
func (*Use) stmt()             {}
func (*Other) stmt()           {}
func (*CreateTable) stmt()     {}
func (*AlterTable) stmt()      {}
func (*CreateIndex) stmt()     {}
func (*CreateType) stmt()      {}
func (*CreateView) stmt()      {}
func (*CreateFunction) stmt()  {}
func (*CreateProcedure) stmt() {}
func (*CreateTrigger) stmt()   {}
func (*CreateSequence) stmt()  {}
func (*CreateSynonym) stmt()   {}
func (*CreateSchema) stmt()    {}
func (*CreatePrincipal) stmt() {}
func (*Permission) stmt()      {}
func (*Drop) stmt()            {}

// Param is one parameter of a procedure or a function: @id int, @note nvarchar(50) = NULL, @total money OUTPUT,
// @lines dbo.order_lines READONLY.
type Param struct {
	diag.Span
	Name     string // with the @
	Type     *TypeName
	Default  Expr // nil if none
	Output   bool
	ReadOnly bool
	Varying  bool // of a cursor parameter: CURSOR VARYING OUTPUT
	NotNull  bool // of natively compiled modules
}

// TableDef is the body of CREATE TABLE, a table type, a table variable or ALTER TABLE ADD.
// Constraints written with a column are in ColumnDef.Constraint, unless they name columns of their own.
type TableDef struct {
	diag.Span
	Columns     []ColumnDef
	Constraints []Constraint
	Indexes     []IndexDef // inline INDEX
}

// ColumnDef is one column: id bigint IDENTITY NOT NULL PRIMARY KEY, or sum AS price * amount PERSISTED. A nil Type
// means a
// computed column (Computed set) or, in ALTER COLUMN, that a property is added or dropped.
type ColumnDef struct {
	diag.Span
	Name       Ident
	Type       *TypeName
	Computed   Expr
	Persisted  bool
	Null       Nullability // unsaid is not the same as NULL: see package catalog
	Identity   bool
	Default    Expr
	Collation  string
	RowGUID    bool
	Sparse     bool
	Generated  string       // GENERATED ALWAYS AS ROW START …: the words after AS
	Constraint []Constraint // PRIMARY KEY, UNIQUE, CHECK and REFERENCES written with the column
	Index      *IndexDef
}

// Nullability is what a column definition says about NULL. What it means to say nothing depends on the type and the
// keys.
type Nullability int

// The three things a definition can say.
const (
	NullUnsaid Nullability = iota
	NullAllowed
	NullRefused
)

// Constraint is a table or column constraint: CONSTRAINT pk_orders PRIMARY KEY CLUSTERED (id).
type Constraint struct {
	diag.Span
	Name       *Ident
	Kind       string        // "PRIMARY KEY", "UNIQUE", "CHECK", "FOREIGN KEY", "DEFAULT"
	Clustered  bool          // as written: a primary key is clustered too unless it says NONCLUSTERED
	Columns    []IndexColumn // empty for a column constraint
	Check      Expr
	Default    Expr
	For        *Ident      // DEFAULT x FOR column
	References *ObjectName // of FOREIGN KEY
	Options    []Option
}

// IndexDef is an inline index, INDEX ix (a, b DESC) within a table's definition, the only form in a table variable
// or type.
type IndexDef struct {
	diag.Span
	Name      Ident
	Unique    bool
	Clustered bool
	Columns   []IndexColumn
	Where     Expr
	Options   []Option
}

// IndexColumn is one key column.
type IndexColumn struct {
	diag.Span
	Name Ident
	Desc bool
}
