// Package builtin knows T-SQL's built-in functions: what arguments each takes, what type a call has, when it is NULL,
// and where it may stand. It types calls and evaluates nothing; the generator's analyzer and the server's planner both
// ask it, so that what the one promises is what the other returns.
//
// The files in reading order: builtin.go has the surface, table.go the functions and system variables, argument.go the
// kinds of arguments, rules.go the types of results, dateparts.go the words that DATEADD and its like take, identity.go
// IDENTITY in SELECT … INTO, types.go the types that occur most.
//
// The facts are those of Microsoft's reference of Transact-SQL. A caller looks a call up, checks its arguments by
// [Function.Kinds], types them, and asks for [Function.Type] and [Function.Nullable]:
//
//	f, ok := builtin.Lookup(call)
//	kinds, ok := f.Kinds(len(call.Args))
//	t, err := f.Type(&builtin.Call{Syntax: call, Name: "LEFT", Args: arguments})
package builtin

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Function is a built-in function.
type Function struct {
	// args has a letter per argument, each a Kind. What follows a ? may be left out, and a final * repeats the argument
	// before it.
	args   string
	result rule
	null   nullRule
	use    Usage
}

// Usage tells functions of one row from those of many. It decides where a call may stand, and what rows its arguments
// see.
type Usage int

// The usages.
const (
	Row     Usage = iota
	Group         // an aggregate, or with OVER a window function
	Window        // only with OVER
	Grouped       // GROUPING: its argument is a grouped column
)

// Call is a call with its typed arguments.
type Call struct {
	Syntax *syntax.Call
	Name   string // upper case
	Args   []Argument
}

// Argument is what is known about an argument.
type Argument struct {
	Type     sqltype.Type // Kind Null for the literal NULL
	Nullable bool
	// Literal is the constant that the argument is, also in parentheses; nil for all else. LEFT (x, 3) has a length of
	// 3.
	Literal *syntax.Literal
}

// isNull reports the literal NULL, which has no type of its own.
func (a Argument) isNull() bool { return a.Type.Kind == sqltype.Null }

// Rows says what is known about the rows that an aggregate or a window function works on.
type Rows struct {
	Over   bool // the call has OVER
	Framed bool // ROWS or RANGE makes a part of the window that may have no row: it ends before the present one, or begins after it
	Empty  bool // without OVER: there may be no row at all, as in a query without GROUP BY
}

// rule computes the type of a call of which the arguments are known. An error is the text of a finding; the function's
// name is put in front of it if it is not in it.
type rule func(c *Call) (sqltype.Type, error)

// nullRule says when a call may be NULL.
//
// Most functions are NULL if an argument is. Those that can be NULL of values that are not (JSON_VALUE of a document
// without the path), and those that never are (COUNT, CONCAT), say so in their row.
type nullRule int

const (
	nullIfAny  nullRule = iota // when an argument is NULL
	nullIfAll                  // when all arguments are NULL
	nullAlways                 // also otherwise: for input without an answer, or in contexts where there is none
	nullNever
	nullIfFirst // when the first argument is NULL
	nullOddly   // when an argument is NULL, or is no literal and so may have no answer
	nullSized   // when an argument is NULL, or one after the first is no literal or 0: STR has no answer for such a length
	nullButLast // when an argument is NULL, except the last, which may well be
)

// ErrOrdered is the error of [Function.Type] for PERCENTILE_DISC, which has the type of what WITHIN GROUP orders by.
var ErrOrdered = errors.New("has the type of the ordered values")

// functions is all families in one.
var functions = allFunctions()

func allFunctions() map[string]Function {
	all := map[string]Function{}
	for _, family := range []map[string]Function{
		aggregateFunctions, windowFunctions, conditionalFunctions, stringFunctions, dateFunctions, mathFunctions,
		jsonFunctions, systemFunctions, securityFunctions, errorFunctions, cryptoFunctions,
	} {
		maps.Copy(all, family)
	}
	return all
}

// Names returns the names of all built-in functions, sorted.
func Names() []string { return slices.Sorted(maps.Keys(functions)) }

// Lookup returns the function that an unqualified name calls.
//
// A qualified name is that of a function of the user's, or a method: T-SQL finds no built-in under dbo.
func Lookup(c *syntax.Call) (Function, bool) {
	if len(c.Name.Parts) != 1 {
		return Function{}, false
	}
	f, ok := functions[strings.ToUpper(c.Name.Parts[0].Value)]
	return f, ok
}

// IsAggregate reports calls of aggregates.
//
// MAX (x) OVER () counts here too; that OVER keeps the rows apart is for the caller to look at.
func IsAggregate(c *syntax.Call) bool {
	f, ok := Lookup(c)
	return ok && f.use == Group
}

// Aggregates reports whether the select list, HAVING or ORDER BY aggregates: then all rows are one group. Subqueries
// aggregate for themselves, and what has OVER is no aggregate.
func Aggregates(q *syntax.Select, order []syntax.OrderItem) bool {
	found := q.Having != nil
	look := func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Query:
			return false
		case *syntax.Call:
			found = found || n.Over == nil && IsAggregate(n)
		}
		return !found
	}
	for _, item := range q.Items {
		syntax.Walk(item.X, look)
	}
	for _, item := range order {
		syntax.Walk(item.X, look)
	}
	return found
}

// Chooses reports the functions that return one of their arguments: COALESCE, ISNULL, NULLIF, IIF, CHOOSE, GREATEST and
// LEAST.
func Chooses(name string) bool {
	_, ok := conditionalFunctions[name]
	return ok
}

// Use says where calls of the function may stand.
func (f Function) Use() Usage { return f.use }

// Type returns the type of a call whose arguments all have a type. An error says why the server would refuse the call.
func (f Function) Type(c *Call) (sqltype.Type, error) {
	t, err := f.result(c)
	if err == nil {
		err = checkDatePart(c)
	}
	if err != nil && !strings.Contains(err.Error(), c.Name) {
		err = fmt.Errorf("%s: %w", c.Name, err)
	}
	return t, err
}

// Kinds returns the kind of each of n arguments, and whether the function takes so many.
func (f Function) Kinds(n int) ([]Kind, bool) {
	required, optional, _ := strings.Cut(f.args, "?")
	all := required + optional
	if repeated, ok := strings.CutSuffix(all, "*"); ok {
		all = repeated
		for len(all) < n {
			all += repeated[len(repeated)-1:]
		}
	}
	if n < len(strings.TrimSuffix(required, "*")) || n > len(all) {
		return nil, false
	}
	kinds := make([]Kind, n)
	for i := range kinds {
		kinds[i] = Kind(all[i])
	}
	return kinds, true
}

// TakesStar reports whether a function of that name is called with * for all columns: COUNT (*).
func TakesStar(name string) bool {
	switch name {
	case "COUNT", "COUNT_BIG", "CHECKSUM", "BINARY_CHECKSUM":
		return true
	default:
		return false
	}
}

// Arity returns how many arguments the function takes; most is -1 if there is no limit.
func (f Function) Arity() (least, most int) {
	required, optional, _ := strings.Cut(f.args, "?")
	least = len(strings.TrimSuffix(required, "*"))
	if strings.HasSuffix(f.args, "*") {
		return least, -1
	}
	return least, least + len(optional)
}

// Takes says in words how many arguments the function takes.
func (f Function) Takes() string {
	switch least, most := f.Arity(); {
	case most < 0:
		return "at least " + diag.Count(least, "argument")
	case least < most:
		return fmt.Sprintf("%d to %s", least, diag.Count(most, "argument"))
	default:
		return diag.Count(least, "argument")
	}
}

// Nullable reports whether a call may be NULL. Rows matters for functions of many rows.
func (f Function) Nullable(c *Call, rows Rows) bool {
	anyNull := slices.ContainsFunc(c.Args, func(a Argument) bool { return a.Nullable })
	if f.use == Group && f.null != nullNever {
		// Over values that are never NULL an aggregate is NULL only of no rows. A group has rows, and so has a window
		// that is not cut off from the present row.
		empty := rows.Empty
		if rows.Over {
			empty = rows.Framed
		}
		return f.null == nullAlways || anyNull || empty
	}
	switch f.null {
	case nullNever:
		return false
	case nullAlways:
		return nullableShift(c)
	case nullIfFirst:
		return c.Args[0].Nullable || rows.Framed
	case nullIfAll:
		return !slices.ContainsFunc(c.Args, func(a Argument) bool { return !a.Nullable })
	case nullOddly:
		return anyNull || slices.ContainsFunc(c.Args, func(a Argument) bool { return a.Literal == nil })
	case nullSized:
		return anyNull || slices.ContainsFunc(c.Args[1:], func(a Argument) bool { return a.Literal == nil }) ||
			len(c.Args) > 1 && c.Args[1].Literal.Value == "0"
	case nullButLast:
		return slices.ContainsFunc(c.Args[:len(c.Args)-1], func(a Argument) bool { return a.Nullable })
	default:
		return anyNull
	}
}

// nullableShift: LAG and LEAD have no NULL with a default that isn't, of values that aren't.
func nullableShift(c *Call) bool {
	if c.Name == "LAG" || c.Name == "LEAD" {
		return len(c.Args) < 3 || c.Args[0].Nullable || c.Args[2].Nullable
	}
	return true
}

// Fails reports whether a function of that name can fail for values that are not NULL: by an overflow or outside of its
// domain. Under SET ARITHABORT OFF and SET ANSI_WARNINGS OFF it is NULL then.
func (f Function) Fails(name string) bool {
	_, math := mathFunctions[name]
	_, date := dateFunctions[name]
	switch name {
	case "COUNT", "SUM", "AVG", "STDEV", "STDEVP", "VAR", "VARP", "STR":
		return true
	case "PI", "RAND", "SIGN", "ATAN", "ATN2", "SIN", "COS", "RADIANS", "BIT_COUNT", "LEFT_SHIFT", "RIGHT_SHIFT", "GET_BIT", "SET_BIT",
		"DATEPART", "DATENAME", "DAY", "MONTH", "YEAR", "ISDATE", "DATETRUNC":
		return false
	default:
		return math || date && f.args != ""
	}
}

// Result is the type of a system variable.
type Result struct {
	Type     sqltype.Type
	Nullable bool
}

// Variable returns what @@name is; the name is upper case, with both @. @@ROWCOUNT and @@IDENTITY are functions in
// truth, with types of their own and no declaration.
func Variable(name string) (Result, bool) {
	r, ok := systemVariables[name]
	return r, ok
}

// Variables returns the names of all system variables, sorted.
func Variables() []string { return slices.Sorted(maps.Keys(systemVariables)) }
