package worker

import (
	"slices"
	"sync"

	"github.com/duroxide/duroxide-go/provider"
)

// keptResults are results of activities whose lease ended before the store could take them.
// When such an activity comes back to this worker, it is not run again.
type keptResults struct {
	// limit is how many are kept, the latest ones.
	limit int

	mu      sync.Mutex
	results map[provider.ActivityRef]keptResult
	order   []provider.ActivityRef
}

type keptResult struct {
	name, input string
	attempt     uint32
	completion  provider.WorkItem
}

// keep stores the result of an activity that was fetched so often.
func (k *keptResults) keep(item provider.ActivityExecuteItem, attempt uint32, completion provider.WorkItem) {
	k.mu.Lock()
	defer k.mu.Unlock()
	ref := refOf(item)
	if _, again := k.results[ref]; !again {
		k.order = append(k.order, ref)
	}
	k.results[ref] = keptResult{name: item.Name, input: item.Input, attempt: attempt, completion: completion}
	if len(k.order) > k.limit {
		delete(k.results, k.order[0])
		k.order = k.order[1:]
	}
}

// take removes the result of an activity that has come back. One that has not been fetched
// more often than the one kept is another: its instance was deleted and started anew.
func (k *keptResults) take(c *call) (completion provider.WorkItem, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	ref := c.ref()
	kept, ok := k.results[ref]
	if !ok {
		return nil, false
	}
	delete(k.results, ref)
	k.order = slices.DeleteFunc(k.order, func(other provider.ActivityRef) bool { return other == ref })
	same := kept.name == c.item.Name && kept.input == c.item.Input && c.fetched.AttemptCount > kept.attempt
	return kept.completion, same
}
