package rig

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/hook"
)

// Counter is a hook that counts and times the calls of a store.
type Counter struct {
	hook.None

	mu                          sync.Mutex
	calls, writes, emptyFetches int64
	methods                     map[string]*tally
}

// tally is what is known of a method.
type tally struct {
	calls int64
	total time.Duration
}

// NewCounter returns a counter that has counted nothing.
func NewCounter() *Counter { return &Counter{methods: map[string]*tally{}} }

// Calls is the number of calls.
func (c *Counter) Calls() int64 { return c.read(&c.calls) }

// Writes is the number of calls that changed the store: each is at least a part of
// a transaction. A fetch counts when it locked something.
func (c *Counter) Writes() int64 { return c.read(&c.writes) }

// EmptyFetches is the number of fetches that found nothing.
func (c *Counter) EmptyFetches() int64 { return c.read(&c.emptyFetches) }

func (c *Counter) read(n *int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *n
}

// MethodTime is how often a method was called, and how long a call took on average.
type MethodTime struct {
	Method string        `json:"method"`
	Calls  int64         `json:"calls"`
	Mean   time.Duration `json:"mean_ns"`
}

// Methods returns the methods that were called, by name. Fetches that found nothing
// are left out: they wait.
func (c *Counter) Methods() []MethodTime {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []MethodTime
	for _, name := range slices.Sorted(maps.Keys(c.methods)) {
		t := c.methods[name]
		list = append(list, MethodTime{name, t.calls, t.total / time.Duration(t.calls)})
	}
	return list
}

// Store implements [hook.Hook].
func (c *Counter) Store(_ context.Context, operation string) (ended func(hook.StoreEnd)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	began := time.Now()
	return func(end hook.StoreEnd) { c.ended(operation, time.Since(began), end) }
}

// fetches are the operations that wait for work, and reads those that change nothing.
var (
	fetches = []string{"fetch_orchestration_item", "fetch_work_item", "take"}
	reads   = []string{
		"read", "read_with_execution", "read_progress", "find_instance", "lost_work_items", "unknown_code", "waiting_for_code", "known_versions",
		"get_custom_status", "get_kv_value", "get_kv_all_values", "get_instance_stats",
	}
)

func (c *Counter) ended(operation string, took time.Duration, end hook.StoreEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(fetches, operation) && end.Turns+end.Activities == 0 {
		c.emptyFetches++
		return
	}
	if end.Err == nil && !slices.Contains(reads, operation) {
		c.writes++
	}
	t := c.methods[operation]
	if t == nil {
		t = &tally{}
		c.methods[operation] = t
	}
	t.calls++
	t.total += took
}
