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
// Any number of workers, in any number of processes, may share a store. The store
// makes sure that at most one turn of an instance runs at any time and that the
// work of a worker that dies comes back when its leases end (§7.3).
//
// Nothing waits in silence. The log tells, with the line, an orchestration function that
// blocks or whose context is used by another goroutine; at Warn what has run or waited for
// long, comes near a limit, or is lost; and a store that is away when it goes, ever more
// rarely, and when it is back.
//
// Files: worker.go (life cycle), options.go, options_check.go, orchestrator.go (the
// turn loops), turn.go (what one batch needs), ack.go (committing a turn), poison.go,
// misuse.go (functions that break the rules), activities.go (the activity loops),
// session.go, lease.go (renewal), known.go (the code this worker has), unknown.go and
// unknown_watch.go (work whose code nobody has), recent.go, outage.go (a store that is away), unserved.go
// (tags and sessions without results), syscall.go (built-in activities).
package worker
