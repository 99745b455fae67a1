package session

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// texts remembers what was parsed, for all servers of the process: tests that deploy the same scripts on servers of
// their own parse them once. A tree is never changed.
var texts struct {
	sync.Mutex
	trees map[string]*syntax.Script
}

// maxTexts bounds how many are remembered, and maxText how long one may be.
const (
	maxTexts = 8192
	maxText  = 64 << 10
)

// parse reads a text.
func parse(file *diag.File) (*syntax.Script, diag.List) {
	texts.Lock()
	script := texts.trees[file.Text]
	texts.Unlock()
	if script != nil {
		return script, nil
	}
	script, found := syntax.Parse(file)
	if len(found) > 0 || len(file.Text) > maxText {
		return script, found
	}
	texts.Lock()
	defer texts.Unlock()
	if texts.trees == nil || len(texts.trees) >= maxTexts {
		texts.trees = map[string]*syntax.Script{}
	}
	texts.trees[file.Text] = script
	return script, nil
}

// numbers are the findings of the parser for which the server has a number of its own, by a part of their message. All
// others are 102. A batch that ends with one is refused as a whole, so the number is all that matters of them.
var numbers = []struct {
	part   string
	number int32
}{
	{"quotes or brackets is empty", 1038}, // QUOTENAME of an empty string comes to it in dynamic SQL
	{"the last statement of a function must be RETURN", 455},
	{"must be the first statement of its batch", 111},
	{"the rows of VALUES differ in length", 10709},
	{"ORDER BY in a subquery orders nothing", 1033},
	{"FETCH needs an OFFSET", 153},
	{"is NOT NULL in a module that is not natively compiled", 11555},
	{"is NOT NULL outside a natively compiled module", 156},
	{noEnd, 105},
}

// noEnd is what the parser says of a text in quotes that is not closed.
const noEnd = "that begins here has no end"

// elsewhere are the words of T-SQL that the parser gives up at.
var elsewhere = strings.Fields(`ADD AGGREGATE CHANGETABLE COMPUTE DEFAULT EXTERNAL JSON LINENO READTEXT RULE SELECTIVE
	SEMANTICKEYPHRASETABLE SEMANTICSIMILARITYDETAILSTABLE SEMANTICSIMILARITYTABLE SETUSER UPDATETEXT VECTOR WRITETEXT`)

// unsupported returns what a finding says that T-SQL has and this server has not; "" if it says something else.
func unsupported(d diag.Diagnostic) string {
	var verb, word string
	for _, format := range []string{"expected a statement, found %s", "expected a table, found %s", "expected ) to close %s ("} {
		if n, _ := fmt.Sscanf(d.Message, format, &word); n == 1 && slices.Contains(elsewhere, word) {
			return word + " is"
		}
	}
	what, _, found := strings.Cut(d.Message, "n't supported")
	_, _ = fmt.Sscanf(what, "%s %s is", &verb, &word)
	if !found || slices.Contains([]string{"CREATE", "ALTER", "DROP"}, verb) && !slices.Contains(elsewhere, word) {
		return ""
	}
	return what
}

// numberOf is the number of the server's error for a finding of the parser.
func numberOf(d diag.Diagnostic) int32 {
	var columns, values int
	switch n, _ := fmt.Sscanf(d.Message, "expected as many values as there are columns, %d, found %d", &columns, &values); {
	case n == 2 && columns > values:
		return 109
	case n == 2:
		return 110
	case strings.HasPrefix(d.Fix, "end MERGE with"):
		return 10713
	}
	for _, n := range numbers {
		if strings.Contains(d.Message, n.part) {
			return n.number
		}
	}
	return 102
}

// syntaxErrors is what is wrong with a text, in its order.
type syntaxErrors []*fault.Error

// Error returns the first.
func (l syntaxErrors) Error() string { return l[0].Error() }

// syntaxError makes errors of the parser's findings. The server's own texts name a word near which it gave up; the
// parser's say what is wrong, which helps more.
func syntaxError(found diag.List) error {
	var list syntaxErrors
	for _, d := range found {
		e := fault.New(numberOf(d), "")
		e.Message = d.Message
		what := unsupported(d)
		if what != "" {
			e = fault.New(fault.Unsupported, what+" not supported by tsqltest")
		}
		if strings.HasPrefix(what, "CREATE ") || strings.HasPrefix(what, "ALTER ") || strings.HasPrefix(what, "DROP ") {
			d.Fix = "" // another word that looks like this one
		}
		if d.Fix != "" {
			e.Message += ": " + d.Fix
		}
		if d.File != nil {
			_, column := d.File.Position(d.Span.From)
			placed(e, d.File, d.Span.From, "")
			e.Message += columnNote(column)
		}
		list = append(list, e)
	}
	return list
}
