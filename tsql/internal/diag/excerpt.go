package diag

import (
	"fmt"
	"strings"
)

// excerptWidth is how many characters of a line are shown at most; a minified file must not flood the terminal.
const excerptWidth = 160

// excerpt writes the line of a finding and, below it, carets under its span. Of a long line it shows the part around
// the beginning of the span; of a span of several lines only the first, which is where a reader starts looking.
func (d Diagnostic) excerpt(out *strings.Builder) {
	line, column := d.File.Position(d.Span.From)
	text := []rune(d.File.Line(line))
	last, end := d.File.end(max(d.Span.To, d.Span.From))
	if last != line {
		end = len(text) + 1
	}
	// What is shown is text[first:stop].
	first := max(0, column-1-excerptWidth/2)
	stop := min(len(text), first+excerptWidth)
	fmt.Fprintf(out, "%5d | %s\n      | ", line, string(text[first:stop]))
	// Tabs are kept as tabs, so that the carets stand right however wide the terminal makes them. The column may be
	// beyond the text: behind its last character, or at the line feed of a CRLF.
	for _, r := range text[first:min(column-1, len(text))] {
		if r != '\t' {
			r = ' '
		}
		out.WriteRune(r)
	}
	// An empty span is a place between two characters and still gets its caret.
	carets := max(1, min(end, stop+1)-column)
	out.WriteString(strings.Repeat("^", carets))
	out.WriteByte('\n')
}
