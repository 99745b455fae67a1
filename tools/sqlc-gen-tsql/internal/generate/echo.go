package generate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/internal/tsql/diag"
	"github.com/duroxide/duroxide-go/internal/tsql/syntax"
)

// tears are the places that could not be read, and with them which findings of later stages may be no more than their
// echo: a name is unknown because its definition was one of them. Only what was meant to be said once is left out; all
// findings that stand on their own are reported in the same run.
type tears struct {
	at      map[*diag.File][]diag.Span    // of the parser's findings
	scripts map[*diag.File]*syntax.Script // those that have some
	// lost says that something that defines a name may not have been read.
	lost bool
}

// definition finds where a script may define something. A comment that looks like it only makes us more careful.
var definition = regexp.MustCompile(`(?i)\b(?:create|alter)\s+(?:or\s+alter\s+)?` +
	`(?:table|view|type|function|proc|procedure|sequence|synonym)\b`)

// add takes the findings of the parser for one script. A definition is lost if the text has more of them than the parser
// understood; one that stands in another counts for both, which is on the safe side.
func (t *tears) add(script *syntax.Script, findings diag.List) {
	if len(findings) == 0 {
		return
	}
	t.scripts[script.File] = script
	for _, d := range findings {
		t.at[script.File] = append(t.at[script.File], d.Span)
	}
	defined := 0
	for _, batch := range script.Batches {
		for _, stmt := range batch.Stmts {
			switch stmt.(type) {
			case *syntax.CreateTable, *syntax.AlterTable, *syntax.CreateView, *syntax.CreateType, *syntax.CreateFunction,
				*syntax.CreateProcedure, *syntax.CreateSequence, *syntax.CreateSynonym:
				defined++
			}
		}
	}
	t.lost = t.lost || len(definition.FindAllString(script.File.Text, -1)) > defined
}

// echo reports whether a finding may come from what could not be read. In doubt it does: whoever repairs the tear runs the
// generator again and sees what is left, while a finding that is none costs the trust in all others.
func (t *tears) echo(d diag.Diagnostic) bool {
	if len(t.at) == 0 {
		return false
	}
	// A name that is unknown, or a finding about the options, which may name what was lost.
	if d.File == nil || slices.Contains([]string{"name", "catalog"}, d.Rule) {
		if t.lost {
			return true
		}
	}
	torn := t.at[d.File]
	if len(torn) == 0 {
		return false
	}
	// A directive has lost its statement; a statement that was read in part is judged when it is whole.
	return strings.Contains(d.Message, "belongs to nothing") || t.partial(d, torn)
}

// partial reports whether the statement in which a finding stands has a tear in it.
func (t *tears) partial(d diag.Diagnostic, torn []diag.Span) bool {
	for _, batch := range t.scripts[d.File].Batches {
		for _, stmt := range batch.Stmts {
			s := stmt.Range()
			if d.Span.From < s.From || d.Span.From >= s.To {
				continue
			}
			return slices.ContainsFunc(torn, func(at diag.Span) bool { return s.From <= at.From && at.From <= s.To })
		}
	}
	return false
}
