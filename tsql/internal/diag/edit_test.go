package diag_test

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// TestEditedFile underlines words of the text that is read, and shows what is underlined in the source. Edits are
// written {source|text} in what follows.
func TestEditedFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		written, word string // the word in the text
		want          string // what is underlined, and its line and column
	}{
		"in front":         {"SELECT {$(x)|12345}, nme", "SELECT", "1:1 SELECT"},
		"behind":           {"SELECT {$(x)|12345}, nme", "nme", "1:14 nme"},
		"the same":         {"SELECT {$(x)|12345}, nme", "12345", "1:8 $(x)"},
		"a part of it":     {"SELECT {$(x)|a, bad}, nme", "bad", "1:8 $(x)"},
		"begins with it":   {"FROM {<o>|dbo.}t WHERE", "dbo.t", "1:6 <o>t"},
		"behind a prefix":  {"FROM {<o>|dbo.}t WHERE", "t WHERE", "1:9 t WHERE"},
		"ends with it":     {"FROM t{<o>|_x} WHERE", "t_x", "1:6 t<o>"},
		"in front of it":   {"FROM dbo.{<o>|t} WHERE", "dbo.", "1:6 dbo."},
		"nothing in front": {"FROM dbo.{<o>|}{<p>|}t WHERE", "t WHERE", "1:10 <o><p>t WHERE"},
		"nothing behind":   {"FROM t{<o>|} WHERE", "t", "1:6 t<o>"},
		"around it":        {"a {<o>|1}{<p>|22} b", "a 122 b", "1:1 a <o><p> b"},
		"another line":     {"a\n{:x|}\nb {<o>|1\n2} c\nd e", "e", "4:3 e"},
		"behind lines":     {"a {<o>|1\n2} c", "c", "1:7 c"},
		"letters":          {"ä {<ö>|ü} ß", "ß", "1:7 ß"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var source strings.Builder
			var edits []diag.Edit
			for rest := c.written; rest != ""; {
				before, after, more := strings.Cut(rest, "{")
				source.WriteString(before)
				rest = after
				if !more {
					break
				}
				edit, after, _ := strings.Cut(rest, "}")
				old, text, _ := strings.Cut(edit, "|")
				from := diag.Pos(source.Len())
				source.WriteString(old)
				edits = append(edits, diag.Edit{At: diag.Span{From: from, To: diag.Pos(source.Len())}, Text: text})
				rest = after
			}
			file, places := diag.NewEditedFile("a.sql", source.String(), edits)
			for i, at := range places {
				if file.Slice(at) != edits[i].Text {
					t.Errorf("edit %d stands at %q", i, file.Slice(at))
				}
			}
			from := strings.LastIndex(file.Text, c.word)
			var found diag.List
			found.Add(file, diag.Span{From: diag.Pos(from), To: diag.Pos(from + len(c.word))}, "test", "", "wrong")
			lines := strings.Split(found.Format(), "\n")
			shown, carets := []rune(lines[1][8:]), []rune(lines[2][8:])
			first := strings.IndexByte(lines[2][8:], '^')
			got := strings.TrimPrefix(strings.TrimSuffix(lines[0], ": wrong (test)"), "a.sql:") + " " + string(shown[first:len(carets)])
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
