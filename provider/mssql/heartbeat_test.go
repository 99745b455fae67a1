package mssql_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// The details of a heartbeat are no key, so that what ends the stored form of a key is a character like any other.
func TestHeartbeatComesBackAsItWas(t *testing.T) {
	t.Parallel()
	store := emptyStore(t, 2)
	for _, details := range []string{"␟", "half␟", "blank ", "\x1b␛␟", "␠"} {
		ok(t, store.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 1, Name: "Work"}))
		work, err := store.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: lease})
		ok(t, err)
		ok(t, store.KeepHeartbeat(t.Context(), work.LockToken, lease, details))
		ok(t, store.AbandonWorkItem(t.Context(), provider.AbandonParams{LockToken: work.LockToken}))
		work, err = store.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: lease})
		ok(t, err)
		if work.Heartbeat != details {
			t.Errorf("%q came back as %q", details, work.Heartbeat)
		}
		ok(t, store.AckWorkItem(t.Context(), work.LockToken, nil))
	}
}
