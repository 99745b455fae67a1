package worker

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// Held is an instance that waits because the registered code does not fit its history.
type Held struct {
	Instance    string
	ExecutionID uint64
	// Orchestration and Version are the code that does not fit.
	Orchestration, Version string
	// Reason says what the history holds, what the code asks for, and at which line. There is no
	// payload in it.
	Reason string
	// Since is when this worker first found that the code does not fit. Next is when the instance is offered again.
	Since, Next time.Time
}

// heldTurn is a [Held] with how often it was given back.
type heldTurn struct {
	Held

	times uint32
}

// Held lists the instances that this worker could not run when it last had them, because its code does not fit their
// histories. The list begins with the instance that this worker met first. It is empty without Options.HoldMisfits.
// An instance that another worker has taken since stays in the list for a while. For the held instances of all
// workers ask the store, see [provider.HeldAdmin].
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

// hold tells of code that does not fit, and returns what gives the instance back; nil when it
// fails.
func (t *turn) hold(ctx context.Context, b begin, work replay.Turn, misfit *replay.Misfit) (settle func()) {
	reason := misfit.Message
	work.Resume, work.Keep, work.Slow, work.AllPlaces = nil, false, nil, true
	if again, err := replay.Check(ctx, work); err == nil && again.Misfit != nil {
		reason = again.Misfit.Message // with the line
	}
	logger := t.logger.With("orchestration_version", b.started.Version, "execution_id", b.executionID, "reason", reason)
	if !t.worker.options.HoldMisfits || slices.ContainsFunc(t.item.Messages, cancels) {
		logger.ErrorContext(ctx, "the code of an orchestration does not fit its history")
		return nil
	}
	var delay time.Duration
	held := t.worker.held.update(t.key(), func(h heldTurn) heldTurn {
		now := time.Now()
		if h.times == 0 {
			h.Since = now
		}
		h.times++
		delay = t.worker.unregisteredDelay(h.times)
		h.Instance, h.ExecutionID, h.Reason, h.Next = t.item.Instance, b.executionID, reason, now.Add(delay)
		h.Orchestration, h.Version = b.started.Name, b.started.Version
		return h
	})
	if tries := held.times; tellsTry(tries) {
		logger.WarnContext(ctx, "the code of an orchestration does not fit its history, the instance is held",
			"tries", tries, "retry_in", delay, "next_line_after", 2*tries)
	}
	// Each try says why: its messages may not be those of the one before.
	return func() { t.giveBack(ctx, provider.AbandonParams{Delay: delay, IgnoreAttempt: true, Misfit: reason}) }
}

// cancels reports a request to end the instance.
func cancels(message provider.WorkItem) bool {
	_, ok := message.(provider.CancelInstanceItem)
	return ok
}
