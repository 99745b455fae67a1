// Package duroxidevet finds code in orchestration functions that a replay would not repeat: clocks,
// random numbers, goroutines, channels, the order of maps, variables that outlive a run, I/O, and contexts
// that are used where they must not be.
//
// An orchestration function is any function or function literal with a parameter of type
// *orchestration.Context, and whatever it calls. Functions of other packages are known by facts, so a call
// of a helper that reads the clock three packages away is found where the orchestration makes it.
//
// It does not see through interfaces, through functions in fields and variables that are assigned more than
// once, and into code that is not Go. A comment
//
//	//duroxide:deterministic the rate is fixed for each release
//
// says that code is deterministic for a reason that the analyser does not see. It stands on the line, above
// it, or in the comment of a function, a declaration or the package, and the reason must be given.
//
// docs/duroxidevet.md shows each finding with bad and good code.
package duroxidevet

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Analyzer is the check as every driver of go/analysis takes it: go vet by the command duroxidevet,
// golangci-lint by the package golangci beside this one.
var Analyzer = &analysis.Analyzer{
	Name: "duroxidevet",
	Doc: "find code in orchestration functions that a replay does not repeat\n\n" +
		"The analyser reports clocks, random numbers, goroutines, channels, locks, map order, mutable\n" +
		"variables, I/O, misused contexts and calls that reach one of them. The comment\n" +
		"//duroxide:deterministic with a reason accepts what the analyser cannot judge.",
	URL:       "https://github.com/duroxide/duroxide-go/blob/main/docs/duroxidevet.md",
	Run:       run,
	FactTypes: []analysis.Fact{new(hazardFact), new(schedulesFact), new(activityFact), new(mutableFact)},
}

// The packages of the library that the analyser knows by name. It does not import them.
const (
	library       = "github.com/duroxide/duroxide-go"
	orchestration = library + "/orchestration"
	retrying      = library + "/retry"
	activity      = library + "/activity"
)

func run(pass *analysis.Pass) (any, error) {
	if ours(pass.Pkg.Path()) || standard(pass) {
		return nil, nil
	}
	c := &checker{Pass: pass}
	c.readDirectives()
	if c.trustsPackage {
		return nil, nil
	}
	c.findActivities()
	c.findWrites()
	c.collect()
	c.spread()
	c.report()
	return nil, nil
}

// ours are the packages that orchestrations are made of. What they do is recorded.
func ours(path string) bool {
	return path == orchestration || path == activity || path == library+"/failure" || strings.HasPrefix(path, library+"/internal/")
}

// standard reports whether the package belongs to Go. What its functions do is in a table, so that facts
// about them are not computed.
func standard(pass *analysis.Pass) bool {
	if pass.Module != nil && pass.Module.Path != "" && pass.Module.Path != "std" {
		return false
	}
	first, _, _ := strings.Cut(pass.Pkg.Path(), "/")
	return !strings.Contains(first, ".") && first != "command-line-arguments" && pass.Pkg.Name() != "main"
}

// checker is the analysis of one package.
type checker struct {
	*analysis.Pass

	trustsPackage bool
	trusted       []span
	trustedLines  map[line]bool

	// activities are the functions that activity.New was given, with the name of the definition if one variable
	// holds it.
	activities map[types.Object]string
	// roots are the functions that orchestration.New was given.
	roots map[types.Object]bool
	// writes are the variables of packages that are written after they were declared, and where.
	writes map[types.Object]token.Pos
	// methods are those of this package that write their receiver.
	methods map[types.Object]bool

	functions []*function
	// byObject finds a function by what it is called through.
	byObject map[types.Object]*function
}

// span is a piece of source.
type span struct{ pos, end token.Pos }

func (s span) holds(pos token.Pos) bool { return s.pos <= pos && pos < s.end }

type line struct {
	file string
	line int
}
