package providertest

import (
	"errors"

	"github.com/duroxide/duroxide-go/provider"
)

// outOfOrder checks what a store says while somebody has to mend it.
func outOfOrder() category {
	return category{"more mending", []scenario{{"holder_of_a_spoilt_store_tries_again", triesUntilMended}}}
}

const ruleOutOfOrder = "§2.3: to whoever holds a lock, a store that somebody has to mend is ErrOutOfOrder and retryable"

// A file that was read-only for a moment failed the orchestration that was acknowledged then.
func triesUntilMended(e *env) {
	e.needs(e.store.Spoil != nil, "Spoil")
	e.create("A")
	e.enqueue(raised("A", "go"))
	e.enqueueWork(activityItem("A", 7))
	turn, work := e.fetchInstance("A", held), e.fetchWork(held)
	calls := map[string]func() error{
		"acknowledging a turn": func() error {
			return e.p.AckOrchestrationItem(e.ctx, provider.AckOrchestrationParams{LockToken: turn.LockToken, ExecutionID: 1})
		},
		"acknowledging an activity": func() error { return e.p.AckWorkItem(e.ctx, work.LockToken, completedItem("A", 7)) },
	}
	mend, err := e.store.Spoil(e.ctx)
	e.ok(err, "the Spoil hook")
	for what, call := range calls {
		err := call()
		e.check(provider.IsRetryable(err) && errors.Is(err, provider.ErrOutOfOrder), ruleOutOfOrder, "%s: %v", what, err)
	}
	e.ok(mend(), "the Spoil hook")
	for what, call := range calls {
		e.ok(call(), ruleOutOfOrder+": "+what+" after the repair")
	}
}
