package analyze

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// The ids of the findings of this part of the package.
const (
	ruleType = "type" // a type that does not fit, or that is not known
	ruleName = "name" // a name that stands for nothing, or for several things
)

// analyzer types queries and expressions against a catalog. What it finds wrong goes to found; results that depend on
// something wrong are [sqltype.Invalid] and cause no further findings.
//
// One mistake is to be one finding: SELECT nme + 1 AS a reports the column and neither the addition nor the result
// set.
type analyzer struct {
	cat   *catalog.Catalog
	found *diag.List // where findings go at present
	// Kept apart because found is replaced while something is tried out, and definitions that are first met then must
	// report all the same.
	root *diag.List // where they are reported

	// relations holds what views and table functions return, computed at first use; a nil entry is being computed, so
	// that meeting one means a definition that uses itself.
	relations map[read]*relation
	// tables says which tables have had their computed columns typed.
	tables map[*catalog.Table]bool
	// ansi tells whether a comparison can hold for NULL.
	ansi ansiSettings
	// except lists the modules that are excluded: what is wrong in them is no finding, but makes them unknown.
	except catalog.Names
	// names is told what names stand for; nil if nobody asks.
	names *Names
}

// read is an object that is read, and whether arithmetic that fails yields NULL in it.
type read struct {
	object  catalog.Object
	lenient bool
}

// newAnalyzer returns an analyzer that reports to found.
//
// It serves for one Analyze: what it remembers about views and computed columns is worth keeping only as long as the
// catalog is the same.
func newAnalyzer(cat *catalog.Catalog, found *diag.List, except catalog.Names) *analyzer {
	return &analyzer{
		cat:       cat,
		except:    except,
		found:     found,
		root:      found,
		relations: map[read]*relation{},
		tables:    map[*catalog.Table]bool{},
	}
}

// relation is what a table, a view, a function or a query yields, for those that read it.
//
// A view is typed once and read in many queries, so that a relation is never changed: who needs other nullabilities
// takes a copy of the columns.
type relation struct {
	columns []Column
	hidden  []bool      // of the columns that * leaves out; shorter than columns if there are none
	keys    [][]string  // each a set of columns that no two rows share
	params  []*inferred // of the columns that are parameters without a type so far; shorter than columns if there are none
	rows    Cardinality
	// changed is the last change of what * has read: the columns are those after it.
	changed *catalog.Change
	bad     bool // a finding has been reported: an unknown column is no second one
	// unknown says that it is of an excluded module that can't be typed. No finding has been reported: who reads it
	// does.
	unknown bool
}

// hides reports whether * leaves a column out.
func (r *relation) hides(i int) bool { return i < len(r.hidden) && r.hidden[i] }

// column returns the index of the column of that name, or -1.
func (r *relation) column(name string) int {
	return slices.IndexFunc(r.columns, func(c Column) bool { return same(c.Name, name) })
}

// same reports whether two names mean the same thing.
//
// The server goes by the collation of the database. A case-sensitive one may have both Id and id, which the generator
// would not tell apart; Go names made of them would clash anyway.
func same(a, b string) bool { return strings.EqualFold(a, b) }

// quietly runs f and returns its findings instead of reporting them.
//
// Typing has effects other than findings: parameters of an annotated query learn their types, variables become known.
// Those remain.
func (a *analyzer) quietly(f func()) diag.List {
	outer := a.found
	var found diag.List
	a.found = &found
	defer func() { a.found = outer }()
	f()
	return found
}

// fail reports a type error and returns the type that stands for it.
func (a *analyzer) fail(e *env, at diag.Span, fix, format string, args ...any) typed {
	a.found.Add(e.file, at, ruleType, fix, format, args...)
	return typed{}
}

// failName reports an unknown or ambiguous name and returns the type that stands for it.
func (a *analyzer) failName(e *env, at diag.Span, fix, format string, args ...any) typed {
	a.found.Add(e.file, at, ruleName, fix, format, args...)
	return typed{}
}

// failGap is failName for what the generator doesn't know though the server may.
//
// The mark is what gen:columns goes by: a gap can be filled by saying what the columns are, a mistake cannot.
func (a *analyzer) failGap(e *env, at diag.Span, fix, format string, args ...any) typed {
	a.failName(e, at, fix, format, args...)
	(*a.found)[len(*a.found)-1].Gap = true
	return typed{}
}

// failServer is failGap for names of the server's own.
func (a *analyzer) failServer(e *env, at diag.Span, fix, format string, args ...any) typed {
	a.failGap(e, at, fix, format, args...)
	(*a.found)[len(*a.found)-1].Server = true
	return typed{}
}

// unsent runs what sends nothing. Names of the server that the generator doesn't know don't matter there.
func (a *analyzer) unsent(f func()) {
	*a.found = append(*a.found, withoutServer(a.quietly(f))...)
}

// withoutServer returns the findings that are not about names of the server.
func withoutServer(found diag.List) diag.List {
	return slices.DeleteFunc(found, func(d diag.Diagnostic) bool { return d.Server })
}

// meant lets the last finding say what a misspelt name may have meant, and returns the type of what is wrong.
func (a *analyzer) meant(name string, candidates func() []string) typed {
	a.found.Meant(func() string {
		if near := diag.Nearest(name, candidates()); near != "" && near != name {
			return "did you mean " + near + "?"
		}
		return ""
	})
	return typed{}
}

// meantObject is meant for the name of an object; more follows the question.
func (a *analyzer) meantObject(name catalog.Name, more ...string) typed {
	a.found.Meant(func() string {
		if near := a.cat.Nearest(name); near != "" {
			return "did you mean " + near + "?" + strings.Join(more, "")
		}
		return ""
	})
	return typed{}
}

// typed is what is known about an expression. The zero value stands for one about which a finding has been reported.
//
// A literal is kept because T-SQL treats some by their value: an int literal beside a decimal counts with the digits
// that it has, and the length of LEFT (x, 3) is 3.
type typed struct {
	Type     sqltype.Type
	Nullable bool
	// literal is the constant that the expression is, if it is one.
	literal *syntax.Literal
	// param is the annotated query's parameter that the expression is, if its type is not known yet.
	param *inferred
	// origin is the column of a table that the expression is; nil for any other.
	origin *catalog.Column
}

// bad says that a finding has been reported, or that the expression is a parameter without a type so far.
func (t typed) bad() bool { return t.Type.Kind == sqltype.Invalid }

// isNull reports the literal NULL, which has no type of its own.
func (t typed) isNull() bool { return t.Type.Kind == sqltype.Null }

// known is what package builtin asks about an argument.
func (t typed) known() builtin.Argument {
	return builtin.Argument{Type: t.Type, Nullable: t.Nullable, Literal: t.literal}
}

// The types that statements yield most often.
var (
	typeInt         = sqltype.Type{Kind: sqltype.Int}
	typeBigInt      = sqltype.Type{Kind: sqltype.BigInt}
	typeTinyInt     = sqltype.Type{Kind: sqltype.TinyInt}
	typeBit         = sqltype.Type{Kind: sqltype.Bit}
	typeFloat       = sqltype.Type{Kind: sqltype.Float}
	typeXML         = sqltype.Type{Kind: sqltype.XML}
	typeNVarCharMax = nvarchar(sqltype.Max)
	typeSysname     = nvarchar(128)
)

func nvarchar(n int) sqltype.Type { return sqltype.Type{Kind: sqltype.NVarChar, Length: n} }
func varchar(n int) sqltype.Type  { return sqltype.Type{Kind: sqltype.VarChar, Length: n} }
