package diag_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 columns", 1: "1 column", 2: "2 columns"} {
		if got := diag.Count(n, "column"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestPosition finds a mark, «, in texts with all that makes bytes, characters and columns differ.
func TestPosition(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text         string // with the mark, which is taken out
		line, column int
	}{
		"empty":                        {"«", 1, 1},
		"the beginning":                {"«SELECT 1", 1, 1},
		"the end":                      {"SELECT 1«", 1, 9},
		"the line feed itself":         {"ab«\ncd", 1, 3},
		"behind a line feed":           {"ab\n«cd", 2, 1},
		"behind the last line feed":    {"ab\n«", 2, 1},
		"CRLF":                         {"ab\r\ncd\r\ne«f", 3, 2},
		"between CR and LF":            {"ab\r«\ncd", 1, 4},
		"a lone CR is no line end":     {"ab\rc«d", 1, 5},
		"a tab is one column":          {"\t\ta«b", 1, 4},
		"characters of several bytes":  {"-- é世😀«x", 1, 7},
		"bytes that are no characters": {"\xff\xfe«x", 1, 3},
		"a byte order mark":            {"\ufeffa«b", 1, 2},
		"an empty line":                {"a\n«\nb", 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after, _ := strings.Cut(c.text, "«")
			f := diag.NewFile("a.sql", before+after)
			at := diag.Pos(len(f.Text) - len(after))
			if line, column := f.Position(at); line != c.line || column != c.column {
				t.Errorf("got %d:%d, want %d:%d", line, column, c.line, c.column)
			}
		})
	}
}

// TestPositionOutside checks that a place that isn't in the text is moved to its nearest end.
func TestPositionOutside(t *testing.T) {
	t.Parallel()
	f := diag.NewFile("a.sql", "ab\nc")
	for _, c := range []struct {
		at           diag.Pos
		line, column int
	}{{-1, 1, 1}, {4, 2, 2}, {5, 2, 2}, {1000, 2, 2}} {
		if line, column := f.Position(c.at); line != c.line || column != c.column {
			t.Errorf("%d: got %d:%d, want %d:%d", c.at, line, column, c.line, c.column)
		}
	}
}

// TestLine checks that a line comes without its end, whichever that is.
func TestLine(t *testing.T) {
	t.Parallel()
	f := diag.NewFile("a.sql", "\ufefflf\ncrlf\r\n\r\nc\rr\nend")
	for i, want := range []string{"lf", "crlf", "", "c\rr", "end"} {
		if got := f.Line(i + 1); got != want {
			t.Errorf("line %d is %q, want %q", i+1, got, want)
		}
	}
	if got := diag.NewFile("a.sql", "a\n").Line(2); got != "" {
		t.Errorf("the line behind the last line feed is %q", got)
	}
}

// TestSpans checks how spans are put together and what text they have.
func TestSpans(t *testing.T) {
	t.Parallel()
	f := diag.NewFile("a.sql", "SELECT é FROM t")
	s := diag.Span{From: 7, To: 9}.Until(diag.Span{From: 10, To: 14})
	if got := f.Slice(s); s.Range() != s || got != "é FROM" {
		t.Errorf("got %q of %v", got, s)
	}
}

// TestExcerpt checks the two lines below a message. The span is what stands between « and »; of an excerpt the margin
// is cut off, so that the carets can be compared with the text above them.
func TestExcerpt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200)
	for name, c := range map[string]struct {
		text, line, carets string
	}{
		"a word":                 {"SELECT «a» FROM t", "SELECT a FROM t", "       ^"},
		"several characters":     {"SELECT «abc»", "SELECT abc", "       ^^^"},
		"an empty span":          {"SELECT «»a", "SELECT a", "       ^"},
		"the end of a line":      {"SELECT«»\nFROM t", "SELECT", "      ^"},
		"the end of a CRLF line": {"SELECT«»\r\nFROM t", "SELECT", "      ^"},
		"the CRLF itself":        {"SELECT«\r\n»FROM t", "SELECT", "      ^"},
		"the LF of a CRLF":       {"SELECT\r«\n»FROM t", "SELECT", "      ^"},
		"the end of the file":    {"SELECT«»", "SELECT", "      ^"},
		"nothing at all":         {"«»", "", "^"},
		"tabs stay tabs":         {"\tSELECT\t«a»", "\tSELECT\ta", "\t      \t^"},
		"a tab inside":           {"«a\tb»", "a\tb", "^^^"},
		"several bytes":          {"-- é世 «😀é»", "-- é世 😀é", "      ^^"},
		"several lines":          {"IF «@a = 1\n  SELECT 1» ELSE", "IF @a = 1", "   ^^^^^^"},
		"several CRLF lines":     {"IF «@a = 1\r\n  SELECT 1»", "IF @a = 1", "   ^^^^^^"},
		"the second line":        {"a\nb «c»", "b c", "  ^"},
		"a long line, at its beginning": {
			"«y»" + long, "y" + strings.Repeat("x", 159), "^",
		},
		"a long line, at its end": {
			long + "«y»", strings.Repeat("x", 80) + "y", strings.Repeat(" ", 80) + "^",
		},
		"a long line, in the middle": {
			long + "«y»" + long, strings.Repeat("x", 80) + "y" + strings.Repeat("x", 79), strings.Repeat(" ", 80) + "^",
		},
		"a long line, all of it": {
			"«" + long + long + "»", strings.Repeat("x", 160), strings.Repeat("^", 160),
		},
		"a long line, behind its end": {
			long + "«»", strings.Repeat("x", 80), strings.Repeat(" ", 80) + "^",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, rest, _ := strings.Cut(c.text, "«")
			inside, after, _ := strings.Cut(rest, "»")
			f := diag.NewFile("a.sql", before+inside+after)
			var found diag.List
			from := diag.Pos(len(before))
			found.Add(f, diag.Span{From: from, To: from + diag.Pos(len(inside))}, "test", "", "wrong")
			lines := strings.Split(found.Format(), "\n")
			if len(lines) != 4 || len(lines[1]) < 8 || len(lines[2]) < 8 {
				t.Fatalf("got\n%s", found.Format())
			}
			if d := cmp.Diff([]string{c.line, c.carets}, []string{lines[1][8:], lines[2][8:]}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestExcerptOfBadSpans checks that a span which is no span of the file doesn't keep a finding from being printed.
func TestExcerptOfBadSpans(t *testing.T) {
	t.Parallel()
	f := diag.NewFile("a.sql", "ab\r\nc")
	for _, span := range []diag.Span{{-5, -1}, {3, 1}, {4, 900}, {900, 901}} {
		var found diag.List
		found.Add(f, span, "test", "", "wrong")
		if got := found.Format(); !strings.Contains(got, "^") {
			t.Errorf("%v: no caret in\n%s", span, got)
		}
	}
}

// TestFormat shows a list whole: with and without a file, with and without a fix.
func TestFormat(t *testing.T) {
	t.Parallel()
	f := diag.NewFile("sql/a.sql", "SELECT a\nFROM t")
	var found diag.List
	found.Add(nil, diag.Span{}, "config", "write one", "no %s is set", "package")
	found.Add(f, diag.Span{From: 7, To: 8}, "type", "", "100%% of %q", "a")
	found.Add(f, diag.Span{From: 14, To: 15}, "type", "write dbo.t, 100%", "t has no schema")
	const want = `no package is set (config)
  fix: write one
sql/a.sql:1:8: 100% of "a" (type)
    1 | SELECT a
      |        ^
sql/a.sql:2:6: t has no schema (type)
    2 | FROM t
      |      ^
  fix: write dbo.t, 100%
`
	if d := cmp.Diff(want, found.Format()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := diag.List(nil).Format(); got != "" {
		t.Errorf("no findings are printed as %q", got)
	}
}

// TestSort adds findings in every order that a map could yield them in, some of them twice.
func TestSort(t *testing.T) {
	t.Parallel()
	a, b := diag.NewFile("a.sql", "12345678"), diag.NewFile("b.sql", "12345678")
	want := diag.List{
		{Rule: "config", Message: "about no file"},
		{File: a, Span: diag.Span{From: 1, To: 2}, Rule: "type", Message: "m"},
		{File: a, Span: diag.Span{From: 1, To: 3}, Rule: "shape", Message: "m"},
		{File: a, Span: diag.Span{From: 1, To: 3}, Rule: "type", Message: "m"},
		{File: a, Span: diag.Span{From: 1, To: 3}, Rule: "type", Message: "n", Fix: "one"},
		{File: a, Span: diag.Span{From: 1, To: 3}, Rule: "type", Message: "n", Fix: "two"},
		{File: a, Span: diag.Span{From: 4, To: 5}, Rule: "shape", Message: "m"},
		{File: b, Span: diag.Span{From: 0, To: 1}, Rule: "shape", Message: "m"},
	}
	for shift := range want {
		var got diag.List
		for range 2 {
			for i := range want {
				got = append(got, want[(i*3+shift)%len(want)])
			}
		}
		got.Sort()
		if d := cmp.Diff(want, got, cmp.Comparer(func(x, y *diag.File) bool { return x == y })); d != "" {
			t.Fatalf("shifted by %d (-want +got):\n%s", shift, d)
		}
	}
}
