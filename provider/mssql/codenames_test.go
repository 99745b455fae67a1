package mssql_test

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// A name whose stored form is too long for its column, as that of control characters is, is one that work cannot be
// selected by: any worker takes the work.
func TestNameWhoseStoredFormIsTooLong(t *testing.T) {
	t.Parallel()
	store := emptyStore(t, 2)
	long := strings.Repeat("\x01", 300)
	known := provider.Know(provider.CodeName{Name: long}, provider.CodeName{Name: "Work"}, provider.CodeName{Name: "Order", Version: long})
	for _, name := range []string{long, "Work", long + "!"} {
		ok(t, store.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 1, Name: name}))
		work, err := store.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: lease, Known: known})
		ok(t, err)
		if work == nil || work.Item.(provider.ActivityExecuteItem).Name != name {
			t.Errorf("the activity %q was not fetched: %+v", name, work)
		}
	}
	ok(t, store.EnqueueForOrchestrator(t.Context(), provider.StartOrchestrationItem{Instance: "i", Orchestration: "Order", Version: &long, ExecutionID: 1}, 0))
	turn, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: lease, Known: known})
	ok(t, err)
	if turn == nil {
		t.Error("the start was not fetched")
	}
	versions, err := store.KnownVersions(t.Context(), long, lease)
	ok(t, err)
	if len(versions) > 0 {
		t.Errorf("%q", versions)
	}
}
