// Package worker runs orchestrations and activities against a store.
//
//	w, err := worker.New(store, worker.Options{})
//	if err != nil {
//		return err
//	}
//	if err := w.Register(HelloCities, Greet); err != nil {
//		return err
//	}
//	return w.Run(ctx)
//
// Any number of workers, in any number of processes, may share a store. A turn is one piece of an orchestration's
// run, until the function has to wait. A lease is the time for which a worker owns a turn or an activity; the worker
// renews it while it works. The store ensures that at most one turn of an instance runs at a time. When a worker
// dies, its leases end and other workers get its work.
//
// The log names the line where an orchestration function blocks, or where another goroutine uses its context. It
// warns about work that has run or waited for a long time, that comes near a limit, or that is lost. It reports when
// the store becomes unreachable, again at growing intervals while that lasts, and when the store is back.
package worker

// Files: worker.go (life cycle), options.go, options_check.go, known.go (the code this worker has), check.go (whether a
// history fits it); runner.go (what package taking needs of the worker) and verdict.go (what becomes of a turn or an
// activity, and the calls for it).
//
// For turns: turn.go (what one batch needs), cache.go (functions between their turns), ack.go (committing),
// children.go, collision.go (ids that are taken), hold.go (histories that the code does not fit), poison.go and
// misuse.go (functions that break the rules), unread.go (histories that cannot be decoded).
//
// For activities: call.go (what one of them needs), outcome.go (what came of it), kept.go (results that the store has
// not taken), attach.go (those whose lease ends while they run), cancellation.go, heartbeat.go, late.go (those that
// begin too late or run for too long), session.go, syscall.go (built-in ones).
//
// For both: payloads.go (the codec), hooks.go, unknown.go and unknown_watch.go (work whose code nobody has),
// held_watch.go (what is told of it), unserved.go (sessions and tags without results), recent.go.
//
// Packages: internal/taking finds work, starts it on slots and repeats the calls that settle it; internal/turns says
// what a fetched turn is about; internal/leases renews leases; internal/outage tells of a store that is away.
