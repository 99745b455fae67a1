package worker

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/worker/internal/turns"
)

// Held is an instance that waits because the code that this worker has registered does not fit its history, because
// its history cannot be decoded, or because this worker was given it without having its code.
type Held struct {
	Instance    string
	ExecutionID uint64
	// Orchestration and Version are the code that does not fit or is missing.
	Orchestration, Version string
	// Reason says which code is missing, or what the history holds, what the code asks for, and at which line. There
	// is no payload in it.
	Reason string
	// Since is when this worker first held the instance. Next is when the instance is offered again.
	Since, Next time.Time
}

// heldTurn is a [Held] with how often it was given back.
type heldTurn struct {
	Held

	times uint32
}

// Held lists the instances that this worker could not run when it last had them. The list begins with the instance
// that this worker met first. An instance that another worker has taken since stays in the list for a while. A
// [provider.Store] gives a worker no instance whose code the worker lacks, so the list then has only those whose code
// does not fit. For the held instances of all workers ask the store, as client.ListHeld does.
func (w *Worker) Held() []Held {
	var list []Held
	for _, h := range w.held.all() {
		if time.Since(h.Next) < w.options.UnregisteredBackoffMax {
			list = append(list, h.Held)
		}
	}
	slices.SortFunc(list, func(a, b Held) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Instance, b.Instance))
	})
	return list
}

// hold tells of code that does not fit, and holds or cancels the instance. It returns nil if the instance fails.
func (t *turn) hold(ctx context.Context, b turns.Begin, work replay.Turn, misfit *replay.Misfit) verdict {
	reason := misfit.Message
	work.Resume, work.Keep, work.Slow, work.AllPlaces = nil, false, nil, true
	if again, err := replay.Check(ctx, work); err == nil && again.Misfit != nil {
		reason = again.Misfit.Message // with the line
	}
	logger := t.logger.With("orchestration_version", b.Started.Version, "execution_id", b.ExecutionID, "reason", reason)
	if t.worker.options.FailMisfits {
		logger.ErrorContext(ctx, "the code of an orchestration does not fit its history")
		return nil
	}
	if t.batch().EndsByRequest(b) {
		logger.WarnContext(ctx, "the code of an orchestration does not fit its history, the instance is cancelled")
		return t.endUnrun(ctx, b, nil)
	}
	tries, delay := t.note(b, reason, t.worker.unregisteredDelay)
	if tellsTry(tries) {
		logger.WarnContext(ctx, "the code of an orchestration does not fit its history, the instance is held",
			"tries", tries, "retry_in", delay, "next_line_after", 2*tries)
	}
	// Each try says why: its messages may not be those of the one before.
	return giveBack{Delay: delay, IgnoreAttempt: true, Misfit: reason}
}

// note remembers that the instance is held, and returns how often it was given back and when it is offered again.
func (t *turn) note(b turns.Begin, reason string, pause func(times uint32) time.Duration) (times uint32, delay time.Duration) {
	held := t.worker.held.update(t.key(), func(h heldTurn) heldTurn {
		now := time.Now()
		if h.times == 0 {
			h.Since = now
		}
		h.times++
		delay = pause(h.times)
		h.Instance, h.ExecutionID, h.Reason, h.Next = t.item.Instance, b.ExecutionID, reason, now.Add(delay)
		h.Orchestration, h.Version = b.Started.Name, b.Started.Version
		return h
	})
	return held.times, delay
}
