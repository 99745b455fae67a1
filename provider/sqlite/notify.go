package sqlite

import (
	"context"
	"sync"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
)

// InstanceChanged implements [provider.Store].
func (s *Store) InstanceChanged(instance string) (changed <-chan struct{}, stop func()) {
	return s.changes.Await(instance)
}

// InstanceEnd implements [provider.Store]. What ended in another process is told without its result.
func (s *Store) InstanceEnd(instance string) (ended <-chan struct{}, end func() *provider.Progress, stop func()) {
	ended, what, stop := s.ends.AwaitWhat(instance)
	return ended, func() *provider.Progress {
		if decode, ok := what().(func() *provider.Progress); ok {
			return decode()
		}
		return nil
	}, stop
}

// tellEnded tells those who wait for an end that another process has stored, and returns how many
// instances have ended. It does not tell the result: an instance of the same id may have been started since
// the end was read.
func (s *Store) tellEnded(ctx context.Context) (told int) {
	awaited := s.ends.Instances()
	if len(awaited) == 0 {
		return 0
	}
	const operation = "tell_ended"
	ids, err := jsonList(operation, awaited)
	if err != nil {
		return 0 // nobody has an instance with such an id
	}
	// After an error, who waits finds the end when he looks.
	_ = s.read(ctx, operation, func(ctx context.Context, q *sqlitedb.Queries) error {
		ended, err := q.ListEndedOf(ctx, ids)
		for _, instance := range ended {
			s.ends.Tell(instance, nil)
		}
		told = len(ended)
		return err
	})
	return told
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
