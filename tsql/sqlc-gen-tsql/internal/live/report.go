package live

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
)

// A Report is the result of a comparison. Only Drift is a reason to fail: the rest says how much the absence of drift
// means.
type Report struct {
	Server    string // the first line of what the server says of itself
	Drift     []Difference
	Unseen    []Note // result sets that no execution came to, so that nothing is known about them
	Unchecked []Note // what the server can't tell
	Counts    Counts
}

// Counts says how much was compared. Zeros catch the eye of whoever has named the wrong database or the wrong
// scripts.
type Counts struct {
	Procedures, Parameters, ResultSets, Queries, Tables, Modules int
}

// A Difference is one thing that is not as the scripts say. Place is where the scripts say it; without a file if they
// say nothing.
type Difference struct {
	Object string // "procedure shop.get_order"
	Part   string // "parameter @id"; empty if it is about the object itself
	Want   string // what the scripts say
	Have   string // what the server has
	Place  catalog.Place
}

// A Note says why something was not compared.
type Note struct {
	Object string // empty if it is about everything
	Text   string
}

// drift records a difference.
func (r *Report) drift(object string, place catalog.Place, part, want, have string) {
	r.Drift = append(r.Drift, Difference{Object: object, Part: part, Want: want, Have: have, Place: place})
}

// drifted reports whether a difference of an object is known.
func (r *Report) drifted(object string) bool {
	return slices.ContainsFunc(r.Drift, func(d Difference) bool { return d.Object == object })
}

// unchecked records what could not be compared.
func (r *Report) unchecked(object, format string, args ...any) {
	r.Unchecked = append(r.Unchecked, Note{Object: object, Text: fmt.Sprintf(format, args...)})
}

// unseen records a result set that didn't come.
func (r *Report) unseen(object, format string, args ...any) {
	r.Unseen = append(r.Unseen, Note{Object: object, Text: fmt.Sprintf(format, args...)})
}

// sort orders everything by object, so that two runs print the same, and drops repetitions. Within an object the
// order is that of the comparison, which goes from the general to the particular.
func (r *Report) sort() {
	slices.SortStableFunc(r.Drift, func(a, b Difference) int { return cmp.Compare(a.Object, b.Object) })
	r.Drift = distinct(r.Drift)
	for _, notes := range []*[]Note{&r.Unseen, &r.Unchecked} {
		slices.SortStableFunc(*notes, func(a, b Note) int { return cmp.Compare(a.Object, b.Object) })
		*notes = distinct(*notes)
	}
}

// distinct drops what has come before: a description and an execution may find the same.
func distinct[T comparable](list []T) []T {
	seen := map[T]bool{}
	return slices.DeleteFunc(list, func(x T) bool {
		repeated := seen[x]
		seen[x] = true
		return repeated
	})
}

// Print writes the report for people: differences first, grouped by object.
func (r *Report) Print(w io.Writer) {
	fmt.Fprintf(w, "server: %s\n", r.Server)
	last := ""
	for _, d := range r.Drift {
		if d.Object != last {
			fmt.Fprintf(w, "%s%s\n", d.Object, where(d.Place))
			last = d.Object
		}
		if d.Part != "" {
			fmt.Fprintf(w, "  %s\n", d.Part)
		}
		fmt.Fprintf(w, "    scripts: %s\n    server:  %s\n", d.Want, d.Have)
	}
	printNotes(w, "not seen", r.Unseen)
	printNotes(w, "not checked", r.Unchecked)
	fmt.Fprintf(w, "compared: %s\n", r.Counts)
	if len(r.Drift) == 0 {
		fmt.Fprintln(w, "no drift")
	} else {
		fmt.Fprintf(w, "drift: %s\n", count(len(r.Drift), "difference", "differences"))
	}
}

// printNotes writes one line for each note.
func printNotes(w io.Writer, title string, notes []Note) {
	for _, n := range notes {
		if n.Object == "" {
			fmt.Fprintf(w, "%s: %s\n", title, n.Text)
		} else {
			fmt.Fprintf(w, "%s: %s: %s\n", title, n.Object, n.Text)
		}
	}
}

// String lists the counts that are not zero.
func (c Counts) String() string {
	var parts []string
	for _, p := range []struct {
		n         int
		one, many string
	}{
		{c.Procedures, "procedure", "procedures"},
		{c.Parameters, "parameter", "parameters"},
		{c.ResultSets, "result set", "result sets"},
		{c.Queries, "query", "queries"},
		{c.Tables, "table", "tables"},
		{c.Modules, "module text", "module texts"},
	} {
		if p.n > 0 {
			parts = append(parts, count(p.n, p.one, p.many))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// count writes a number with a noun in its right form.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// where returns " (file:line)". Only the line, since the place of an object is its whole statement.
func where(p catalog.Place) string {
	if p.File == nil {
		return ""
	}
	line, _ := p.File.Position(p.Span.From)
	return fmt.Sprintf(" (%s:%d)", p.File.Name, line)
}
