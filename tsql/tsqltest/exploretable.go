package tsqltest

import (
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
)

// table tells a schedule: a line for each statement that asked for a lock or committed, each wait, and each request
// before which a session was interrupted.
type table struct {
	explorer *explorer
	last     line
	lines    []line
}

// line is a line of the table.
type line struct {
	session, place, text, asks, held, plan string
}

func newTable(e *explorer) *table { return &table{explorer: e} }

// note is told of every scheduling point.
func (t *table) note(actor int, at schedule.Point) {
	if at.Kind == "answer" {
		return
	}
	e := t.explorer
	p, v := e.players[actor], e.server.sessions
	place := v.Place(p.id())
	l := line{session: p.session.Name, text: place.Text, plan: place.Plan}
	applied, _ := e.server.modules.Load(strings.ToLower(place.Module))
	switch from, ok := applied.(origin); {
	case place.Line == 0:
	case place.Module == "":
		l.place = fmt.Sprintf("request %d:%d", len(p.results)+1, place.Line)
	case ok:
		l.place = from.place(place.Line + from.line - 1)
	default:
		l.place = fmt.Sprintf("%s:%d", place.Module, place.Line)
	}
	switch at.Kind {
	case "wait":
		l.asks = "waits " + at.What
		if i, ok := v.Waiting(p.id()); ok {
			what := v.Name(i.Resource)
			if i.For.Kind != 0 {
				what += " for " + v.Name(i.For)
			}
			l.asks = fmt.Sprintf("waits for %v %s, blocked by %s", i.Mode, what, t.explorer.nameOf(i.Blocker))
		}
		l.held = t.heldBy(p.id())
		t.add(l)
		return
	case "commit":
		l.asks = "commits"
	case "lock":
		if r, ok := at.Of.(*lock.Request); ok && !r.Mode.Intends() {
			l.asks = fmt.Sprintf("%v %s", r.Mode, v.Name(r.Resource))
		}
	}
	if t.last.session != l.session && t.last.asks != "" && t.last != t.end() {
		t.add(t.last) // where it was interrupted
	}
	l.held = t.heldBy(p.id())
	if end := t.end(); at.Kind != "statement" && l.text != "" && (end.session != l.session || end.place != l.place) {
		t.add(line{session: l.session, place: l.place, text: l.text, held: l.held})
	}
	t.last = l
}

func (t *table) end() line {
	if len(t.lines) == 0 {
		return line{}
	}
	return t.lines[len(t.lines)-1]
}

func (t *table) add(l line) {
	t.lines = append(t.lines, l)
	t.last = l
}

// heldBy are the locks of a session, but for intents.
func (t *table) heldBy(id schedule.ID) string {
	var held []string
	for _, i := range t.explorer.server.sessions.Held(id) {
		held = append(held, fmt.Sprintf("%v %s", i.Mode, t.explorer.server.sessions.Name(i.Resource)))
	}
	const most = 6
	if len(held) > most {
		held = append(held[:most], fmt.Sprintf("and %d more", len(held)-most))
	}
	return strings.Join(held, ", ")
}

// String is the table, with how the sessions have ended.
func (t *table) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "session\tplace\tstatement\tlock\theld")
	for _, l := range t.lines {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", l.session, l.place, shortened(l.text), l.asks, l.held)
	}
	_ = w.Flush()
	text := trailing.ReplaceAllString(b.String(), "\n")
	b.Reset()
	b.WriteString(text)
	for _, p := range t.explorer.players {
		if p.err != nil {
			fmt.Fprintf(&b, "%s ended with: %v\n", p.session.Name, p.err)
		}
	}
	for _, d := range t.explorer.deadlocks() {
		fmt.Fprintln(&b, d)
	}
	seen := map[string]bool{}
	for _, l := range t.lines {
		if key := l.session + l.place; l.asks != "" && l.plan != "" && !seen[key] {
			seen[key] = true
			fmt.Fprintf(&b, "plan of %s, %s:\n  %s\n", l.session, l.place, strings.ReplaceAll(strings.TrimSpace(l.plan), "\n", "\n  "))
		}
	}
	return b.String()
}

// trailing are the blanks with which the table fills its last column.
var trailing = regexp.MustCompile(` +\n`)

// shortened is a statement as far as a table has room for it.
func shortened(text string) string {
	const room = 60
	if r := []rune(text); len(r) > room {
		return string(r[:room-1]) + "…"
	}
	return text
}
