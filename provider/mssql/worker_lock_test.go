package mssql

import (
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// Each outcome of a common renewal is the error of the renewal of that lease alone.
func TestOutcomesOfRenewalsAreThoseOfEach(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	store := newStore(t, db, schema)
	const nobodys = "6f1f5f0e-0c5e-4a59-9c0a-3a1f6a2b7c11"
	var locks []provider.LockRenewal
	var alone []error
	for _, token := range []string{"no token", nobodys} {
		locks = append(locks,
			provider.LockRenewal{LockToken: token, ExtendFor: time.Minute}, provider.LockRenewal{LockToken: token, Turn: true, ExtendFor: time.Minute})
		alone = append(alone,
			store.RenewWorkItemLock(t.Context(), token, time.Minute), store.RenewOrchestrationItemLock(t.Context(), token, time.Minute))
	}
	outcomes, err := store.RenewLocks(t.Context(), locks)
	if err != nil {
		t.Fatal(err)
	}
	for i, outcome := range outcomes {
		if outcome == nil || outcome.Error() != alone[i].Error() {
			t.Errorf("lock %d: %v, want %v", i, outcome, alone[i])
		}
	}
}
