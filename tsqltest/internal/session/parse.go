package session

import (
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

// syntaxErrors is what is wrong with a text, in its order.
type syntaxErrors []*fault.Error

// Error returns the first.
func (l syntaxErrors) Error() string { return l[0].Error() }

// syntaxError makes errors of the parser's findings. The server's own texts name a word near which it gave up; the
// parser's say what is wrong, which helps more.
func syntaxError(found diag.List) error {
	var list syntaxErrors
	for _, d := range found {
		e := fault.New(102, "")
		if strings.HasSuffix(d.Message, "quotes or brackets is empty") {
			e = fault.New(1038) // QUOTENAME of an empty string comes to it in dynamic SQL
		}
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
