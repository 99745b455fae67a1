// Package linear checks that a store which many clients use at the same time behaves as if their calls had been made
// one after the other: it is linearizable, by the contract's model.
//
// A [Recorder] gives each client a store of its own that records the calls: when they began and ended, what they were
// asked and what they answered. [Check] then looks for an order of the calls in which each answer is the one that the
// contract's model gives, and in which no call comes before another one that had ended when it began. If there is none,
// the [Anomaly] has a short part of the history for which there is none either, as a table. [Work] is what the clients
// of a test do: calls at random.
//
// When calls began and ended is counted, not timed. The model has the store's clock all the same, since leases end and
// messages become visible with it: a call has read the clock once, at some time between its beginning and its end, so
// what the model knows are intervals. With a clock that a test moves they are nearly always points. Where an interval
// leaves open whether a lease has ended, both answers are right.
//
// The model leaves open what the contract leaves open:
//
//   - Which of several instances or activities a fetch returns, and so the order of activities.
//   - The order of messages whose senders did not wait for each other. Rows get their ids when they are written, not
//     when they are committed.
//   - Whether there was one moment at which nothing could be fetched, when a fetch returns nothing: it looks at one
//     candidate after the other. Each instance by itself must have been one that could not be fetched, at some moment
//     of the call. A fetch on SQL Server stops waiting for rows that others keep locked, and says that there is
//     nothing: see [Recorder.Patience].
//
// It does not have filters and selection by code, timers of the caller's clock, pruning, and the queue messages of
// instances that nobody has started; [Work] sends none.
package linear
