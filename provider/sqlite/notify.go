package sqlite

import (
	"context"
	"sync"

	"github.com/duroxide/duroxide-go/provider"
)

var (
	_ provider.ChangeNotifier = (*Store)(nil)
	_ provider.EndNotifier    = (*Store)(nil)
	_ provider.EndTeller      = (*Store)(nil)
)

// InstanceChanged implements [provider.ChangeNotifier].
func (s *Store) InstanceChanged(instance string) (changed <-chan struct{}, stop func()) {
	return s.changes.Await(instance)
}

// InstanceEnded implements [provider.EndNotifier].
func (s *Store) InstanceEnded(instance string) (ended <-chan struct{}, stop func()) {
	return s.ends.Await(instance)
}

// InstanceEnd implements [provider.EndTeller].
func (s *Store) InstanceEnd(instance string) (ended <-chan struct{}, end func() *provider.Progress, stop func()) {
	ended, what, stop := s.ends.AwaitWhat(instance)
	return ended, func() *provider.Progress {
		if decode, ok := what().(func() *provider.Progress); ok {
			return decode()
		}
		return nil
	}, stop
}

// readOutcomes reads what the instances have ended with that a group has ended and somebody waits
// for, in its transaction. They are decoded by those who wait. If they cannot be read, who waits
// asks for them; the transaction's own error follows.
func (w *writer) readOutcomes(ctx context.Context, group []*job) {
	w.outcomes = nil
	var awaited []string
	for _, j := range group {
		for _, instance := range j.tx.ended {
			if w.awaited(instance) {
				awaited = append(awaited, instance)
			}
		}
	}
	if len(awaited) == 0 {
		return
	}
	rows, err := readProgress(ctx, w.queries, awaited)
	if err != nil {
		return
	}
	w.outcomes = make(map[string]any, len(awaited))
	for i, instance := range awaited {
		w.outcomes[instance] = sync.OnceValue(func() *provider.Progress {
			p := progressOf(instance, rows[i])
			if !p.Ended() {
				return nil // it was deleted
			}
			return &p
		})
	}
}
