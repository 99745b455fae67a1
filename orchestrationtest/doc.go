// Package orchestrationtest tests orchestrations: they run as a worker runs them, on a clock
// that jumps to whatever comes next, with no store and nothing to wait for.
//
//	func TestOrder(t *testing.T) {
//		env := orchestrationtest.New(t, Order, Payment)
//		orchestrationtest.Mock(env, Charge, func(_ context.Context, b Bill) (string, error) {
//			return "receipt", nil
//		}).Fails(2, errors.New("no answer"))
//		orchestrationtest.Raise(env.After(72*time.Hour), Approve, Decision{By: "Ada"})
//
//		receipt, err := orchestrationtest.Run(env, Order, Cart{Cents: 4900})
//		if err != nil || receipt != "receipt" {
//			t.Errorf("%q, %v", receipt, err)
//		}
//		env.WantCalls("Reserve", "Charge @72h", "Charge @72h0m0.1s", "Charge @72h0m0.3s", "Ship")
//	}
//
// # What is real
//
// The engine is the worker's, and the histories are those that a worker makes, event for event:
// retries, timers, events, queues, sub-orchestrations, cancellations, continue-as-new and limits
// included. One thing happens at a time, in an order that is always the same. What is due at the
// same moment happens in the order in which it was asked for, and the script of the test, see
// [Env.After], comes last. GUIDs are counted, and orchestration.UTCNow is the test's clock.
//
// A function runs again from its start whenever something happens to its orchestration, as it
// would on a worker that keeps nothing in memory. So each run replays each of its prefixes, and
// code that does not repeat itself, by a map's order or a clock, ends the test with the event
// and the lines. Once 100,000 events were replayed, that is done whenever a history has
// doubled, and at the end.
//
// # What is not
//
// An activity that is not mocked really runs, on the test's goroutine, and takes no time on the
// test's clock. There are no leases, and no activity runs a second time because a worker died.
// Sessions and tags select nothing.
//
// # Before deploying
//
// [ReplayDir] replays histories of running instances, which `duroxide history --json` has
// written, against the code as it is now.
package orchestrationtest
