// Package function has T-SQL's built-in functions: scalar functions, aggregates, window functions and JSON.
//
// What a function takes and what type its calls have, package builtin of the front end says. This package evaluates.
// The planner binds a call once ([Bind], [BindAggregate], [BindWindow]) and evaluates it for each row or group.
//
// The files in reading order: function.go and bind.go have the surface, elsewhere.go the functions that are not here.
// string*.go, match.go, format*.go, message.go, date*.go, zone*.go, math*.go, system.go and hash.go are scalar
// functions by family; json_*.go is JSON, from the scanner (json_scan.go) to OPENJSON (json_open.go) and FOR JSON
// (json_for.go); aggregate*.go are aggregates, window*.go and frame.go what OVER makes of rows.
package function

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Environment is what functions need of the session that evaluates them.
type Environment interface {
	// Now is the server's clock, UTC. A statement sees one time.
	Now() time.Time
	// Option is the value of a SET option; functions ask for DATEFIRST, which is 7 if the option is empty.
	Option(name string) string
	// Random returns 64 random bits of the server's source, so that a seed repeats them.
	Random() uint64
}

// Argument is an argument of a call as the planner has typed it.
type Argument struct {
	Type     value.Type // of the literal NULL, of kind sqltype.Null
	Nullable bool
	Literal  *syntax.Literal // the constant that the argument is, also in parentheses; else nil
	Expr     syntax.Expr     // words such as DAY are read off it, and whether the argument is JSON; may be nil
}

// known is the argument as package builtin sees it.
func (a Argument) known() builtin.Argument {
	return builtin.Argument{Type: a.Type.Type, Nullable: a.Nullable, Literal: a.Literal}
}

// Eval evaluates a call. Each argument is NULL or of the type that Bound.Args says.
type Eval func(env Environment, args []value.Value) (value.Value, error)

// Bound is a call of a scalar function that is ready to be evaluated.
type Bound struct {
	Type     value.Type
	Nullable bool
	// Args has for each argument the type to which the planner converts it implicitly. The kind Invalid leaves the
	// argument as it is. Words such as DAY are arguments too: nothing looks at their values, which may be NULL.
	Args []value.Type
	// Deterministic says that the same arguments always yield the same value.
	Deterministic bool
	// Once says of a function that is not deterministic that the same arguments yield the same value throughout a
	// statement: GETDATE and its like, RAND, and what depends on SET DATEFIRST. NEWID is new in each row.
	Once bool
	Eval Eval
}

// UnsupportedError says that T-SQL has the function and this server has not. The planner knows the place.
type UnsupportedError struct{ What string }

func (e *UnsupportedError) Error() string { return e.What + " is not supported" }

// unsupported returns an UnsupportedError.
func unsupported(format string, args ...any) error {
	return &UnsupportedError{What: fmt.Sprintf(format, args...)}
}

// scalars are the scalar functions of all families.
var scalars = allScalars()

func allScalars() map[string]binder {
	all := map[string]binder{}
	for _, family := range []map[string]binder{
		stringFunctions, searchFunctions, textFunctions, dateFunctions, partsFunctions, clockFunctions, mathFunctions, bitFunctions,
		jsonFunctions, systemFunctions, hashFunctions,
	} {
		maps.Copy(all, family)
	}
	return all
}

// Bind prepares a call of a scalar function. The keys of JSON_OBJECT, which are in Call.Keys, follow the arguments. Its
// errors are a *fault.Error, which the server raises when it compiles
// the call, or an *UnsupportedError, also for the functions of [Lazy] and [OfSession], which are the planner's.
func Bind(call *syntax.Call, args []Argument) (*Bound, error) {
	c, err := check(call, args)
	if err != nil {
		return nil, err
	}
	bind, ok := scalars[c.name]
	if !ok {
		return nil, unsupported("%s", c.name)
	}
	b, err := bind(c)
	if err != nil {
		return nil, err
	}
	if b.Type.Kind == "" {
		b.Type = c.result
	}
	b.Nullable = b.Nullable || c.function.Nullable(c.known, builtin.Rows{})
	for len(b.Args) < len(args) {
		b.Args = append(b.Args, value.Type{})
	}
	return b, nil
}

// Scalars returns the names of all functions that [Bind] binds, sorted.
func Scalars() []string { return slices.Sorted(maps.Keys(scalars)) }

// nameOf returns the name of an unqualified call in upper case.
func nameOf(call *syntax.Call) string {
	return strings.ToUpper(call.Name.Last().Value)
}
