// Package diag says where in a T-SQL file something is wrong, why, and what to do about it.
//
// Every stage of the generator returns its findings as a [List] beside its result, so that one run reports all of them
// and nobody repairs a script one mistake at a time. Nothing here knows what T-SQL is.
//
// Reading order: diag.go has files, places and findings; edit.go has files of which parts were replaced; excerpt.go
// shows the line of a finding; nearest.go guesses what a misspelt word was meant to be.
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
	// Text is the content without a byte order mark, with the edits made. Offsets count in it, and its line ends are as
	// they were. Lines and columns are those of the source, the content before the edits.
	Text string

	source string   // the text as it is written: Text before its edits
	lines  []Pos    // where each line of the source begins; there is always one
	edits  []edited // in their order

	// Of a part of another file: where it begins there. The zero values are those of a whole file.
	origin       Pos
	line, column int // how many lines and characters are before the first one
}

// NewFile prepares a file for position look-ups. A byte order mark at its beginning is dropped: editors don't show it,
// and column 1 would be the second character.
func NewFile(name, text string) *File {
	f, _ := NewEditedFile(name, strings.TrimPrefix(text, "\ufeff"), nil)
	return f
}

// NewPart prepares a text that stands at a place of a file: its first line is the rest of the line there, and so are
// its places. The text is what the server reads, in which the quotes of a string are not doubled, say.
func NewPart(of *File, at Pos, text string) *File {
	f := NewFile(of.Name, text)
	line, column := of.Position(at)
	f.origin, f.line, f.column = of.origin+at, line-1, column-1
	return f
}

// Position returns the line and the column of p in the source, both from 1; columns count characters, not bytes. A tab
// is one character, as editors count it when they jump to a place. A place outside of the text is moved to its nearest
// end: a finding with a bad span must still be printed.
func (f *File) Position(p Pos) (line, column int) {
	return f.lineOf(f.sourceOf(min(max(p, 0), Pos(len(f.Text)))))
}

// lineOf is Position for a place in the source.
func (f *File) lineOf(p Pos) (line, column int) {
	line = sort.Search(len(f.lines), func(i int) bool { return f.lines[i] > p })
	column = utf8.RuneCountInString(f.source[f.lines[line-1]:p]) + 1
	if line == 1 {
		column += f.column
	}
	return line + f.line, column
}

// Slice returns the text of a span.
func (f *File) Slice(s Span) string { return f.Text[s.From:s.To] }

// Line returns a line of the source, counted from 1, without its end, be that LF or CRLF. Before the first line of a
// part are as many blanks as there are characters before it.
func (f *File) Line(n int) string {
	if n -= f.line; n == 1 && f.column > 0 {
		first, _, _ := strings.Cut(f.source, "\n")
		return strings.Repeat(" ", f.column) + strings.TrimSuffix(first, "\r")
	}
	from, to := f.lines[n-1], Pos(len(f.source))
	if n < len(f.lines) {
		to = f.lines[n] - 1
	}
	return strings.TrimSuffix(f.source[from:to], "\r")
}

// A Diagnostic is one finding. It has an Error method for the line
// that every tool prints for an error, though findings travel in a [List] and not as errors.
type Diagnostic struct { //nolint:errname // a finding that can be printed as an error, not a type of errors
	// File is nil when the finding is about no file, such as an option.
	File *File
	Span Span
	// Rule is a stable id that people search for: "syntax", "type", "shape", "override", "vet/P1-catch", …
	Rule string
	// Message says what is wrong, in one sentence without a full stop: its rule in parentheses follows.
	Message string
	// Fix says what to do about it; it is empty when the message does. What is printed is [Diagnostic.Advice].
	Fix string
	// Meant finds out what a misspelt word was meant to be, if it isn't nil.
	Meant *Meant
	// Gap marks findings where it is the generator that doesn't know something, which an annotation may answer: it need
	// be no mistake.
	Gap bool
	// Server marks gaps about names of the server's own, which matter only where something that is sent has its type
	// from them.
	Server bool
}

// Error returns the finding as "file:line:column: message (rule)", a form that editors turn into a link.
func (d Diagnostic) Error() string {
	if d.File == nil {
		return fmt.Sprintf("%s (%s)", d.Message, d.Rule)
	}
	line, column := d.File.Position(d.Span.From)
	return fmt.Sprintf("%s:%d:%d: %s (%s)", d.File.Name, line, column, d.Message, d.Rule)
}

// Advice returns what to do about a finding: what a misspelt word was meant to be if that is found, and Fix else.
func (d Diagnostic) Advice() string { return cmp.Or(d.Meant.text(), d.Fix) }

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

// Meant adds to the last finding how to find out what a misspelt word was meant to be: search returns a fix that
// replaces the finding's, or "". The search looks at every name there is, and most findings are never printed, so that
// it runs when one is.
func (l *List) Meant(search func() string) {
	(*l)[len(*l)-1].Meant = &Meant{search: search}
}

// Of returns the findings of a rule in a file.
func (l List) Of(file *File, rule string) List {
	return slices.DeleteFunc(slices.Clone(l), func(d Diagnostic) bool { return d.File != file || d.Rule != rule })
}

// Sort orders the findings by file, position, rule and text and drops repetitions, so that two runs print the same
// whatever maps the stages have walked over. Findings about no file come first. Everything that is printed is part of
// the order, except what was meant, which is the same where the message is: what is equal in it must be adjacent for
// the repetitions to be found.
func (l *List) Sort() {
	key := func(d Diagnostic) string {
		if d.File == nil {
			return ""
		}
		return d.File.Name
	}
	compare := func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(key(a), key(b)),
			cmp.Compare(a.place(a.Span.From), b.place(b.Span.From)),
			cmp.Compare(a.place(a.Span.To), b.place(b.Span.To)),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Message, b.Message),
			cmp.Compare(a.Fix, b.Fix),
		)
	}
	slices.SortStableFunc(*l, compare)
	*l = slices.CompactFunc(*l, func(a, b Diagnostic) bool { return compare(a, b) == 0 })
}

// place returns a place of the finding as one of the whole file.
func (d Diagnostic) place(p Pos) Pos {
	if d.File == nil {
		return p
	}
	return d.File.origin + p
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
		if fix := d.Advice(); fix != "" {
			fmt.Fprintf(&out, "  fix: %s\n", fix)
		}
	}
	return out.String()
}
