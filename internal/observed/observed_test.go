package observed_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/internal/observed"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/tsql/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// recorder is a hook that keeps what it is told of the store.
type recorder struct {
	hook.None

	ended *[]string
}

func (r recorder) Store(_ context.Context, operation string) func(hook.StoreEnd) {
	return func(end hook.StoreEnd) {
		if end.Err != nil {
			operation += " " + end.Err.Error()
		}
		*r.ended = append(*r.ended, operation)
	}
}

var errPart = errors.New("part")

// half is a store of which parts of calls fail.
type half struct{ provider.Store }

func (half) Read(context.Context, string) ([]provider.Event, error) { return nil, errPart }

func (half) AckTurnAndClaim(context.Context, provider.AckOrchestrationParams, provider.ClaimParams) (provider.Claimed, error) {
	return provider.Claimed{Err: errPart}, nil
}

func (half) AckWorkAndClaim(context.Context, []provider.WorkAck, provider.ClaimParams) ([]error, provider.Claimed, error) {
	return []error{nil, errPart, errors.New("another")}, provider.Claimed{}, nil
}

// A hook is told of each call once, with its first error.
func TestErrorsAreTold(t *testing.T) {
	t.Parallel()
	var told []string
	store := observed.Store(half{}, recorder{ended: &told})
	if _, err := store.Read(t.Context(), "i"); !errors.Is(err, errPart) {
		t.Error(err)
	}
	if taken, err := store.AckTurnAndClaim(t.Context(), provider.AckOrchestrationParams{}, provider.ClaimParams{}); err != nil || !errors.Is(taken.Err, errPart) {
		t.Error(taken, err)
	}
	if outcomes, _, err := store.AckWorkAndClaim(t.Context(), nil, provider.ClaimParams{}); err != nil || len(outcomes) != 3 {
		t.Error(outcomes, err)
	}
	if err := observed.Call(t.Context(), recorder{ended: &told}, "enqueue_tx", func() error { return errPart }); !errors.Is(err, errPart) {
		t.Error(err)
	}
	if want := []string{"read part", "ack_turn_and_take part", "ack_work_and_take part", "enqueue_tx part"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// instant is a store that does nothing.
type instant struct{ provider.Store }

func (instant) AckWorkItem(context.Context, string, provider.WorkItem) error { return nil }

// Without a hook nothing stands before the store.
func TestNoHookCostsNothing(t *testing.T) {
	t.Parallel()
	store := &instant{}
	if got := observed.Store(store, nil); got != provider.Store(store) {
		t.Errorf("the store is a %T", got)
	}
}

// A call of a store that does nothing, as it is, without a hook and with one that does nothing.
func BenchmarkCall(b *testing.B) {
	for name, store := range map[string]provider.Store{
		"plain": instant{}, "no hook": observed.Store(instant{}, nil), "hook": observed.Store(instant{}, hook.None{}),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			ctx := b.Context()
			for b.Loop() {
				if err := store.AckWorkItem(ctx, "", nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
