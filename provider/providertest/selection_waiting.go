package providertest

import (
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// waitingFetch is a fetch that waits, with what it should find.
type waitingFetch struct {
	fetch func() (found bool, err error)
	// other and wanted queue work that the fetch may not, and may, take.
	other, wanted func() error
}

// selectionWaiting is about fetches that wait.
func selectionWaiting() []scenario {
	return skipped((*env).needsWaiting, []scenario{
		{"waiting_fetch_returns_admitted_work", codeWakes},
		{"waiting_fetch_notices_what_becomes_admitted", codeWakesOnChange},
		{"waiting_fetch_leaves_other_work", codeWaitsOn},
	})
}

// codeWakes: a fetch that waits is not ended by others' work, and returns its own.
func codeWakes(e *env) {
	for name, w := range map[string]waitingFetch{
		"orchestration": {
			fetch: func() (bool, error) {
				got, err := e.waitToFetchTurn(provider.FetchOrchestrationParams{LockTimeout: held, Known: knows("A")})
				return got != nil && got.Item.Instance == "a", err
			},
			other:  func() error { return e.p.EnqueueForOrchestrator(e.ctx, startOf("x", "X", ""), 0) },
			wanted: func() error { return e.p.EnqueueForOrchestrator(e.ctx, startOf("a", "A", ""), 0) },
		},
		"activity": {
			fetch: func() (bool, error) {
				got, err := e.waitToFetchWork(knownWork(knows("A")))
				return got != nil && got.Item.(provider.ActivityExecuteItem).ID == 3, err
			},
			other:  func() error { return e.p.EnqueueForWorker(e.ctx, activityOf("X", 2)) },
			wanted: func() error { return e.p.EnqueueForWorker(e.ctx, activityOf("A", 3)) },
		},
	} {
		e.together(2, func(i int) error {
			if i == 1 {
				for _, enqueue := range []func() error{w.other, w.other, w.wanted} {
					e.sleep(e.lease / 8)
					if err := enqueue(); err != nil {
						return err
					}
				}
				return nil
			}
			begin := time.Now()
			found, err := w.fetch()
			if err == nil && !found {
				return violation(ruleWaitsForCode, "%s fetch: not what it waited for after %v", name, time.Since(begin))
			}
			return err
		})
	}
}

const ruleWaitsForCode = "§5.20 waiting: a fetch that waits returns what becomes admitted in the meantime"

// codeWakesOnChange: an instance that another's turn hands on by continue-as-new is
// fetched by whoever has waited for the new version.
func codeWakesOnChange(e *env) {
	e.enqueue(startOf("a", "A", "1"))
	e.begin("a", "A", "1")
	e.wake("a")
	turn := e.admits(knows("A@1"), "a", ruleRunsCode)
	e.together(2, func(i int) error {
		if i == 1 {
			e.sleep(e.lease / 8)
			return e.p.AckOrchestrationItem(e.ctx, turnOf(turn, provider.AckOrchestrationParams{
				HistoryDelta: []provider.Event{event("a", 1, 2, terminal(provider.StatusContinuedAsNew, "in"))},
				OrchestratorItems: []provider.WorkItem{provider.ContinueAsNewItem{
					Instance: "a", Orchestration: "A", Input: "in", Version: new("2"),
				}},
				Metadata: ended(provider.StatusContinuedAsNew, "in"),
			}))
		}
		got, err := e.waitToFetchTurn(provider.FetchOrchestrationParams{LockTimeout: held, Known: knows("A@2")})
		if err == nil && got == nil {
			return violation(ruleWaitsForCode, "nothing within %v", e.patience())
		}
		return err
	})
}

// codeWaitsOn: work of others neither ends a waiting fetch nor is touched by it.
func codeWaitsOn(e *env) {
	e.enqueue(startOf("x", "X", ""))
	e.enqueueWork(activityOf("X", 2))
	e.check(e.tryFetchParams(provider.FetchOrchestrationParams{LockTimeout: held, PollTimeout: e.lease / 4, Known: knows("A")}) == nil,
		ruleAdmitted, "fetched what the set has not")
	params := knownWork(knows("A"))
	params.PollTimeout = e.lease / 4
	e.fetchNoWork(params, ruleAdmitted)
	same(e, e.admits(nil, "x", ruleNotAdmitted).AttemptCount, 1, ruleNotAdmitted)
	same(e, e.claim(knownWork(nil), 2, ruleNotAdmitted).AttemptCount, 1, ruleNotAdmitted)
}
