package vet

import (
	"slices"
	"sort"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// explained says whether a comment gives a reason for something: on one of its lines, directly above, or in the
// header by naming it. A directive is no reason: "vet:allow" above a hint is about another rule. Comments are in the
// order of the text, so that the first one near is found by halving; scripts with thousands of hints are generated
// ones, and they exist.
func (u *unit) explained(at diag.Span, word string) bool {
	if containsWord(strings.ReplaceAll(u.header.Text, "\n", " "), word) { // "KEEPFIXED PLAN" may be broken
		return true
	}
	line := func(p diag.Pos) int {
		n, _ := u.script.File.Position(p)
		return n
	}
	first, last, comments := line(at.From)-1, line(at.To), u.script.Comments
	near := sort.Search(len(comments), func(i int) bool { return line(comments[i].To) >= first })
	for ; near < len(comments) && line(comments[near].From) <= last; near++ {
		text := strings.TrimSpace(comments[near].Text)
		if text != "" && !strings.HasPrefix(text, "vet:") && !strings.HasPrefix(text, "gen:") {
			return true
		}
	}
	return false
}

// containsWord looks for a word without regard to case. A word ends where an identifier ends, and an identifier of
// T-SQL may hold @ and #: @lock is not the word lock.
func containsWord(text, word string) bool { return wordIndex(text, word) >= 0 }

// wordIndex returns where a word begins for the first time, -1 if it isn't there.
func wordIndex(text, word string) int {
	text, word = strings.ToLower(text), strings.ToLower(word)
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 || word == "" {
			return -1
		}
		from, to := at+i, at+i+len(word)
		if (from == 0 || !isWordByte(text[from-1])) && (to == len(text) || !isWordByte(text[to])) {
			return from
		}
		at = to
	}
}

// isWordByte says whether a byte can be part of a plain identifier. Letters beyond ASCII count as an end, which at
// worst finds a word too many.
func isWordByte(b byte) bool {
	return b == '_' || b == '@' || b == '#' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// same compares identifiers as most servers do. Where names that differ in case are different, P8 reports the
// spelling; for all other rules a name is meant whichever way it is written.
func same(a, b string) bool { return catalog.Fold(a) == catalog.Fold(b) }

// among says whether a name is in a list of an option, schema-qualified or not.
func among(list []string, name catalog.Name) bool {
	return slices.ContainsFunc(list, func(s string) bool { return same(s, name.Name) || same(s, name.String()) })
}

// head is the first line of a statement: enough to show where it stands. A statement over forty lines would be
// underlined in full by editors.
func head(u *unit, n syntax.Node) diag.Span {
	at := n.Range()
	line, _, _ := strings.Cut(u.script.File.Slice(at), "\n")
	at.To = at.From + diag.Pos(len(strings.TrimRight(line, "\r")))
	return at
}
