package session

import (
	"fmt"
	"strings"
	"sync"

	"github.com/duroxide/duroxide-go/internal/tsql/diag"
	"github.com/duroxide/duroxide-go/internal/tsql/syntax"
	"github.com/duroxide/duroxide-go/tsqltest/internal/fault"
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
	{noEnd, 105},
}

// noEnd is what the parser says of a text in quotes that is not closed.
const noEnd = "that begins here has no end"

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
