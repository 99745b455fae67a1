package syntax

import "github.com/duroxide/duroxide-go/tsql/internal/diag"

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
		Distinct    bool   // COUNT(DISTINCT x)
		Star        bool   // COUNT(*)
		Args        []Expr `walk:"Keys"`
		NoParens    bool
		WithinGroup []OrderItem // STRING_AGG(…) WITHIN GROUP (ORDER BY …)
		Nulls       string      // "IGNORE NULLS", "RESPECT NULLS" or ""
		Over        *Window
		// JSON functions only: "NULL ON NULL" / "ABSENT ON NULL"
		JSONNulls string
		// Keys of JSON_OBJECT('k': v): as many as Args; nil otherwise
		Keys []Expr `walk:"-"`
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

	// Method is a method of an xml value: x.value(…), x.query(…), x.exist(…), x.nodes(…) in a [NodesTable], x.modify(…)
	// in SET; or one of a CLR type, of a value or of the type, or a property: hierarchyid::GetRoot(), @place.Lat.
	Method struct {
		diag.Span
		X    Expr   // nil if it is of the type
		Type *Ident // nil if it is of a value
		Name Ident
		Args []Expr
		// Property says that it is a property, which has no parentheses.
		Property bool
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
func (*Method) expr()         {}
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

// Last returns the part that names the column itself.
func (c *ColumnRef) Last() Ident { return c.Parts[len(c.Parts)-1] }

// Conjuncts splits a condition at its ANDs, each of which must hold. Parentheses around the parts are gone; a missing
// condition has none.
func Conjuncts(x Expr) []Expr {
	x = Unparen(x)
	if x == nil {
		return nil
	}
	if l, ok := x.(*Logical); ok && l.Op == "AND" {
		return append(Conjuncts(l.X), Conjuncts(l.Y)...)
	}
	return []Expr{x}
}
