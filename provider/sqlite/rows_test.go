package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// An event that exists already is named, also among many that are inserted together, and none
// of them is stored.
func TestDuplicateAmongManyIsNamed(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	events := func(ids ...uint64) (list []provider.Event) {
		for _, id := range ids {
			list = append(list, event("i", id, provider.ActivityScheduled{Name: "Charge", Input: payload}))
		}
		return list
	}
	var many []uint64
	for id := uint64(1); id <= mostRows+fewestRows+2; id++ {
		many = append(many, id)
	}
	must(t, s.AppendWithExecution(t.Context(), "i", 1, events(many...)))
	next := many[len(many)-1] + 1
	for name, c := range map[string]struct {
		ids  []uint64
		want uint64
	}{
		"one that is stored":        {[]uint64{next, next + 1, 7, next + 2}, 7},
		"one that comes twice":      {[]uint64{next, next + 1, next + 2, next}, next},
		"one behind the first part": {append(numbers(next, mostRows), next+mostRows, 3, next+mostRows+1, next+mostRows+2), 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := s.AppendWithExecution(t.Context(), "i", 1, events(c.ids...))
			if want := fmt.Sprintf("already has event %d", c.want); !errors.Is(err, provider.ErrDuplicateEvent) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%v; want an error that ends with %q", err, want)
			}
			history, err := s.Read(t.Context(), "i")
			must(t, err)
			if len(history) != len(many) {
				t.Errorf("the history has %d events; want the %d that it had", len(history), len(many))
			}
		})
	}
}

func numbers(first uint64, n int) (list []uint64) {
	for i := range n {
		list = append(list, first+uint64(i))
	}
	return list
}

// Rows that are inserted together have ids one after the other, whatever their number.
func TestRowsInsertedTogetherHaveIDsInTurn(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, fewestRows - 1, fewestRows, mostRows, mostRows + 1, 2*mostRows + fewestRows} {
		s := openMemory(t, Options{})
		create(t, s, "i", 0)
		must(t, s.EnqueueForOrchestrator(t.Context(), provider.CancelInstanceItem{Instance: "i"}, 0))
		ack := provider.AckOrchestrationParams{LockToken: fetch(t, s).LockToken, ExecutionID: 1}
		for i := range n {
			ack.WorkerItems = append(ack.WorkerItems, provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: uint64(i) + 2})
		}
		var first int64
		must(t, s.write(t.Context(), "test", func(ctx context.Context, t *tx) error {
			err := ackTurn(ack)(ctx, t)
			first = t.activities[0]
			for i, id := range t.activities {
				if id != first+int64(i) {
					err = errors.Join(err, fmt.Errorf("row %d of %d has id %d after %d", i, n, id, first))
				}
			}
			return err
		}))
		for i := range n {
			work, err := s.FetchWorkItem(t.Context(), everything().Work[0])
			must(t, err)
			if item, _ := work.Item.(provider.ActivityExecuteItem); item.ID != uint64(i)+2 {
				t.Fatalf("fetched activity %d in place %d of %d", item.ID, i, n)
			}
			if _, id := cutWorkToken(work.LockToken); id != first+int64(i) {
				t.Fatalf("activity %d has id %d; want %d", i, id, first+int64(i))
			}
		}
	}
}
