package mssql

import (
	"testing"
	"time"
)

// Fetches look from the beginning, except for a while after one that was slow; and then one looks from there each second.
func TestMarks(t *testing.T) {
	t.Parallel()
	start := time.Date(2024, time.May, 1, 12, 0, 0, 0, time.UTC)
	at := start.Add
	var m marks
	beginning := func(after time.Duration, kind string) {
		t.Helper()
		if from, due := m.from(kind, at(after)); from != nil || due != nil {
			t.Errorf("after %v the look is from %d and %d, want the beginning", after, *from, *due)
		}
	}
	marked := func(after time.Duration, wantFrom, wantDue int64) {
		t.Helper()
		if from, due := m.from("a", at(after)); from == nil || due == nil || *from != wantFrom || *due != wantDue {
			t.Errorf("after %v the look is from %v and %v, want %d and %d", after, from, due, wantFrom, wantDue)
		}
	}
	m.found("a", at(0), 3, 30, slowLook-time.Millisecond)
	beginning(0, "a")
	m.found("a", at(0), 5, 50, slowLook)
	marked(0, 5, 50)
	beginning(0, "b")
	m.found("a", at(0), 7, 70, 0)
	m.found("a", at(0), 6, 60, 0) // it began before the last one
	marked(lookBack-1, 7, 70)
	beginning(lookBack, "a")
	marked(lookBack, 7, 70)
	m.found("a", at(lookBack), 8, 80, slowLook) // there are still as many
	marked(2*lookBack-1, 8, 80)
	beginning(lookBack+markedFor, "a")
	beginning(lookBack+markedFor, "a")
}
