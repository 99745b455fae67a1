package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// lockTimeout is the number of the error of a wait that was too long.
const lockTimeout = 1222

// checkInboxLock sends a message to an instance in an open transaction. Another session that sends to it has to wait,
// and one that claims must not get it.
func checkInboxLock(ctx context.Context, at *site) result {
	first, err := at.session()
	if err != nil {
		return fails("%v", err)
	}
	defer func() { _ = first.close() }()
	second, err := at.session()
	if err != nil {
		return fails("%v", err)
	}
	defer func() { _ = second.close() }()
	if _, err := first.store.StartInstance(ctx, start("locked")); err != nil {
		return fails("%v", err)
	}
	tx, err := first.db.BeginTx(ctx, nil)
	if err != nil {
		return fails("%v", err)
	}
	defer func() { _ = tx.Rollback() }()
	event := provider.ExternalRaisedItem{Instance: "locked", Name: "event", Data: "1"}
	if err := first.store.EnqueueTx(ctx, tx, event, 0); err != nil {
		return fails("%v", err)
	}
	waits, err := second.db.BeginTx(ctx, nil)
	if err != nil {
		return fails("%v", err)
	}
	if err := execute(ctx, waits, "SET LOCK_TIMEOUT 0"); err != nil {
		return fails("%v", err)
	}
	err = second.store.EnqueueTx(ctx, waits, event, 0)
	_ = waits.Rollback() // the server may have done it
	if !slices.Contains(numbersOf(err), lockTimeout) {
		return fails("A second session that sends to the instance does not wait: %v.", err)
	}
	if err := execute(ctx, second.db, "SET LOCK_TIMEOUT -1"); err != nil {
		return fails("%v", err)
	}
	fetched, err := second.store.FetchOrchestrationItem(ctx, fetchTurn)
	if err != nil && !provider.IsRetryable(err) {
		return fails("A claim beside it ended with: %v", err)
	}
	if fetched != nil && fetched.Item.Instance == "locked" {
		return fails("A second session claims the instance that an open transaction has locked.")
	}
	return holds("The second session waits when it sends, and does not get the instance when it claims.")
}

// The hub is an instance with many activities that end together; each of the others has one, which lasts longer than
// its lease.
const hub = "hub"

// lockWaits is the rig of checkLockWaits.
type lockWaits struct {
	// open is closed when the activities of the others may end.
	open chan struct{}
	// begun counts the activities of the hub and of the others that have begun, and started how often each has.
	begun   atomic.Int64
	mu      sync.Mutex
	started map[string]int
}

func (r *lockWaits) begin(name string) {
	r.mu.Lock()
	r.started[name]++
	r.mu.Unlock()
	r.begun.Add(1)
}

// twice are the activities that have begun more than once.
func (r *lockWaits) twice() (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, n := range r.started {
		if n > 1 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

const (
	// hubActivities are more than a store has connections, others how many instances have leases to lose.
	hubActivities, others = 20, 4
	// brief is a lease of the rig, much shorter than the default, as is the time that the transaction is open.
	brief = 2 * time.Second
)

// checkLockWaits opens a transaction that sends to the hub, for longer than a lease. Meanwhile all activities of the
// hub end, and their acknowledgements wait for it. Activities and turns of others must keep their leases.
func checkLockWaits(ctx context.Context, at *site) result {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	rig := &lockWaits{open: make(chan struct{}), started: map[string]int{}}
	gate := make(chan struct{})
	act := activity.New("LockWaits", func(ctx context.Context, name string) (string, error) {
		rig.begin(name)
		until := gate
		if name[:len(hub)] != hub {
			until = rig.open
		}
		select {
		case <-until:
			return name, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	})
	fan := orchestration.New("LockWaits", func(ctx *orchestration.Context, n int) (string, error) {
		var futures []*orchestration.Future[string]
		for i := range n {
			futures = append(futures, orchestration.Activity(ctx, act, fmt.Sprint(ctx.Info().Instance, " ", i)))
		}
		_, err := orchestration.Join(futures...)
		return "done", err
	})
	c, err := at.hire(ctx, worker.Options{
		OrchestrationConcurrency: 4, ActivityConcurrency: hubActivities + others,
		Leases: worker.Leases{Orchestration: brief, Activity: brief},
	}, act, fan)
	if err != nil {
		return fails("%v", err)
	}
	err = at.holdHub(ctx, c, fan, rig, gate)
	if err = errors.Join(err, c.stop()); err != nil {
		return fails("%v", err)
	}
	if twice := rig.twice(); len(twice) > 0 {
		return fails("%s ran twice: %v.", counted(len(twice), "activity"), twice)
	}
	return holds("%d acknowledgements waited for %v beside leases of %v, and each of %d activities ran once.", hubActivities, brief+brief/2, brief, hubActivities+others)
}

// holdHub starts the instances, holds the inbox of the hub, and waits for all to end.
func (at *site) holdHub(ctx context.Context, c *crew, fan orchestration.Definition[int, string], rig *lockWaits, gate chan struct{}) (err error) {
	var runs []*client.Run[string]
	for i := range others + 1 {
		name, n := hub, hubActivities
		if i > 0 {
			name, n = fmt.Sprint("other ", i), 1
		}
		run, err := client.Start(ctx, c.client, fan, name, n)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	if err := until(ctx, func() (bool, error) { return rig.begun.Load() >= hubActivities+others, nil }); err != nil {
		return fmt.Errorf("the activities did not begin: %w", err)
	}
	tx, err := at.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after the commit it does nothing
	if err := c.store.EnqueueTx(ctx, tx, provider.ExternalRaisedItem{Instance: hub, Name: "event", Data: "1"}, 0); err != nil {
		return err
	}
	close(gate)
	if err := after(ctx, brief+brief/2); err != nil { // what is asked is whether leases end
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	close(rig.open)
	for _, run := range runs {
		if _, err := run.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}
