package mssql_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// A transaction of an application that has sent a message to one instance holds up whoever sends to it, and nobody
// else: the lease of another instance is renewed while more acknowledgements wait than the store has connections, again
// and again, and each is accepted when the transaction ends.
func TestRenewalsDoNotStarve(t *testing.T) {
	t.Parallel()
	const acks, connections = 30, 10
	server := tsqltest.New(t, tsqltest.Options{RowVersions: true})
	store := open(t, server.DSN(), mssql.Options{AutoMigrate: true, MaxOpenConns: connections})
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

// TestHoldersWaitBriefly: what whoever holds a lease calls waits a second for a lock, also for its own inbox, and then
// says that nothing was stored.
func TestHoldersWaitBriefly(t *testing.T) {
	t.Parallel()
	_, schema := mssqltest.Pooled(t)
	store := open(t, mssqltest.DSN(t), mssql.Options{Schema: schema, MaxRetries: mssql.None, CallTimeout: mssql.Forever})
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

// TestSendersDoNotStarve: more clients than the store has connections send to an instance that a transaction of an
// application keeps locked. Other instances' calls go on, a client with a deadline hears at its deadline what is
// locked, one without at CallTimeout, and what waited is sent once when the transaction ends.
func TestSendersDoNotStarve(t *testing.T) {
	t.Parallel()
	const senders, connections = 30, 10
	server := tsqltest.New(t, tsqltest.Options{RowVersions: true})
	store := open(t, server.DSN(), mssql.Options{AutoMigrate: true, MaxOpenConns: connections})
	hasty := open(t, server.DSN(), mssql.Options{CallTimeout: time.Second})
	// The name O is there: the first start of a name keeps that locked, too.
	known := provider.StartOrchestrationItem{Instance: "known", Orchestration: "O", ExecutionID: 1}
	ok(t, store.EnqueueForOrchestrator(t.Context(), known, 0))
	fetched, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: lease})
	ok(t, err)
	ok(t, store.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{LockToken: fetched.LockToken, ExecutionID: 1}))
	tx, err := connect(t, server.DSN()).BeginTx(t.Context(), nil)
	ok(t, err)
	ok(t, store.EnqueueTx(t.Context(), tx, provider.StartOrchestrationItem{Instance: "hub", Orchestration: "O", ExecutionID: 1}, 0))
	event := provider.ExternalRaisedItem{Instance: "hub", Name: "e", Data: "1"}
	start := provider.StartOrchestrationItem{Instance: "hub", Orchestration: "O", ExecutionID: 1}
	done := make(chan error, senders)
	for i := range senders {
		go func() {
			if i > 0 {
				done <- store.EnqueueForOrchestrator(t.Context(), event, 0)
				return
			}
			use, err := store.StartInstance(t.Context(), start)
			if err == nil && use == nil {
				err = errors.New("it was started a second time")
			}
			done <- err
		}()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := store.EnqueueForOrchestrator(ctx, event, 0); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "look for the session that blocks") {
		t.Errorf("with a deadline: %v", err)
	}
	if err := hasty.EnqueueForOrchestrator(t.Context(), event, 0); !errors.Is(err, mssql.ErrBusy) || !strings.Contains(err.Error(), `"hub"`) {
		t.Errorf("with CallTimeout: %v", err)
	}
	if _, err := hasty.StartInstance(t.Context(), start); !errors.Is(err, mssql.ErrBusy) || !strings.Contains(err.Error(), `"hub"`) {
		t.Errorf("a start with CallTimeout: %v", err)
	}
	for i := range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		other := fmt.Sprint("other ", i)
		ok(t, store.EnqueueForOrchestrator(ctx, provider.StartOrchestrationItem{Instance: other, Orchestration: "O", ExecutionID: 1}, 0))
		fetched, err := store.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: lease})
		ok(t, err)
		if fetched == nil || fetched.Item.Instance != other {
			t.Fatalf("fetched %+v", fetched)
		}
		ok(t, store.AckOrchestrationItem(ctx, provider.AckOrchestrationParams{LockToken: fetched.LockToken, ExecutionID: 1}))
		cancel()
	}
	if len(done) > 0 {
		t.Errorf("a call ended while the transaction was open: %v", <-done)
	}
	ok(t, tx.Commit())
	for range senders {
		ok(t, <-done)
	}
	fetched, err = store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: lease})
	ok(t, err)
	if n := len(fetched.Item.Messages); n != senders { // the transaction's start, and the events
		t.Errorf("%d messages arrived, want %d", n, senders)
	}
}

// TestLongTransactionEndsNoLease: a transaction of an application that has sent a message to one instance stays open
// for longer than a whole lease, as one of 30 s does with a worker's leases. Turns and activities of other instances,
// one by one and all in one call, are renewed meanwhile as a worker renews them, while acknowledgements wait for the
// locked instance, and each is acknowledged afterwards.
func TestLongTransactionEndsNoLease(t *testing.T) {
	t.Parallel()
	const brief, others, waiting = 3 * time.Second, 4, 20 // 30 s, scaled down with the time that the transaction is open
	server := tsqltest.New(t, tsqltest.Options{RowVersions: true})
	store := open(t, server.DSN(), mssql.Options{AutoMigrate: true})
	for id := range uint64(waiting + others) {
		instance := "hub"
		if id >= waiting {
			instance = fmt.Sprint("other ", id)
			ok(t, store.EnqueueForOrchestrator(t.Context(), provider.StartOrchestrationItem{Instance: instance, Orchestration: "O", ExecutionID: 1}, 0))
		}
		ok(t, store.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{Instance: instance, ExecutionID: 1, ID: id + 1, Name: "A"}))
	}
	var hub []string
	renewals, acks := map[string]func() error{}, map[string]func() error{}
	var together []provider.LockRenewal
	for id := range uint64(waiting + others) {
		lasts := brief
		if id < waiting {
			lasts = lease
		}
		work, err := store.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: lasts})
		ok(t, err)
		item, _ := work.Item.(provider.ActivityExecuteItem)
		if item.Instance == "hub" {
			hub = append(hub, work.LockToken)
			continue
		}
		turn, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: brief})
		ok(t, err)
		renewals["activity of "+item.Instance] = func() error { return store.RenewWorkItemLock(t.Context(), work.LockToken, brief) }
		acks["activity of "+item.Instance] = func() error {
			return store.AckWorkItem(t.Context(), work.LockToken, provider.ActivityCompletedItem{Instance: item.Instance, ExecutionID: 1, ID: item.ID})
		}
		if id%2 == 0 {
			together = append(together, provider.LockRenewal{LockToken: turn.LockToken, Turn: true, ExtendFor: brief})
		} else {
			renewals["turn of "+turn.Item.Instance] = func() error { return store.RenewOrchestrationItemLock(t.Context(), turn.LockToken, brief) }
		}
		acks["turn of "+turn.Item.Instance] = func() error {
			return store.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{LockToken: turn.LockToken, ExecutionID: 1})
		}
	}
	renewals["turns together"] = func() error {
		lost, err := store.RenewLocks(t.Context(), together)
		return errors.Join(append(lost, err)...)
	}
	tx, err := connect(t, server.DSN()).BeginTx(t.Context(), nil)
	ok(t, err)
	ok(t, store.EnqueueTx(t.Context(), tx, provider.ExternalRaisedItem{Instance: "hub", Name: "e"}, 0))
	done := make(chan error, waiting)
	for id, token := range hub {
		go func() {
			var err error
			for try := 0; try == 0 || provider.IsRetryable(err); try++ {
				err = store.AckWorkItem(t.Context(), token, provider.ActivityCompletedItem{Instance: "hub", ExecutionID: 1, ID: uint64(id + 1)})
			}
			done <- err
		}()
	}
	for opened := time.Now(); time.Since(opened) < brief+brief/4; {
		for what, renew := range renewals {
			if err := renew(); err != nil {
				t.Fatalf("%s was not renewed after %v: %v", what, time.Since(opened), err)
			}
		}
		time.Sleep(brief / 6)
	}
	if len(done) > 0 {
		t.Errorf("an acknowledgement ended while the transaction was open: %v", <-done)
	}
	ok(t, tx.Commit())
	for what, ack := range acks {
		if err := ack(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for range waiting {
		ok(t, <-done)
	}
}
