package linear

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Recorder records the calls of several clients of a store.
type Recorder struct {
	// Clock shows the store's time in milliseconds. The machine's clock will do for a store that uses it.
	Clock func() int64
	// Patience is how long a fetch may take, on the machine's clock, until an answer that there is nothing says
	// nothing. 0 is for ever.
	Patience time.Duration

	mu    sync.Mutex
	count uint64
	calls []*Call
	// turns and works tell what a token was for.
	turns map[string]string
	works map[string]heldWork
}

// Client is a store that records the calls that are made through it, as those of one client. Of [provider.Admin] it
// records GetInstanceInfo and DeleteInstance.
func (r *Recorder) Client(name string, store provider.Provider) *Client {
	return &Client{Provider: store, recorder: r, name: name}
}

// Calls are all calls so far, in the order in which they began.
func (r *Recorder) Calls() []*Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// Mark is a moment, for Rewind.
func (r *Recorder) Mark() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}

// Rewind forgets the calls that began after a moment: what they did was undone. The count of moments goes on.
func (r *Recorder) Rewind(mark uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = slices.DeleteFunc(r.calls, func(c *Call) bool { return c.Begin > mark })
}

func (r *Recorder) begin(client string, op operation) *Call {
	from := r.Clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	c := &Call{Client: client, Begin: r.count, From: from, op: op}
	r.calls = append(r.calls, c)
	return c
}

// end notes the answer. After an error that leaves open what has come of the call, it has no end.
func (r *Recorder) end(c *Call, err error, note func()) {
	until := r.Clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	c.Until, c.err = until, err
	if note != nil && err == nil {
		note()
	}
	if err == nil || !provider.IsRetryable(err) {
		r.count++
		c.End = r.count
	}
}

// turnOf is what a call with a token is about.
func (r *Recorder) turnOf(token string) turn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return turn{token, r.turns[token]}
}

func (r *Recorder) workOf(token string) heldWork {
	r.mu.Lock()
	defer r.mu.Unlock()
	held := r.works[token]
	held.token = token
	return held
}

// Client is one of the clients of a [Recorder].
type Client struct {
	provider.Provider

	recorder *Recorder
	name     string
}

// ask records a call that reads or takes something.
func ask[A any](c *Client, op operation, do func() (A, error), note func(A)) (A, error) {
	call := c.recorder.begin(c.name, op)
	answer, err := do()
	c.recorder.end(call, err, func() { note(answer) })
	return answer, err
}

// tell records a call whose only answer is its error.
func (c *Client) tell(op operation, do func() error) error {
	call := c.recorder.begin(c.name, op)
	err := do()
	c.recorder.end(call, err, nil)
	return err
}

// FetchOrchestrationItem implements [provider.Provider].
func (c *Client) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	r, began := c.recorder, time.Now()
	op := &fetchTurn{lease: params.LockTimeout, selective: params.Filter != nil || params.Known != nil || params.UnknownFor != 0}
	return ask(c, op, func() (*provider.FetchedOrchestration, error) { return c.Provider.FetchOrchestrationItem(ctx, params) },
		func(got *provider.FetchedOrchestration) {
			op.got, op.vague = got, r.Patience > 0 && time.Since(began) > r.Patience
			if got == nil {
				return
			}
			op.messages, op.history = itemsOf(got.Item.Messages), eventsOf(got.Item.History)
			if r.turns == nil {
				r.turns = map[string]string{}
			}
			r.turns[got.LockToken] = got.Item.Instance
		})
}

// AckOrchestrationItem implements [provider.Provider].
func (c *Client) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	op := &ackTurn{
		turn: c.recorder.turnOf(params.LockToken), params: params, events: eventsOf(params.HistoryDelta),
		works: itemsOf(params.WorkerItems), messages: itemsOf(params.OrchestratorItems),
	}
	return c.tell(op, func() error { return c.Provider.AckOrchestrationItem(ctx, params) })
}

// AbandonOrchestrationItem implements [provider.Provider].
func (c *Client) AbandonOrchestrationItem(ctx context.Context, params provider.AbandonParams) error {
	op := &abandonTurn{c.recorder.turnOf(params.LockToken), params.Delay, params.IgnoreAttempt}
	return c.tell(op, func() error { return c.Provider.AbandonOrchestrationItem(ctx, params) })
}

// RenewOrchestrationItemLock implements [provider.Provider].
func (c *Client) RenewOrchestrationItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	op := &renewTurn{c.recorder.turnOf(lockToken), extendFor}
	return c.tell(op, func() error { return c.Provider.RenewOrchestrationItemLock(ctx, lockToken, extendFor) })
}

// Read implements [provider.Provider].
func (c *Client) Read(ctx context.Context, instance string) ([]provider.Event, error) {
	op, note := readHistory(instance, 0)
	return ask(c, op, func() ([]provider.Event, error) { return c.Provider.Read(ctx, instance) }, note)
}

// ReadWithExecution implements [provider.Provider].
func (c *Client) ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]provider.Event, error) {
	op, note := readHistory(instance, executionID)
	return ask(c, op, func() ([]provider.Event, error) { return c.Provider.ReadWithExecution(ctx, instance, executionID) }, note)
}

// AppendWithExecution implements [provider.Provider].
func (c *Client) AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []provider.Event) error {
	op := &appendEvents{instance, executionID, eventsOf(events)}
	return c.tell(op, func() error { return c.Provider.AppendWithExecution(ctx, instance, executionID, events) })
}

// EnqueueForWorker implements [provider.Provider].
func (c *Client) EnqueueForWorker(ctx context.Context, item provider.WorkItem) error {
	return c.tell(&enqueue{item: item, text: itemOf(item)}, func() error { return c.Provider.EnqueueForWorker(ctx, item) })
}

// EnqueueForOrchestrator implements [provider.Provider].
func (c *Client) EnqueueForOrchestrator(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
	op := &enqueue{item: item, text: itemOf(item), delay: delay}
	return c.tell(op, func() error { return c.Provider.EnqueueForOrchestrator(ctx, item, delay) })
}

// FetchWorkItem implements [provider.Provider].
func (c *Client) FetchWorkItem(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	r, began := c.recorder, time.Now()
	op := &fetchWork{params: params}
	return ask(c, op, func() (*provider.FetchedWorkItem, error) { return c.Provider.FetchWorkItem(ctx, params) },
		func(got *provider.FetchedWorkItem) {
			op.got, op.vague = got, r.Patience > 0 && time.Since(began) > r.Patience
			if got == nil {
				return
			}
			op.text = itemOf(got.Item)
			if r.works == nil {
				r.works = map[string]heldWork{}
			}
			r.works[got.LockToken] = heldWork{ref: newWork(got.Item, op.text, sent{}).ref}
		})
}

// AckWorkItem implements [provider.Provider].
func (c *Client) AckWorkItem(ctx context.Context, lockToken string, completion provider.WorkItem) error {
	op := &ackWork{c.recorder.workOf(lockToken), completion, itemOf(completion)}
	return c.tell(op, func() error { return c.Provider.AckWorkItem(ctx, lockToken, completion) })
}

// RenewWorkItemLock implements [provider.Provider].
func (c *Client) RenewWorkItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	op := &renewWork{c.recorder.workOf(lockToken), extendFor}
	return c.tell(op, func() error { return c.Provider.RenewWorkItemLock(ctx, lockToken, extendFor) })
}

// AbandonWorkItem implements [provider.Provider].
func (c *Client) AbandonWorkItem(ctx context.Context, params provider.AbandonParams) error {
	op := &abandonWork{c.recorder.workOf(params.LockToken), params.Delay, params.IgnoreAttempt}
	return c.tell(op, func() error { return c.Provider.AbandonWorkItem(ctx, params) })
}

// RenewSessionLock implements [provider.Provider].
func (c *Client) RenewSessionLock(ctx context.Context, params provider.RenewSessionParams) (int, error) {
	op := &renewSessions{params: params}
	return ask(c, op, func() (int, error) { return c.Provider.RenewSessionLock(ctx, params) }, func(n int) { op.renewed = n })
}

// GetCustomStatus implements [provider.Provider].
func (c *Client) GetCustomStatus(ctx context.Context, instance string, lastSeenVersion uint64) (*provider.CustomStatus, error) {
	op, note := readStatus(instance, lastSeenVersion)
	return ask(c, op, func() (*provider.CustomStatus, error) {
		return c.Provider.GetCustomStatus(ctx, instance, lastSeenVersion)
	}, note)
}

// GetKVValue implements [provider.Provider].
func (c *Client) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	op, note := readValue(instance, key)
	return ask(c, op, func() (*string, error) { return c.Provider.GetKVValue(ctx, instance, key) }, note)
}

// GetKVAllValues implements [provider.Provider].
func (c *Client) GetKVAllValues(ctx context.Context, instance string) (map[string]string, error) {
	op, note := readValues(instance)
	return ask(c, op, func() (map[string]string, error) { return c.Provider.GetKVAllValues(ctx, instance) }, note)
}

// GetInstanceStats implements [provider.Provider].
func (c *Client) GetInstanceStats(ctx context.Context, instance string) (*provider.InstanceStats, error) {
	op, note := readStats(instance)
	return ask(c, op, func() (*provider.InstanceStats, error) { return c.Provider.GetInstanceStats(ctx, instance) }, note)
}

// Admin implements [provider.Provider].
func (c *Client) Admin() provider.Admin { return &admin{c.Provider.Admin(), c} }

// admin records what the model knows of the management interface.
type admin struct {
	provider.Admin

	client *Client
}

// GetInstanceInfo implements [provider.Admin].
func (a *admin) GetInstanceInfo(ctx context.Context, instance string) (provider.InstanceInfo, error) {
	op, note := readInfo(instance)
	return ask(a.client, op, func() (provider.InstanceInfo, error) { return a.Admin.GetInstanceInfo(ctx, instance) }, note)
}

// DeleteInstance implements [provider.Admin].
func (a *admin) DeleteInstance(ctx context.Context, instance string, force bool) (provider.DeleteInstanceResult, error) {
	op := &deleteInstance{instance: instance, force: force}
	return ask(a.client, op, func() (provider.DeleteInstanceResult, error) { return a.Admin.DeleteInstance(ctx, instance, force) },
		func(deleted provider.DeleteInstanceResult) { op.deleted = deleted })
}
