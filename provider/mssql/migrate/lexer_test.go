package migrate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// significantTexts returns the tokens that are neither white space nor comments.
func significantTexts(source string) []string {
	var texts []string
	for _, t := range statements(tokens(source)) {
		texts = append(texts, t.text)
	}
	return texts
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, source string
		want         []string
	}{
		{"words and symbols", "SELECT a.b+1,@x;", []string{"SELECT", "a", ".", "b", "+", "1", ",", "@x", ";"}},
		{"literals", "'it''s' N'ü' n'' 'a--b' '/*'", []string{"'it''s'", "N'ü'", "n''", "'a--b'", "'/*'"}},
		{"a word that ends in N", "xN'a'", []string{"xN", "'a'"}},
		{"delimited identifiers", `[a]]b] "c""d" [e'f] "g--h"`, []string{"[a]]b]", `"c""d"`, "[e'f]", `"g--h"`}},
		{"line comment", "a --'b\nc", []string{"a", "c"}},
		{"nested comment", "a /* b /* c */ ' */ d", []string{"a", "d"}},
		{"words beyond ASCII", "größe #t ##u $v", []string{"größe", "#t", "##u", "$v"}},
		{"a division and a minus", "a/b-c", []string{"a", "/", "b", "-", "c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, significantTexts(c.source)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTokensThatDoNotEnd(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"'a", "N'a''", "[a", `"a`, "/* a /* b */", "[", "'"} {
		list := tokens("x\n" + source)
		last := list[len(list)-1]
		if !last.open || last.line != 2 || last.text != source {
			t.Errorf("%q: last token %+v should be open, on line 2", source, last)
		}
	}
}

// describe writes batches as line:text, with the count if there is one.
func describe(batches []Batch) []string {
	var list []string
	for _, b := range batches {
		list = append(list, strings.Repeat("|", b.Repeat)+strings.TrimSpace(b.Text))
	}
	return list
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, source string
		want         []string
	}{
		{"none", "SELECT 1", []string{"|SELECT 1"}},
		{"two", "SELECT 1\nGO\nSELECT 2\n", []string{"|SELECT 1", "|SELECT 2"}},
		{"any case, blanks, Windows lines", "a\r\n\t go \r\nb\r\nGo", []string{"|a", "|b"}},
		{"count", "a\nGO 3\nb", []string{"|||a", "|b"}},
		{"empty batches", "GO\n-- nothing\nGO 2\n\ngo\na", []string{"|a"}},
		{"in a literal", "a '\nGO\n' b", []string{"|a '\nGO\n' b"}},
		{"in a comment", "a /*\nGO\n*/ b", []string{"|a /*\nGO\n*/ b"}},
		{"in an identifier", "a [\nGO\n] b", []string{"|a [\nGO\n] b"}},
		{"not alone", "a\nGO b\nGOTO c\nx GO\nGO;", []string{"|a\nGO b\nGOTO c\nx GO\nGO;"}},
		{"after a line comment with a quote", "a -- it's\nGO\nb", []string{"|a -- it's", "|b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, describe(split(c.source))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSplitCountsLines(t *testing.T) {
	t.Parallel()
	var lines []int
	for _, b := range split("a\n\nGO\n-- c\nb '\n\n'\nGO 2\nc") {
		lines = append(lines, b.Line)
	}
	if diff := cmp.Diff([]int{1, 4, 9}, lines); diff != "" {
		t.Error(diff)
	}
}
