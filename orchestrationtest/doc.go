// Package orchestrationtest tests orchestrations. They run as a worker runs them, but without a store, and on a
// virtual clock that jumps to the next thing that is due.
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
// The tests use the worker's engine, and the histories equal those of a worker, event for event, including retries,
// timers, events, queues, sub-orchestrations, cancellations, continue-as-new and limits. One thing happens at a time,
// always in the same order. Things that are due at the same moment happen in the order in which they were asked for;
// the test's own script comes last (see [Env.After]). GUIDs are consecutive numbers, and UTCNow returns
// the test's clock.
//
// A function runs again from its start whenever something happens to its orchestration, as on a worker that keeps
// nothing in memory. So the test replays every prefix of the history. Code that does not repeat itself, because it
// depends on the order of a map or on a clock, fails the test with the event and the lines. After 100,000 replayed
// events, replays happen only when a history has doubled, and at the end.
//
// # What is not
//
// An activity that is not mocked really runs, on the test's goroutine, and takes no time on the test's clock. There
// are no leases, and no activity runs a second time because a worker died. Sessions and tags have no effect.
//
// # Before deploying
//
// [ReplayDir] replays histories of running instances against the present code. `duroxide history --into` writes the
// histories.
package orchestrationtest
