// Package diag says where in a T-SQL file something is wrong, why, and what to do about it.
//
// Every stage of the generator returns its findings as a [List] beside its result, so that one run reports all of them
// and nobody repairs a script one mistake at a time. Nothing here knows what T-SQL is.
//
// Reading order: diag.go has files, places and findings; excerpt.go shows the line of a finding; nearest.go guesses
// what a misspelt word was meant to be.
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

// Span is the half-open range of bytes From ≤ p < To. The zero value is an empty span at the beginning of a file, which
// is where findings stand that are about a file as a whole.
type Span struct {
	From, To Pos
}

// Range returns the span itself, so that whatever embeds a Span can be asked where it stands.
func (s Span) Range() Span { return s }

// Until returns the span from the beginning of s to the end of end.
func (s Span) Until(end Span) Span { return Span{From: s.From, To: end.To} }

// A File is one input with the table that turns offsets into lines.
type File struct {
	// Name is the file's name as it is printed: slash-separated and relative to the configuration, so that the output
	// is the same on every machine.
	Name string
	// Text is the content without a byte order mark. Offsets count in it, and its line ends are as they were.
	Text string

	lines []Pos // where each line begins; there is always one
}

// NewFile prepares a file for position look-ups. A byte order mark at its beginning is dropped: editors don't show it,
// and column 1 would be the second character.
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

// Position returns the line and the column of p, both from 1; columns count characters, not bytes. A tab is one
// character, as editors count it when they jump to a place. A place outside of the text is moved to its nearest end: a
// finding with a bad span must still be printed.
func (f *File) Position(p Pos) (line, column int) {
	p = min(max(p, 0), Pos(len(f.Text)))
	line = sort.Search(len(f.lines), func(i int) bool { return f.lines[i] > p })
	return line, utf8.RuneCountInString(f.Text[f.lines[line-1]:p]) + 1
}

// Slice returns the text of a span.
func (f *File) Slice(s Span) string { return f.Text[s.From:s.To] }

// Line returns the text of a line, counted from 1, without its end, be that LF or CRLF.
func (f *File) Line(n int) string {
	from, to := f.lines[n-1], Pos(len(f.Text))
	if n < len(f.lines) {
		to = f.lines[n] - 1
	}
	return strings.TrimSuffix(f.Text[from:to], "\r")
}

// A Diagnostic is one finding. It is comparable, which is how repetitions are found. It has an Error method for the line
// that every tool prints for an error, though findings travel in a [List] and not as errors.
type Diagnostic struct { //nolint:errname // a finding that can be printed as an error, not a type of errors
	// File is nil when the finding is about no file, such as an option.
	File *File
	Span Span
	// Rule is a stable id that people search for: "syntax", "type", "shape", "override", "vet/P1-catch", …
	Rule string
	// Message says what is wrong, in one sentence without a full stop: its rule in parentheses follows.
	Message string
	// Fix says what to do about it; it is empty when the message does.
	Fix string
	// Gap marks findings where it is the generator that doesn't know something, which an annotation may answer: it need
	// be no mistake.
	Gap bool
}

// Error returns the finding as "file:line:column: message (rule)", a form that editors turn into a link.
func (d Diagnostic) Error() string {
	if d.File == nil {
		return fmt.Sprintf("%s (%s)", d.Message, d.Rule)
	}
	line, column := d.File.Position(d.Span.From)
	return fmt.Sprintf("%s:%d:%d: %s (%s)", d.File.Name, line, column, d.Message, d.Rule)
}

// Count is a number with its noun, as messages have it: "1 column", "2 columns".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// A List collects findings. The zero value is ready to use.
type List []Diagnostic //nolint:recvcheck // Add and Sort change the list; Format reads one that a function returned

// Add records a finding. The message is formatted like fmt.Sprintf; the fix is taken as it is, and may be empty.
func (l *List) Add(f *File, at Span, rule, fix, format string, args ...any) {
	*l = append(*l, Diagnostic{File: f, Span: at, Rule: rule, Fix: fix, Message: fmt.Sprintf(format, args...)})
}

// Sort orders the findings by file, position, rule and text and drops repetitions, so that two runs print the same
// whatever maps the stages have walked over. Findings about no file come first. Everything that is printed is part of
// the order: what is equal in it must be adjacent for the repetitions to be found.
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
			cmp.Compare(a.Fix, b.Fix),
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
