package generate

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// tears are the places that could not be read, and with them which findings of later stages may be no more than their
// echo: a name is unknown because its definition was one of them. Only what was meant to be said once is left out; all
// findings that stand on their own are reported in the same run.
type tears struct {
	scripts map[*diag.File]*syntax.Script
	at      map[*diag.File][]diag.Span // of the parser's findings, and of placeholders without a value
	// lost has the names, folded, of what may not have been read; of one in several words the first.
	lost map[string]bool
	// mentions remembers of statements whether they name something lost.
	mentions map[syntax.Stmt]bool
	// unnamed says that names are not known, since they have placeholders in them.
	unnamed bool
}

func newTears() tears {
	return tears{
		scripts: map[*diag.File]*syntax.Script{}, at: map[*diag.File][]diag.Span{},
		lost: map[string]bool{}, mentions: map[syntax.Stmt]bool{},
	}
}

// definition finds where a script may define something, and its name. A comment that looks like it only makes us more
// careful.
var definition = regexp.MustCompile(`(?i)\b(?:create|alter)\s+(?:or\s+alter\s+)?` +
	`(?:table|view|type|function|proc|procedure|sequence|synonym)\s+` +
	`((?:\[[^\]]*\]|"[^"]*"|[\w#$@]*)(?:\s*\.\s*(?:\[[^\]]*\]|"[^"]*"|[\w#$@]+))*)`)

// add takes the findings of the parser for one script, and where its placeholders have no value. It returns the
// findings without those that come of such a placeholder.
func (t *tears) add(script *syntax.Script, findings diag.List, gaps []diag.Span) diag.List {
	t.scripts[script.File] = script
	filled := map[int]bool{} // the batches that can be judged only when there is a value
	for _, gap := range gaps {
		filled[batchAt(script, gap.From)] = true
	}
	findings = slices.DeleteFunc(findings, func(d diag.Diagnostic) bool { return filled[batchAt(script, d.Span.From)] })
	t.unnamed = t.unnamed || len(gaps) > 0
	t.at[script.File] = slices.Clone(gaps)
	for _, d := range findings {
		t.at[script.File] = append(t.at[script.File], d.Span)
	}
	if len(findings) > 0 {
		t.lose(script)
	}
	return findings
}

// batchAt returns a number that is the same for all places of a batch. Batches of which nothing could be read are not
// in the script: those that stand between two others have one number.
func batchAt(script *syntax.Script, p diag.Pos) int {
	for i, b := range script.Batches {
		switch {
		case p < b.From:
			return 2 * i
		case p <= b.To:
			return 2*i + 1
		}
	}
	return 2 * len(script.Batches)
}

// contains reports whether a place is in a span or at its end.
func contains(s diag.Span, p diag.Pos) bool { return s.From <= p && p <= s.To }

// lose notes the names of what a script defines and the parser has not understood.
func (t *tears) lose(script *syntax.Script) {
	understood := map[diag.Pos]bool{}
	for stmt := range syntax.All[syntax.Stmt](script) {
		switch stmt.(type) {
		case *syntax.CreateTable, *syntax.AlterTable, *syntax.CreateView, *syntax.CreateType, *syntax.CreateFunction,
			*syntax.CreateProcedure, *syntax.CreateSequence, *syntax.CreateSynonym:
			understood[stmt.Range().From] = true
		}
	}
	for _, m := range definition.FindAllStringSubmatchIndex(script.File.Text, -1) {
		name := script.File.Text[m[2]:m[3]]
		if understood[diag.Pos(m[0])] {
			continue
		}
		for w := range words(name[strings.LastIndexByte(name, '.')+1:]) {
			t.lost[strings.ToLower(w)] = true
			break
		}
	}
}

// echo reports whether a finding may come from what could not be read. In doubt it does: whoever repairs the tear runs
// the generator again and sees what is left, while a finding that is none costs the trust in all others.
func (t *tears) echo(d diag.Diagnostic) bool {
	// A name that is unknown, or a finding about the options, which may name what was lost.
	if d.File == nil || slices.Contains([]string{"name", "catalog", "exec"}, d.Rule) {
		if t.unnamed && (d.File == nil || d.Meant != nil || d.Rule == "catalog") || t.mentionsLost(d) {
			return true
		}
	}
	torn := t.at[d.File]
	if len(torn) == 0 {
		return false
	}
	// A directive has lost its statement; a statement that was read in part is judged when it is whole.
	if strings.Contains(d.Message, "belongs to nothing") {
		return true
	}
	stmt := t.statement(d)
	return stmt != nil && slices.ContainsFunc(torn, func(at diag.Span) bool { return contains(stmt.Range(), at.From) })
}

// mentionsLost reports whether something lost is named in the statement in which a finding stands, or in its message.
func (t *tears) mentionsLost(d diag.Diagnostic) bool {
	if len(t.lost) == 0 {
		return false
	}
	stmt := t.statement(d)
	if stmt == nil {
		return t.namesLost(d.Message)
	}
	mentions, known := t.mentions[stmt]
	if !known {
		mentions = t.namesLost(d.File.Slice(stmt.Range()))
		t.mentions[stmt] = mentions
	}
	return mentions
}

// words yields what may be names, or parts of one with a blank in it.
func words(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_#@$", r)
	})
}

// namesLost reports whether a text has a name of something lost in it.
func (t *tears) namesLost(text string) bool {
	for w := range words(text) {
		if t.lost[strings.ToLower(w)] {
			return true
		}
	}
	return false
}

// statement returns the statement of a batch in which a finding stands; nil if it stands in none.
func (t *tears) statement(d diag.Diagnostic) syntax.Stmt {
	script := t.scripts[d.File]
	if script == nil {
		return nil
	}
	for _, batch := range script.Batches {
		for _, stmt := range batch.Stmts {
			if s := stmt.Range(); s.From <= d.Span.From && d.Span.From < s.To {
				return stmt
			}
		}
	}
	return nil
}
