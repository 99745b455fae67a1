package planner

import (
	"math"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
)

// What plans are taken to cost. Costs are compared with each other within one statement and with nothing else, so their
// unit is free: 1 is the work of ten rows that stand side by side in an index with all of their columns. None of them
// is measured. They are in the proportions that let the tests of this package choose what one expects of SQL Server: a
// seek rather than a scan, an index that has all columns rather than lookups, a hash join for many rows alone.
//
// Parts are of 1, of all rows. Where SQL Server documents what it guesses without statistics, that is the source; the
// others lie between those.
const (
	// How many rows there are.

	tableRows     = 1000 // rows a table has at least: a plan that is made for an empty table is used for a full one too
	temporaryRows = 50   // rows a temporary table has at least; they are few, and a plan is seldom used again
	unknownRows   = 2    // rows of a table variable and the like; SQL Server guesses 1, which would cost nothing twice
	systemRows    = 100  // rows of a view of the system; a guess
	systemKeyRows = 5    // rows of such a view for one object; a guess
	recursiveRows = 100  // rows of a common table expression that reads itself; a guess
	topRows       = 100  // rows of TOP (@n): SQL Server's guess
	fewestRows    = 0.5  // rows that are left at least after conditions, so that what follows is not free
	fewestGoal    = 0.1  // rows that TOP leaves at least, likewise

	// Which part of the rows is left.

	firstKeyPart      = 0.02 // equality with the first column of an index: fifty different values
	nextKeyPart       = 0.05 // equality with each further column
	joinKeyPart       = 0.02 // equality of the two sides of a join, as firstKeyPart
	rangePart         = 0.1  // a range with two ends; SQL Server guesses 9 %
	boundPart         = 0.3  // a range with one end: SQL Server's guess
	notNullPart       = 0.8  // IS NOT NULL
	nullPart          = 0.2  // IS NULL
	filteredIndexPart = 0.5  // rows in a filtered index
	equalPart         = 0.1  // = without an index: SQL Server's guess
	comparedPart      = 0.4  // < and the like without an index
	otherPart         = 0.5  // any other condition
	mostPart          = 0.9  // <>, and the most that OR leaves
	groupPart         = 0.3  // groups of the rows that are grouped
	distinctPart      = 0.5  // rows that DISTINCT leaves
	startupPart       = 0.9  // of the cost: a condition that may make it needless to read any row

	// What is done costs, in units.

	seekCost      = 2    // finding the first row of a seek
	rowCost       = 0.1  // reading the next row of an index that has all columns: the unit
	narrowRowCost = 0.08 // the same of an index with some of the columns, whose rows are smaller
	lookupCost    = 1.5  // fetching the row of an index entry; less than a seek, as the upper pages are at hand
	exactCost     = 1    // fetching one row whose key is known
	madeRowCost   = 0.2  // making a row of VALUES or of a table function
	oneRowCost    = 0.1  // the one row of a SELECT without FROM
	conditionCost = 0.01 // testing a condition or computing a column for a row
	groupCost     = 0.05 // putting a row into its group
	matchCost     = 0.05 // putting a row to those of the other side in a hash or merge join
	hashCost      = 5    // making the table of a hash join, so that few rows are joined by loops
	fullCost      = 10   // a FULL JOIN, which has one way only
	sortStartCost = 1    // beginning to sort
	sortRowCost   = 0.05 // comparing two rows
	windowCost    = 0.1  // computing window functions for a row
	systemCost    = 200  // reading a view of the system: its rows are made for each query
	systemKeyCost = 10   // reading its rows for one object
	recursiveCost = 500  // a common table expression that reads itself
	unsteadyCost  = 1e30 // more than any way costs: what a dynamic cursor cannot use
)

// mostLeaves is how many tables of a join are tried in every order: the time doubles with each. More are joined
// greedily, which takes the cheapest next one. A guess.
const mostLeaves = 8

// sortedCost returns what a way costs with the sorting of its rows.
func sortedCost(x *physical) float64 {
	return x.cost + x.rows*math.Log2(x.rows+2)*sortRowCost + sortStartCost
}

// selectivity guesses which part of the rows meets a condition.
func selectivity(n *binder.Node) float64 {
	switch n.Kind {
	case binder.IsCompare:
		switch n.Name {
		case "=":
			return equalPart
		case "<>":
			return mostPart
		default:
			return comparedPart
		}
	case binder.IsNullTest:
		return nullPart
	case binder.IsNotNull:
		return notNullPart
	case binder.IsNot:
		return 1 - selectivity(n.Args[0])
	case binder.IsOr:
		sum := 0.0
		for _, a := range n.Args {
			sum += selectivity(a)
		}
		return min(sum, mostPart)
	default:
		return otherPart
	}
}
