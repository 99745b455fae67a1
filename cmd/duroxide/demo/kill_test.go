package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/demo"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/program"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/timeline"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// The test's size, for a run that is longer than `make test` has patience for:
//
//	DUROXIDE_TEST_KILLS=100 go test ./cmd/duroxide/demo -run TestKill9 -v
//
// DUROXIDE_TEST_SEED repeats the moments of an earlier run, which its log names.
const (
	killsVariable = "DUROXIDE_TEST_KILLS"
	seedVariable  = "DUROXIDE_TEST_SEED"
)

// TestKill9 kills the demo's worker process at random moments and shows that no
// orchestration, of whatever the runtime offers, notices: each ends exactly once, with the right result; no history
// has a gap, an event twice, or a result counted twice.
//
// In each round some orchestrations are started and a worker process is killed
// (SIGKILL) at a random moment, from before it has begun to when it may be idle.
// What a round leaves unfinished is there for the next. The moments are random,
// what is asserted is not.
func TestKill9(t *testing.T) {
	t.Parallel()
	kills := number(t, killsVariable, 15)
	seed := uint64(number(t, seedVariable, int(time.Now().UnixNano()&0xffffff)))
	t.Logf("%d kills; %s=%d repeats their moments", kills, seedVariable, seed)
	// A second and a half for each kill is ten times what it takes.
	patience := time.Minute + time.Duration(kills)*3*time.Second/2
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	k := newKiller(t, seed)
	approvals := k.approve(ctx)
	for round := range kills {
		k.start(ctx, round)
		k.workAndDie(ctx)
	}
	k.finish(ctx)
	cancel()
	<-approvals
	k.check()
}

// number reads a number from the environment.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// killer is one run of the test.
type killer struct {
	t      *testing.T
	random *rand.Rand
	store  *sqlite.Store
	client *client.Client
	worker []string
	stderr *lockedBuffer

	mu        sync.Mutex
	instances []demo.Instance
	// calls counts how often each activity was begun.
	calls map[demo.Call]int
	// interrupted counts the kills that met unfinished orchestrations.
	interrupted int
	last        demo.Record
}

func newKiller(t *testing.T, seed uint64) *killer {
	t.Helper()
	path := filepath.Join(t.TempDir(), "killed.db")
	store, err := sqlite.Open(t.Context(), path, sqlite.Options{PollInterval: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return &killer{
		t: t, random: rand.New(rand.NewPCG(seed, 9)), store: store, client: client.New(store, client.Options{}),
		worker: []string{program.Path(t), workerArgument, "-db", path, "-lease", "400ms", "-pause", "10ms", "-slots", "8"},
		stderr: &lockedBuffer{}, calls: map[demo.Call]int{},
	}
}

// start starts one orchestration of each shape.
func (k *killer) start(ctx context.Context, round int) {
	k.t.Helper()
	for _, shape := range []demo.Shape{
		demo.Cities("Oslo", "Lima", "Hanoi", "Accra", "Quito"),
		demo.Squares(20),
		demo.Timer(time.Duration(k.random.IntN(300)) * time.Millisecond),
		demo.Approval("a trip", "Ada"),
		demo.Tour([]string{"Bern", "Rome"}, []string{"Cairo"}),
		demo.Laps(3),
		demo.Medley("Ada"),
	} {
		instance := demo.Instance{Shape: shape, ID: fmt.Sprintf("%s-%d", shape.Name, round)}
		k.mu.Lock()
		k.instances = append(k.instances, instance)
		k.mu.Unlock()
		if err := unlessBusy(ctx, func() error { return instance.Start(ctx, k.client, instance.ID) }); err != nil {
			k.t.Fatal(err)
		}
		for _, message := range shape.Messages {
			if err := unlessBusy(ctx, func() error {
				return client.Enqueue(ctx, k.client, shape.Queue, instance.ID, message)
			}); err != nil {
				k.t.Fatal(err)
			}
		}
	}
}

// workAndDie runs a worker process and kills it after a random time, which begins
// when the process works or, now and then, when it is created.
func (k *killer) workAndDie(ctx context.Context) {
	k.t.Helper()
	process := k.startWorker(ctx)
	if k.random.IntN(5) > 0 {
		if err := process.Ready(ctx); err != nil {
			k.t.Fatal(err)
		}
	}
	const longest = 350 * time.Millisecond
	timer := time.NewTimer(time.Duration(k.random.Int64N(int64(longest))))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-process.Died():
		k.t.Fatalf("the worker ended by itself:\n%s", k.stderr.String())
	case <-ctx.Done():
		k.t.Fatal(context.Cause(ctx))
	}
	process.Kill()
	k.remember(ctx)
}

func (k *killer) startWorker(ctx context.Context) *demo.Process {
	k.t.Helper()
	process, err := demo.StartProcess(ctx, k.worker, k.stderr, func(call demo.Call) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.calls[call]++
	})
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(process.Kill)
	return process
}

// remember reads what a killed worker has left, and checks that nothing that was
// there before has changed.
func (k *killer) remember(ctx context.Context) {
	k.t.Helper()
	now, err := demo.ReadRecord(ctx, k.client, k.instances)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, problem := range now.Changed(k.last) {
		k.t.Error(problem)
	}
	k.last = now
	for _, root := range now.Roots {
		if !root.Status.Finished() {
			k.interrupted++
			return
		}
	}
}

// approve raises the event of each approval once, when its wait is on record: an
// event that came earlier would be lost, as it should be. The channel is closed
// when ctx has ended.
func (k *killer) approve(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	approved := map[string]bool{}
	go func() {
		defer close(done)
		for ticker := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-ticker.C:
				k.approveWaiting(ctx, approved)
			case <-ctx.Done():
				ticker.Stop()
				return
			}
		}
	}()
	return done
}

func (k *killer) approveWaiting(ctx context.Context, approved map[string]bool) {
	k.mu.Lock()
	instances := slices.Clip(k.instances)
	k.mu.Unlock()
	for _, instance := range instances {
		if !instance.Approves || approved[instance.ID] {
			continue
		}
		history, err := k.store.Read(ctx, instance.ID)
		for _, event := range history {
			if _, waits := event.Kind.(provider.ExternalSubscribed); waits && err == nil {
				err = unlessBusy(ctx, func() error { return demo.Approve(ctx, k.client, instance.ID, "Ada") })
				approved[instance.ID] = true
			}
		}
		if err != nil && ctx.Err() == nil {
			k.t.Errorf("approving %s: %v", instance.ID, err)
		}
	}
}

// unlessBusy repeats a call as long as the worker process keeps the file locked for
// itself. Nothing of such a call has been stored.
func unlessBusy(ctx context.Context, call func() error) error {
	for {
		if err := call(); !errors.Is(err, sqlite.ErrBusy) || ctx.Err() != nil {
			return err
		}
	}
}

// finish lets a last worker do what is left, and stops it in order.
func (k *killer) finish(ctx context.Context) {
	k.t.Helper()
	process := k.startWorker(ctx)
	for _, instance := range k.instances {
		k.await(ctx, instance.ID)
		tree, err := k.store.GetInstanceTree(ctx, instance.ID)
		if err != nil {
			k.t.Fatal(err)
		}
		for _, id := range tree.AllIDs {
			k.await(ctx, id)
		}
		if instance.Detaches {
			k.await(ctx, demo.AsideOf(instance.ID))
		}
	}
	if err := process.Stop(); err != nil {
		k.t.Error(err)
	}
	k.remember(ctx)
	depths, err := k.store.GetQueueDepths(ctx)
	if err != nil {
		k.t.Fatal(err)
	}
	if depths.WorkerQueue != 0 {
		k.t.Errorf("%d activities are still queued", depths.WorkerQueue)
	}
}

// await waits until an instance has ended.
func (k *killer) await(ctx context.Context, instance string) {
	k.t.Helper()
	if _, err := k.client.Wait(ctx, instance); err != nil {
		k.t.Fatalf("%s does not end: %v\n%s\nthe workers reported:\n%s", instance, err, k.tell(instance), k.stderr.String())
	}
}

// tell tells the history of an instance, for the report of a failure.
func (k *killer) tell(instance string) string {
	history, err := k.store.Read(context.WithoutCancel(k.t.Context()), instance)
	if err != nil {
		return err.Error()
	}
	var out bytes.Buffer
	timeline.Write(screen.New(&out, os.Getenv), history, timeline.Options{Data: true})
	return out.String()
}

// check looks at everything that is on record.
func (k *killer) check() {
	k.t.Helper()
	for _, problem := range k.last.Problems(k.calls) {
		k.t.Error(problem)
	}
	if k.interrupted == 0 {
		k.t.Error("no kill met an unfinished orchestration, so the test has shown nothing")
	}
	if text := k.stderr.String(); text != "" {
		// Leases are short and the machine may be slow: a call that took longer than
		// its lease is reported, and repeated by whoever has the lease next.
		k.t.Logf("the workers reported:\n%s", text)
	}
	begun := 0
	for _, n := range k.calls {
		begun += n
	}
	k.t.Logf("%d orchestrations, %d executions, %d events; %d kills met unfinished work; %d activities were begun %d times and counted %d times",
		k.last.Instances(), len(k.last.Executions), k.last.Events(), k.interrupted, len(k.calls), begun, k.last.Results())
}

// lockedBuffer is a buffer for several writers.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.TrimSpace(b.buffer.String())
}
