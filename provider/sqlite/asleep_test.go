package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

// sleeper is a store with instances that are asleep, which are due together.
type sleeper struct {
	t     *testing.T
	s     *Store
	path  string
	clock *atomic.Int64
}

// sleep starts an instance that sleeps for so many milliseconds.
func (e sleeper) sleep(instance, code string, ms int64) {
	e.t.Helper()
	must(e.t, e.s.EnqueueForOrchestrator(e.t.Context(), startOf(instance, code), 0))
	ack := firstTurn(fetchKnown(e.t, e.s, nil))
	ack.Metadata.OrchestrationName, ack.Metadata.OrchestrationVersion, ack.WorkerItems = &code, new("1"), nil
	ack.OrchestratorItems = []provider.WorkItem{
		provider.TimerFiredItem{Instance: instance, ExecutionID: 1, ID: 2, FireAtMs: uint64(e.clock.Load() + ms)},
	}
	must(e.t, e.s.AckOrchestrationItem(e.t.Context(), ack))
}

// listed are the instances that are listed as due.
func (e sleeper) listed() (instances []string) {
	must(e.t, e.s.write(e.t.Context(), "test", func(_ context.Context, tx *tx) error {
		for _, d := range tx.ready.due {
			if tx.isDue(d) != nil {
				instances = append(instances, d.instance)
			}
		}
		return nil
	}))
	return instances
}

// Instances that are listed as due are fetched in their order by whoever has their code, and whatever
// happens to them meanwhile.
func TestListedInstancesAreFetched(t *testing.T) {
	t.Parallel()
	other, all := know("Other", "1"), []string{"second", "third"}
	for name, c := range map[string]struct {
		meanwhile func(e sleeper)
		want      []string
	}{
		"nothing":             {func(sleeper) {}, all},
		"an older one is due": {func(e sleeper) { e.clock.Add(100) }, []string{"later", "second", "third"}},
		"a fetch without their code": {func(e sleeper) {
			if turn := fetchKnown(e.t, e.s, other); turn != nil {
				e.t.Errorf("fetched %s", turn.Item.Instance)
			}
		}, all},
		"a fetch of unknown code": {func(e sleeper) {
			turn, err := e.s.FetchOrchestrationItem(e.t.Context(), provider.FetchOrchestrationParams{
				LockTimeout: time.Hour, Known: other, UnknownFor: time.Hour,
			})
			must(e.t, err)
			if turn != nil {
				e.t.Errorf("fetched %s", turn.Item.Instance)
			}
		}, all},
		"a message": {func(e sleeper) {
			must(e.t, e.s.EnqueueForOrchestrator(e.t.Context(), provider.ExternalRaisedItem{Instance: "third", Name: "e"}, 0))
		}, all},
		"a deletion": {func(e sleeper) {
			_, err := e.s.DeleteInstancesAtomic(e.t.Context(), []string{"second"}, true)
			must(e.t, err)
		}, []string{"third"}},
		"many others": {func(e sleeper) {
			must(e.t, e.s.write(e.t.Context(), "test", func(_ context.Context, tx *tx) error {
				for range 2 * maxKept {
					tx.keep(newSecret(), &kept{})
				}
				return nil
			}))
		}, all},
		"a fetch that is taken back": {func(e sleeper) {
			errBroken := errors.New("broken")
			if err := e.s.write(e.t.Context(), "test", func(ctx context.Context, tx *tx) error {
				_, err := tx.dueOrNextTurn(ctx, e.s.log, turnFetch{lockFor: 1000, versions: anyVersion})
				return errors.Join(err, errBroken)
			}); !errors.Is(err, errBroken) {
				e.t.Errorf("error %v", err)
			}
		}, all},
		"another process": {func(e sleeper) {
			two := openFile(e.t, e.path, Options{PollInterval: Never, now: e.clock.Load})
			must(e.t, two.EnqueueForOrchestrator(e.t.Context(), startOf("new", "Order"), 0))
		}, []string{"second", "third", "new"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := sleeper{t: t, path: filepath.Join(t.TempDir(), "store.db"), clock: new(atomic.Int64)}
			e.clock.Store(1_000_000)
			e.s = openFile(t, e.path, Options{PollInterval: Never, now: e.clock.Load})
			e.sleep("first", "Order", 100)
			e.sleep("later", "Order", 200)
			e.sleep("second", "Order", 90)
			e.sleep("third", "Order", 80)
			e.clock.Add(100)
			if turn := fetchKnown(t, e.s, nil); turn.Item.Instance != "first" {
				t.Errorf("fetched %s first", turn.Item.Instance)
			}
			if diff := cmp.Diff(all, e.listed()); diff != "" {
				t.Fatalf("listed (-want +got):\n%s", diff)
			}
			c.meanwhile(e)
			if diff := cmp.Diff(c.want, fetchInstances(t, e.s)); diff != "" {
				t.Errorf("fetched (-want +got):\n%s", diff)
			}
		})
	}
}
