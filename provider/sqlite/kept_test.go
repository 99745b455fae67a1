package sqlite

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/provider"
)

// checkKept demands that what is kept of instances is what the tables have.
func checkKept(t *rapid.T, s *Store) {
	err := s.write(t.Context(), "test", func(ctx context.Context, tx *tx) error {
		for instance, k := range tx.ready.kept {
			want, err := readKept(ctx, s, instance, k)
			if err != nil {
				return err
			}
			got := *k
			got.since = 0
			if k.last.ID == 0 {
				want.last = k.last // may be unknown
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(kept{}, keptMessage{})); diff != "" {
				t.Errorf("kept of %s (-stored +kept):\n%s", instance, diff)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// readKept reads what may be kept of an instance.
func readKept(ctx context.Context, s *Store, instance string, k *kept) (kept, error) {
	want := kept{fresh: true, complete: k.complete}
	of := func(query string) string { return fmt.Sprintf(query, "'"+instance+"'") }
	err := errorsOf(
		each(ctx, s, of(`SELECT i.orchestration_name, i.orchestration_version, i.current_execution_id, e.version_id, e.code_id,
			EXISTS (SELECT 1 FROM kv_store v WHERE v.instance_id = i.instance_id)
			FROM instances i JOIN executions e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
			WHERE e.status = 'Running' AND i.instance_id = %s`), func(scan func(...any)) {
			want.fresh = false
			scan(&want.name, &want.version, &want.execution, &want.versionID, &want.codeID, &want.values)
			want.noDelta = k.noDelta // may be unknown
		}),
		each(ctx, s, of("SELECT 1 FROM kv_delta WHERE instance_id = %s"), func(func(...any)) { want.noDelta = false }),
		each(ctx, s, of("SELECT lock_token FROM inboxes WHERE lock_token IS NOT NULL AND instance_id = %s"), func(scan func(...any)) {
			scan(&want.secret)
		}),
		each(ctx, s, of("SELECT id FROM inboxes WHERE lock_token IS NULL AND head_id IS NULL AND wake_at IS NOT NULL AND instance_id = %s"),
			func(scan func(...any)) { scan(&want.inbox) }),
	)
	if err != nil {
		return want, err
	}
	return want, errorsOf(
		each(ctx, s, of(fmt.Sprintf("SELECT event_id, event_data FROM history WHERE execution_id = %d AND instance_id = %%s ORDER BY event_id", want.execution)),
			func(scan func(...any)) { scan(&want.last.ID, &want.last.Data) }),
		each(ctx, s, of("SELECT id, visible_at, kind, queue, work_item, coalesce(lock_token, '') FROM orchestrator_queue WHERE instance_id = %s ORDER BY id"),
			func(scan func(...any)) {
				var m keptMessage
				var token string
				scan(&m.id, &m.visibleAt, &m.kind, &m.queue, &m.body, &token)
				if token == want.secret && token != "" {
					want.taken = append(want.taken, m.id)
					if m.queue != nil {
						if want.queued == nil {
							want.queued = map[string]int{}
						}
						want.queued[*m.queue]++
					}
				} else if want.complete {
					want.waiting = append(want.waiting, m)
				}
			}),
	)
}

// What is kept is bounded, in instances and in what is kept of each (kept.go).
func TestWhatIsKeptIsBounded(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	must(t, s.write(t.Context(), "test", func(_ context.Context, tx *tx) error {
		for i := range maxKept + 10 {
			tx.keep(fmt.Sprint("other ", i), &kept{})
		}
		if n := len(tx.ready.kept); n != maxKept {
			t.Errorf("%d instances are kept, want %d", n, maxKept)
		}
		tx.ready.forget()
		return nil
	}))
	for _, messages := range []int{1, mostKeptMessages + 1} {
		instance := fmt.Sprint(messages, " messages")
		beginInstance(t, s, instance)
		for range messages {
			must(t, s.EnqueueForOrchestrator(t.Context(), provider.ExternalRaisedItem{Instance: instance, Name: "e"}, 0))
		}
		must(t, s.write(t.Context(), "test", func(_ context.Context, tx *tx) error {
			if got, want := tx.kept(instance) != nil, messages <= mostKeptMessages; got != want {
				t.Errorf("with %s it is kept: %v, want %v", instance, got, want)
			}
			return nil
		}))
		turn, err := s.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Minute})
		must(t, err)
		if len(turn.Item.Messages) != messages || turn.Item.OrchestrationName != "Order" {
			t.Errorf("%s with %d messages", turn.Item.OrchestrationName, len(turn.Item.Messages))
		}
	}
}

// beginInstance starts an instance and commits its first turn.
func beginInstance(t *testing.T, s *Store, instance string) {
	t.Helper()
	must(t, s.EnqueueForOrchestrator(t.Context(), start(instance), 0))
	turn, err := s.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Minute})
	must(t, err)
	ack := firstTurn(turn)
	ack.WorkerItems = nil
	must(t, s.AckOrchestrationItem(t.Context(), ack))
}
