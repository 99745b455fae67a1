package diag

import (
	"sort"
	"strings"
)

// An Edit replaces a part of a file's source, so that what is read differs from what people see.
type Edit struct {
	At   Span // in the source
	Text string
}

// edited is an edit with where its text stands.
type edited struct {
	Edit
	now Span // in the Text of the file
}

// NewEditedFile prepares a file of which parts are replaced; the edits are in their order and don't overlap. It also
// returns where each edit's text stands in the text of the file. Findings are reported at their place in the source.
func NewEditedFile(name, source string, edits []Edit) (*File, []Span) {
	f := &File{Name: name, Text: source, source: source, lines: []Pos{0}}
	for i := range len(source) {
		if source[i] == '\n' {
			f.lines = append(f.lines, Pos(i+1))
		}
	}
	if len(edits) == 0 {
		return f, nil
	}
	var text strings.Builder
	places := make([]Span, len(edits))
	from := Pos(0)
	for i, e := range edits {
		text.WriteString(source[from:e.At.From])
		places[i].From = Pos(text.Len())
		text.WriteString(e.Text)
		places[i].To = Pos(text.Len())
		f.edits = append(f.edits, edited{Edit: e, now: places[i]})
		from = e.At.To
	}
	text.WriteString(source[from:])
	f.Text = text.String()
	return f, places
}

// sourceOf returns where a place of the text is in the source. In what an edit has put there that is the beginning of
// what it has replaced.
func (f *File) sourceOf(p Pos) Pos {
	// The first edit that ends behind p, or is empty at p: of several at one place the name begins with the first.
	i := sort.Search(len(f.edits), func(i int) bool { now := f.edits[i].now; return now.To > p || now.From == p })
	if i < len(f.edits) && f.edits[i].now.From <= p {
		return f.edits[i].At.From
	}
	return f.behind(i, p)
}

// end is Position for the end of a span: in what an edit has put there, the end of what it has replaced.
func (f *File) end(p Pos) (line, column int) {
	p = min(max(p, 0), Pos(len(f.Text)))
	i := sort.Search(len(f.edits), func(i int) bool { return f.edits[i].now.From > p })
	if i > 0 && f.edits[i-1].now.From == p && f.edits[i-1].now.To > p {
		i-- // it begins where the span ends
	}
	if i > 0 && p <= f.edits[i-1].now.To {
		return f.lineOf(f.edits[i-1].At.To)
	}
	return f.lineOf(f.behind(i, p))
}

// behind returns where a place is in the source that the first n edits stand before, and no other.
func (f *File) behind(n int, p Pos) Pos {
	if n == 0 {
		return p
	}
	last := f.edits[n-1]
	return last.At.To + p - last.now.To
}
