package syntax

import "github.com/duroxide/duroxide-go/tsql/internal/diag"

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
		Cursor  *CursorName // WHERE CURRENT OF; nil if none
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
		Cursor  *CursorName
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

// CursorName names a cursor.
type CursorName struct {
	Name   string // with the @ of a cursor variable
	Global bool   // GLOBAL stands before it
}

// CursorDefinition is what a cursor is: CURSOR options FOR query.
type CursorDefinition struct {
	diag.Span
	Insensitive, Scroll bool     // the standard's words, before CURSOR
	Options             []string // T-SQL's words, after CURSOR: "LOCAL", "STATIC", …
	Query               *Query
	ReadOnly            bool    // FOR READ ONLY
	Update              bool    // FOR UPDATE
	Columns             []Ident // of FOR UPDATE OF
}

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
		// Atomic holds the options of BEGIN ATOMIC WITH (…); nil for a plain block.
		Atomic []Option
		Stmts  []Stmt
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
		// Distributed says that BEGIN DISTRIBUTED TRANSACTION is meant.
		Distributed bool
		// Delayed is COMMIT with DELAYED_DURABILITY = ON.
		Delayed bool
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
		CursorName
		Verb       string            // "DECLARE", "OPEN", "FETCH", "CLOSE", "DEALLOCATE"
		Definition *CursorDefinition // of DECLARE, which is also SET @c = CURSOR …
		Direction  string            // of FETCH: "NEXT", "PRIOR", "FIRST", "LAST", "ABSOLUTE", "RELATIVE"
		Offset     Expr              // of ABSOLUTE and RELATIVE
		Into       []*Variable       // of FETCH; without it FETCH returns a result set
	}

	// Use is USE database.
	Use struct {
		diag.Span
		Database Ident
	}

	// Other is a statement whose operands don't matter here and that sends no rows: CHECKPOINT, DBCC, KILL, REVERT,
	// EXECUTE AS, UPDATE STATISTICS, BULK INSERT and so on. Words are the leading keywords, upper case. The stages
	// after the parser refuse it where it matters. Detail is for those who execute it: what it says; nil if the parser
	// doesn't know more of it than the words.
	Other struct {
		diag.Span
		Words  string
		Detail Detail
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

func (*SelectStmt) stmt()  {}
func (*Insert) stmt()      {}
func (*Update) stmt()      {}
func (*Delete) stmt()      {}
func (*Merge) stmt()       {}
func (*Truncate) stmt()    {}
func (*Declare) stmt()     {}
func (*SetVariable) stmt() {}
func (*SetOption) stmt()   {}
func (*If) stmt()          {}
func (*While) stmt()       {}
func (*Block) stmt()       {}
func (*TryCatch) stmt()    {}
func (*Return) stmt()      {}
func (*Break) stmt()       {}
func (*Continue) stmt()    {}
func (*Goto) stmt()        {}
func (*Label) stmt()       {}
func (*Throw) stmt()       {}
func (*Raiserror) stmt()   {}
func (*Print) stmt()       {}
func (*Waitfor) stmt()     {}
func (*Transaction) stmt() {}
func (*Exec) stmt()        {}
func (*CursorStmt) stmt()  {}
func (*Use) stmt()         {}
func (*Other) stmt()       {}
