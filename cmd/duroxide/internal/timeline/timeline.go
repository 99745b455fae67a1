// Package timeline tells a history as a list of what happened when.
package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
	"github.com/duroxide/duroxide-go/provider"
)

// Options of [Write]. The zero value shows every event and no payload.
type Options struct {
	// Data shows the beginning of each payload; without it, only its size. Texts
	// that are meant to be read, such as failures and reasons, are always shown.
	Data bool
	// Fold shows three or more like events in a row as one line.
	Fold bool
	// Cuts are lines between events.
	Cuts []Cut
}

// Cut is a line that follows the first Events events.
type Cut struct {
	Events int
	Text   string
}

// Write writes the history of one execution: the time since its start, the event
// id, what happened to what, and the payload.
func Write(s *screen.Screen, events []provider.Event, options Options) {
	byID := make(map[uint64]provider.Event, len(events))
	for _, event := range events {
		byID[event.EventID] = event
	}
	for i := 0; i < len(events); {
		cut(s, options.Cuts, i)
		first := describe(events[i], byID)
		n := 1
		if options.Fold {
			n = run(events[i:], first, byID, nextCut(options.Cuts, i)-i)
		}
		line(s, events[0].TimestampMs, events[i:i+n], first, options.Data)
		i += n
	}
	cut(s, options.Cuts, len(events))
}

// cut writes the cuts that follow the first n events.
func cut(s *screen.Screen, cuts []Cut, n int) {
	for _, c := range cuts {
		if c.Events == n {
			s.Printf("  %s\n", s.Bad("── "+c.Text+" ──"))
		}
	}
}

// nextCut returns the place of the next cut after the first n events.
func nextCut(cuts []Cut, n int) int {
	next := int(^uint(0) >> 1)
	for _, c := range cuts {
		if c.Events > n {
			next = min(next, c.Events)
		}
	}
	return next
}

// run counts how many events from the first on are shown as one line.
func run(events []provider.Event, first entry, byID map[uint64]provider.Event, limit int) int {
	n := 1
	for n < len(events) && n < limit {
		next := describe(events[n], byID)
		if next.what != first.what || next.subject != first.subject {
			break
		}
		n++
	}
	if n < 3 {
		return 1
	}
	return n
}

// line writes one line for one event, or for several like ones.
func line(s *screen.Screen, start uint64, events []provider.Event, e entry, data bool) {
	first, last := events[0], events[len(events)-1]
	id := fmt.Sprintf("#%d", first.EventID)
	if len(events) > 1 {
		id = fmt.Sprintf("#%d–%d", first.EventID, last.EventID)
		e.what = fmt.Sprintf("%s ×%d", e.what, len(events))
		e.note, e.said, e.data = fmt.Sprintf("until %s", seconds(start, last.TimestampMs)), nil, nil
	}
	text := fmt.Sprintf("  %8s  %-8s %-28s ", seconds(start, first.TimestampMs), id, e.what)
	parts := []string{screen.Visible(e.subject), s.Faint(screen.Visible(e.note))}
	if e.said != nil {
		parts = append(parts, screen.Preview(*e.said, maxData))
	}
	if e.data != nil && data {
		parts = append(parts, screen.Preview(*e.data, maxData))
	} else if e.data != nil {
		parts = append(parts, s.Faint("("+screen.Counted(uint64(len(*e.data)), "byte")+")"))
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	s.Printf("%s\n", strings.TrimRight(paint(s, first.Kind, text)+strings.Join(parts, "  "), " "))
}

// maxData is the number of characters shown of a text.
const maxData = 60

// paint colours an execution's end.
func paint(s *screen.Screen, kind provider.EventKind, text string) string {
	switch kind.(type) {
	case provider.OrchestrationCompleted:
		return s.Good(text)
	case provider.OrchestrationFailed, provider.OrchestrationCancelRequested,
		provider.ActivityFailed, provider.SubOrchestrationFailed:
		return s.Bad(text)
	}
	return text
}

// seconds is the time since start. Clocks of several machines may disagree, so it
// can be negative.
func seconds(start, at uint64) string {
	return fmt.Sprintf("%.3f s", (time.Duration(int64(at)-int64(start)) * time.Millisecond).Seconds())
}
