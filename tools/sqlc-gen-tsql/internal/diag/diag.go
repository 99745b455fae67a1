// Package diag says where in a T-SQL file something is wrong, why, and what to do about it.
//
// Every stage of the generator returns its findings as a [List] beside its result, so that one run reports all of them.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// Pos is a byte offset into the text of a [File].
type Pos int

// Span is the half-open range of bytes From ≤ p < To.
type Span struct {
	From, To Pos
}

// Range returns the span itself, so that whatever embeds a Span can be asked where it stands.
func (s Span) Range() Span { return s }

// Until returns the span from the beginning of s to the end of end.
func (s Span) Until(end Span) Span { return Span{From: s.From, To: end.To} }

// A File is one input with the table that turns offsets into lines.
type File struct {
	Name string // as it is printed: slash-separated, relative to the configuration
	Text string

	lines []Pos // where each line begins
}

// NewFile prepares a file for position look-ups. A byte order mark at its beginning is dropped.
func NewFile(name, text string) *File {
	text = strings.TrimPrefix(text, "\ufeff")
	f := &File{Name: name, Text: text, lines: []Pos{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			f.lines = append(f.lines, Pos(i+1))
		}
	}
	return f
}

// Position returns the line and the column of p, both from 1; columns count characters, not bytes.
func (f *File) Position(p Pos) (line, column int) {
	p = min(max(p, 0), Pos(len(f.Text)))
	line = sort.Search(len(f.lines), func(i int) bool { return f.lines[i] > p })
	return line, utf8.RuneCountInString(f.Text[f.lines[line-1]:p]) + 1
}

// Slice returns the text of a span.
func (f *File) Slice(s Span) string { return f.Text[s.From:s.To] }

// Line returns the text of a line, counted from 1, without its end.
func (f *File) Line(n int) string {
	from, to := f.lines[n-1], Pos(len(f.Text))
	if n < len(f.lines) {
		to = f.lines[n] - 1
	}
	return strings.TrimSuffix(f.Text[from:to], "\r")
}

// A Diagnostic is one finding.
type Diagnostic struct {
	File    *File // nil when the finding is about no file, such as an option
	Span    Span
	Rule    string // stable id: "syntax", "type", "shape", "override", "vet/P1", …
	Message string // what is wrong, in one sentence without a full stop
	Fix     string // what to do about it; empty when the message says it
	Gap     bool   // it is the generator that doesn't know something, which an annotation may answer: it need be no mistake
}

// Error returns the finding as "file:line:column: message (rule)".
func (d Diagnostic) Error() string {
	if d.File == nil {
		return fmt.Sprintf("%s (%s)", d.Message, d.Rule)
	}
	line, column := d.File.Position(d.Span.From)
	return fmt.Sprintf("%s:%d:%d: %s (%s)", d.File.Name, line, column, d.Message, d.Rule)
}

// A List collects findings. The zero value is ready to use.
type List []Diagnostic

// Add records a finding. The message is formatted like fmt.Sprintf.
func (l *List) Add(f *File, at Span, rule, fix, format string, args ...any) {
	*l = append(*l, Diagnostic{File: f, Span: at, Rule: rule, Fix: fix, Message: fmt.Sprintf(format, args...)})
}

// Sort orders the findings by file, position and rule and drops repetitions, so that two runs print the same.
func (l *List) Sort() {
	key := func(d Diagnostic) string {
		if d.File == nil {
			return ""
		}
		return d.File.Name
	}
	slices.SortStableFunc(*l, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(key(a), key(b)),
			cmp.Compare(a.Span.From, b.Span.From),
			cmp.Compare(a.Span.To, b.Span.To),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Message, b.Message),
		)
	})
	*l = slices.Compact(*l)
}

// Format renders the findings for people: position and message, the line with a caret under the span, and the fix.
func (l List) Format() string {
	var out strings.Builder
	for _, d := range l {
		out.WriteString(d.Error())
		out.WriteByte('\n')
		if d.File != nil {
			d.excerpt(&out)
		}
		if d.Fix != "" {
			fmt.Fprintf(&out, "  fix: %s\n", d.Fix)
		}
	}
	return out.String()
}

// excerptWidth is how many characters of a line are shown at most; a minified file must not flood the terminal.
const excerptWidth = 160

func (d Diagnostic) excerpt(out *strings.Builder) {
	line, column := d.File.Position(d.Span.From)
	text := []rune(d.File.Line(line))
	last, end := d.File.Position(max(d.Span.To, d.Span.From))
	if last != line {
		end = len(text) + 1
	}
	first := max(0, column-1-excerptWidth/2)
	stop := min(len(text), first+excerptWidth)
	fmt.Fprintf(out, "%5d | %s\n      | ", line, string(text[first:stop]))
	for _, r := range text[min(first, len(text)):min(column-1, len(text))] {
		if r != '\t' {
			r = ' '
		}
		out.WriteRune(r)
	}
	carets := max(1, min(end, stop+1)-column)
	out.WriteString(strings.Repeat("^", carets))
	out.WriteByte('\n')
}
