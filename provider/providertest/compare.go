package providertest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// same ends the scenario unless got equals want.
func same[T comparable](e *env, got, want T, rule string) {
	e.Helper()
	e.check(got == want, rule, "got  %+v\n\twant %+v", got, want)
}

// sameList ends the scenario unless got holds want's elements in order.
func sameList[T comparable](e *env, got, want []T, rule string) {
	e.Helper()
	e.check(slices.Equal(got, want), rule, "got  %v\n\twant %v", got, want)
}

// sameSet ends the scenario unless got holds want's elements in any order.
func sameSet[T cmp.Ordered](e *env, got, want []T, rule string) {
	e.Helper()
	sameList(e, slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)), rule)
}

// samePtr ends the scenario unless both are nil or point to equal values.
func samePtr[T comparable](e *env, got, want *T, rule string) {
	e.Helper()
	if got == nil || want == nil {
		e.check(got == nil && want == nil, rule, "got %s, want %s", render(got), render(want))
		return
	}
	same(e, *got, *want, rule)
}

// sameEvents asserts that two histories are equal. A failure shows where they
// differ and never a whole payload.
func (e *env) sameEvents(got, want []provider.Event, rule string) {
	e.Helper()
	if len(got) != len(want) {
		e.violated(rule, "%d events with ids %v, want %d with ids %v",
			len(got), clip(fmt.Sprint(eventIDs(got))), len(want), clip(fmt.Sprint(eventIDs(want))))
	}
	for i := range got {
		g, w := got[i], want[i]
		g.Kind, w.Kind = normalKind(g.Kind), normalKind(w.Kind)
		e.sameValue(g, w, rule, fmt.Sprintf("event %d", w.EventID))
	}
}

// sameMessages asserts that two batches are equal.
func (e *env) sameMessages(got, want []provider.WorkItem, rule string) {
	e.Helper()
	if len(got) != len(want) {
		e.violated(rule, "%d messages %s, want %d messages %s", len(got), clip(render(got)), len(want), clip(render(want)))
	}
	for i := range got {
		e.sameItem(got[i], want[i], rule)
	}
}

// sameItem asserts that two work items are equal.
func (e *env) sameItem(got, want provider.WorkItem, rule string) {
	e.Helper()
	e.sameValue(normalItem(got), normalItem(want), rule, want.Variant())
}

// sameText asserts that two texts of any size are equal.
func (e *env) sameText(got, want, rule, what string) {
	e.Helper()
	if got != want {
		e.violated(rule, "%s: %s", what, firstDifference(got, want))
	}
}

// sameValue asserts that two values are deeply equal.
func (e *env) sameValue(got, want any, rule, what string) {
	e.Helper()
	if !reflect.DeepEqual(got, want) {
		e.violated(rule, "%s: %s", what, firstDifference(render(got), render(want)))
	}
}

// normalKind makes an empty list nil: the wire form does not tell them apart.
func normalKind(kind provider.EventKind) provider.EventKind {
	if s, ok := kind.(provider.OrchestrationStarted); ok && len(s.CarryForwardEvents) == 0 {
		s.CarryForwardEvents = nil
		return s
	}
	return kind
}

// normalItem is normalKind for work items.
func normalItem(item provider.WorkItem) provider.WorkItem {
	if c, ok := item.(provider.ContinueAsNewItem); ok && len(c.CarryForwardEvents) == 0 {
		c.CarryForwardEvents = nil
		return c
	}
	return item
}

func eventIDs(events []provider.Event) []uint64 {
	ids := make([]uint64, len(events))
	for i, e := range events {
		ids[i] = e.EventID
	}
	return ids
}

// render is a value with its pointers followed, for comparing and printing.
func render(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T %+v", v, v)
	}
	return fmt.Sprintf("%T%s", v, data)
}

// clip shortens a text for a message.
func clip(text string) string {
	const limit = 300
	if len(text) <= limit {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:limit], len(text))
}

// firstDifference says where two texts part, with a little of both.
func firstDifference(got, want string) string {
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	around := func(text string) string {
		return fmt.Sprintf("%q", text[max(0, at-40):min(len(text), at+40)])
	}
	return fmt.Sprintf("%d bytes, want %d; they part at byte %d: …%s… want …%s…",
		len(got), len(want), at, around(got), around(want))
}
