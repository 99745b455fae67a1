package linear

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Workload is what the clients of a test do: calls at random, on few instances, so that they meet.
type Workload struct {
	// Name is a part of the names of instances, so that several workloads can use a store one after the other.
	Name string
	// Seed makes the calls. The clients run at the same time, so that another run has other answers.
	Seed uint64
	// Clients is their number, and Calls what each of them makes.
	Clients, Calls int
	// Instances is the number of instances.
	Instances int
	// Sessions lets activities be in sessions.
	Sessions bool
	// Advance moves the store's clock on.
	Advance func(time.Duration)
}

// leases are for how long the clients hold what they fetch. They move the clock on by steps of this size, too.
const leases = 100 * time.Millisecond

// Run lets the clients work, then ends what they have begun and reads all there is, so that what was lost is missed.
// Several stores are for clients that open the same data in several processes. The error is one that the contract does
// not allow for.
func (w Workload) Run(ctx context.Context, r *Recorder, stores ...provider.Provider) error {
	var together sync.WaitGroup
	shared := &pool{}
	for n := range w.Clients {
		name := fmt.Sprintf("client %d", n+1)
		c := &client{
			Workload: w, ctx: ctx, store: r.Client(name, stores[n%len(stores)]), name: name, pool: shared,
			random: rand.New(rand.NewPCG(w.Seed, uint64(n))),
		}
		together.Go(func() {
			for range w.Calls {
				c.act()
			}
		})
	}
	together.Wait()
	return w.finish(ctx, r.Client("at the end", stores[0]))
}

// pool is what the clients tell each other.
type pool struct {
	mu    sync.Mutex
	turns []*provider.FetchedOrchestration
	works []*provider.FetchedWorkItem
	count int
}

// unique is a text that no other call has.
func (p *pool) unique() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	return fmt.Sprint("v", p.count)
}

// client is one of the clients at work.
type client struct {
	Workload
	*pool

	ctx    context.Context //nolint:containedctx // gone with the workload
	store  *Client
	name   string
	random *rand.Rand
}

// act makes a call. Its error is for the model to judge.
func (c *client) act() {
	for _, choice := range []struct {
		odds int
		do   func()
	}{
		{18, c.send},
		{18, c.fetchTurn},
		{22, c.useTurn},
		{8, c.fetchWork},
		{10, c.useWork},
		{16, c.read},
		{3, c.remove},
	} {
		if c.random.IntN(100) < choice.odds {
			choice.do()
			return
		}
	}
	c.advance()
}

// advance moves the clock on.
func (c *client) advance() {
	c.Advance(time.Duration(c.random.IntN(int(leases))))
}

func (c *client) instance() string { return fmt.Sprintf("%s-%d", c.Name, c.random.IntN(c.Instances)+1) }

func (c *client) one(in int) bool { return c.random.IntN(in) == 0 }

// pause is a time for a delay, mostly none.
func (c *client) pause() time.Duration {
	if c.one(4) {
		return leases / 2
	}
	return 0
}

// send enqueues a message or an activity.
func (c *client) send() {
	instance := c.instance()
	switch c.random.IntN(8) {
	case 0, 1, 2:
		_ = c.store.EnqueueForOrchestrator(c.ctx, c.start(instance, nil), c.pause())
	case 3:
		_ = c.store.EnqueueForWorker(c.ctx, c.activity(instance, 1, uint64(1000+c.random.IntN(1000))))
	default:
		_ = c.store.EnqueueForOrchestrator(c.ctx, provider.ExternalRaisedItem{Instance: instance, Name: "raised", Data: c.unique()}, c.pause())
	}
}

func (c *client) start(instance string, parent *string) provider.StartOrchestrationItem {
	version := "1.0.0"
	return provider.StartOrchestrationItem{
		Instance: instance, Orchestration: "Order", Version: &version, Input: c.unique(), ParentInstance: parent, ExecutionID: 1,
	}
}

func (c *client) activity(instance string, execution, id uint64) provider.ActivityExecuteItem {
	item := provider.ActivityExecuteItem{Instance: instance, ExecutionID: execution, ID: id, Name: "Charge", Input: c.unique()}
	if c.Sessions && c.one(2) {
		session := fmt.Sprintf("%s-s%d", c.Name, c.random.IntN(2))
		item.SessionID = &session
	}
	return item
}

func (c *client) fetchTurn() {
	got, err := c.store.FetchOrchestrationItem(c.ctx, provider.FetchOrchestrationParams{LockTimeout: leases})
	if err == nil && got != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.turns = append(c.turns, got)
	}
}

// useTurn does something with a turn that somebody has fetched, mostly one of the last.
func (c *client) useTurn() {
	c.mu.Lock()
	at := len(c.turns) - 1 - min(c.random.IntN(3), c.random.IntN(3))
	if at < 0 {
		c.mu.Unlock()
		c.fetchTurn()
		return
	}
	got := c.turns[at]
	c.mu.Unlock()
	switch c.random.IntN(8) {
	case 0:
		_ = c.store.RenewOrchestrationItemLock(c.ctx, got.LockToken, leases)
	case 1:
		_ = c.store.AbandonOrchestrationItem(c.ctx, provider.AbandonParams{LockToken: got.LockToken, Delay: c.pause(), IgnoreAttempt: c.one(2)})
	default:
		_ = c.store.AckOrchestrationItem(c.ctx, c.turn(got))
	}
}

func (c *client) fetchWork() {
	params := provider.FetchWorkParams{LockTimeout: leases}
	if c.Sessions {
		params.Session = &provider.SessionFetchConfig{OwnerID: c.owner(), LockTimeout: leases}
	}
	got, err := c.store.FetchWorkItem(c.ctx, params)
	if err == nil && got != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.works = append(c.works, got)
	}
}

// owner is who claims sessions for the client.
func (c *client) owner() string { return c.Name + " " + c.name }

// useWork does something with an activity that somebody has fetched, mostly one of the last.
func (c *client) useWork() {
	c.mu.Lock()
	at := len(c.works) - 1 - min(c.random.IntN(3), c.random.IntN(3))
	if at < 0 {
		c.mu.Unlock()
		c.fetchWork()
		return
	}
	got := c.works[at]
	c.mu.Unlock()
	switch c.random.IntN(8) {
	case 0, 1:
		_ = c.store.RenewWorkItemLock(c.ctx, got.LockToken, leases)
	case 2:
		_ = c.store.AbandonWorkItem(c.ctx, provider.AbandonParams{LockToken: got.LockToken, Delay: c.pause(), IgnoreAttempt: c.one(2)})
	case 3:
		if c.Sessions {
			_, _ = c.store.RenewSessionLock(c.ctx, provider.RenewSessionParams{OwnerIDs: []string{c.owner()}, ExtendFor: leases, IdleTimeout: 2 * leases})
		}
	default:
		_ = c.store.AckWorkItem(c.ctx, got.LockToken, completion(got))
	}
}

func completion(got *provider.FetchedWorkItem) provider.WorkItem {
	a, _ := got.Item.(provider.ActivityExecuteItem)
	return provider.ActivityCompletedItem{Instance: a.Instance, ExecutionID: a.ExecutionID, ID: a.ID, Result: a.Input}
}

// read asks something about an instance.
func (c *client) read() {
	instance := c.instance()
	switch c.random.IntN(7) {
	case 0:
		_, _ = c.store.Read(c.ctx, instance)
	case 1:
		_, _ = c.store.ReadWithExecution(c.ctx, instance, 1)
	case 2:
		_, _ = c.store.GetCustomStatus(c.ctx, instance, uint64(c.random.IntN(2)))
	case 3:
		_, _ = c.store.GetKVValue(c.ctx, instance, "a")
	case 4:
		_, _ = c.store.GetKVAllValues(c.ctx, instance)
	case 5:
		_, _ = c.store.GetInstanceStats(c.ctx, instance)
	default:
		_, _ = c.store.Admin().GetInstanceInfo(c.ctx, instance)
	}
}

// remove deletes an instance.
func (c *client) remove() {
	_, _ = c.store.Admin().DeleteInstance(c.ctx, c.instance(), c.one(2))
}

// finish runs what is left to its end: whatever was sent must come.
func (w Workload) finish(ctx context.Context, store *Client) error {
	w.Advance(10 * leases)
	for {
		got, err := store.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: leases})
		if err != nil {
			return err
		}
		if got == nil {
			break
		}
		if err := store.AckOrchestrationItem(ctx, provider.AckOrchestrationParams{LockToken: got.LockToken, ExecutionID: got.Item.ExecutionID}); err != nil {
			return err
		}
	}
	params := provider.FetchWorkParams{LockTimeout: leases}
	if w.Sessions {
		params.Session = &provider.SessionFetchConfig{OwnerID: w.Name, LockTimeout: leases}
	}
	for {
		got, err := store.FetchWorkItem(ctx, params)
		if err != nil {
			return err
		}
		if got == nil {
			break
		}
		if err := store.AckWorkItem(ctx, got.LockToken, nil); err != nil {
			return err
		}
	}
	for n := range w.Instances {
		instance := fmt.Sprintf("%s-%d", w.Name, n+1)
		if _, err := store.Read(ctx, instance); err != nil {
			return err
		}
		if _, err := store.GetKVAllValues(ctx, instance); err != nil {
			return err
		}
		if _, err := store.GetCustomStatus(ctx, instance, 0); err != nil {
			return err
		}
	}
	return nil
}
