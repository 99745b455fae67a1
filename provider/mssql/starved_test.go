package mssql_test

import (
	"context"
	"fmt"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/internal/testsupport/mssqltest"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/tsqltest"
)

// A transaction of an application that has sent a message to one instance holds up whoever sends to it, and nobody else: the lease of
// another instance is renewed while more acknowledgements wait than the store has connections, again and again, and each is
// accepted when the transaction ends.
func TestRenewalsDoNotStarve(t *testing.T) {
	t.Parallel()
	const acks, connections = 30, 10
	server := tsqltest.New(t, tsqltest.Options{RowVersions: true})
	store := open(t, server.DSN(), mssql.Config{AutoMigrate: true, MaxOpenConns: connections})
	for id := range uint64(acks + 1) {
		instance := "hub"
		if id == acks {
			instance = "other"
		}
		ok(t, store.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{Instance: instance, ExecutionID: 1, ID: id + 1, Name: "A", Input: "1"}))
	}
	var tokens []string
	var other string
	for range acks + 1 {
		fetched, err := store.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: lease})
		ok(t, err)
		if item, _ := fetched.Item.(provider.ActivityExecuteItem); item.Instance == "other" {
			other = fetched.LockToken
		} else {
			tokens = append(tokens, fetched.LockToken)
		}
	}
	tx, err := connect(t, server.DSN()).BeginTx(t.Context(), nil)
	ok(t, err)
	ok(t, store.EnqueueTx(t.Context(), tx, provider.ExternalRaisedItem{Instance: "hub", Name: "e", Data: "1"}, 0))
	done := make(chan error, acks)
	for i, token := range tokens {
		go func() {
			var err error
			for try := 0; try == 0 || provider.IsRetryable(err); try++ {
				err = store.AckWorkItem(t.Context(), token, provider.ActivityCompletedItem{Instance: "hub", ExecutionID: 1, ID: uint64(i + 1), Result: "1"})
			}
			done <- err
		}()
	}
	waiting := func() (n int) {
		ok(t, server.DB().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE request_status = 'WAIT'").Scan(&n))
		return n
	}
	for range 10 {
		for waiting() < connections-2 {
			goruntime.Gosched()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // of a lease that ends after five
		if err := store.RenewWorkItemLock(ctx, other, lease); err != nil {
			t.Fatalf("the lease of another instance was not renewed: %v", err)
		}
		cancel()
	}
	if len(done) > 0 {
		t.Errorf("an acknowledgement ended while the transaction was open: %v", <-done)
	}
	ok(t, tx.Commit())
	for range acks {
		ok(t, <-done)
	}
}

// TestHoldersWaitBriefly: what whoever holds a lease calls waits a second for a lock, also for its own inbox, and then says that nothing
// was stored.
func TestHoldersWaitBriefly(t *testing.T) {
	t.Parallel()
	_, schema := mssqltest.Pooled(t)
	store := open(t, mssqltest.DSN(t), mssql.Config{Schema: schema, MaxRetries: -1, CallTimeout: -1})
	ok(t, store.EnqueueForOrchestrator(t.Context(), provider.StartOrchestrationItem{Instance: "a", Orchestration: "A", ExecutionID: 1}, 0))
	fetched, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: lease})
	ok(t, err)
	tx, err := connect(t, mssqltest.DSN(t)).BeginTx(t.Context(), nil)
	ok(t, err)
	defer func() { ok(t, tx.Rollback()) }()
	ok(t, store.EnqueueTx(t.Context(), tx, provider.ExternalRaisedItem{Instance: "a", Name: "e", Data: "1"}, 0))
	for what, call := range map[string]func() error{
		"ack": func() error {
			return store.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{LockToken: fetched.LockToken, ExecutionID: 1})
		},
		"renew": func() error { return store.RenewOrchestrationItemLock(t.Context(), fetched.LockToken, lease) },
		"abandon": func() error {
			return store.AbandonOrchestrationItem(t.Context(), provider.AbandonParams{LockToken: fetched.LockToken})
		},
	} {
		if err := call(); !provider.IsRetryable(err) || !hasNumber(err, 1222) {
			t.Errorf("%s ended with %v, want error 1222", what, fmt.Sprint(err))
		}
	}
}
