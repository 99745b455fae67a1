package generate

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// excludedParts are the parts of the scripts that define what is excluded. Nothing is generated for them, so that what
// is wrong in them keeps nothing else from being generated.
type excludedParts struct {
	at map[*diag.File][]excludedPart
}

// An excludedPart is a module with the comments in front of it.
type excludedPart struct {
	diag.Span
	torn bool // a part of it can't be read
}

// add takes those of one script.
func (e excludedParts) add(script *syntax.Script, excluded catalog.Names) {
	var from diag.Pos
	for _, batch := range script.Batches {
		if batch.Module != nil && excluded.HasWritten(batch.Module.Name) {
			part := excludedPart{Span: diag.Span{From: from, To: batch.To}, torn: batch.Torn}
			e.at[script.File] = append(e.at[script.File], part)
		}
		from = batch.To
	}
}

// others returns the findings that are not about what is excluded.
func (e excludedParts) others(findings diag.List) diag.List {
	return slices.DeleteFunc(findings, func(d diag.Diagnostic) bool {
		_, found := e.part(d)
		return found
	})
}

// torn reports whether a finding is about an excluded module of which a part can't be read. What a lint rule says of
// the rest may be wrong.
func (e excludedParts) torn(d diag.Diagnostic) bool {
	part, found := e.part(d)
	return found && part.torn
}

// part returns the excluded module that a finding stands in.
func (e excludedParts) part(d diag.Diagnostic) (excludedPart, bool) {
	for _, part := range e.at[d.File] {
		if part.From <= d.Span.From && d.Span.From < part.To {
			return part, true
		}
	}
	return excludedPart{}, false
}
