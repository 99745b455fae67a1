package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// archive is the administration of a store that keeps finished instances: number i was created i seconds after the epoch.
type archive struct {
	provider.Admin // nil: nothing else is asked

	instances int
	gone      string
	broken    error

	asked int
	named []string
}

func (a *archive) ListInstancesByStatus(_ context.Context, status provider.Status) (ids []string, _ error) {
	for i := a.instances - 1; i >= 0 && status == provider.StatusCompleted; i-- {
		ids = append(ids, strconv.Itoa(i))
	}
	return ids, nil
}

func (a *archive) GetInstanceInfo(_ context.Context, id string) (provider.InstanceInfo, error) {
	a.asked++
	if id == a.gone {
		return provider.InstanceInfo{}, provider.ErrNotFound
	}
	seconds, err := strconv.ParseInt(id, 10, 64)
	return provider.InstanceInfo{CreatedAt: time.Unix(seconds, 0)}, errors.Join(err, a.broken)
}

func (a *archive) DeleteInstanceBulk(_ context.Context, filter provider.InstanceFilter) (provider.DeleteInstanceResult, error) {
	a.named = append(a.named, filter.InstanceIDs...)
	return provider.DeleteInstanceResult{InstancesDeleted: uint64(len(filter.InstanceIDs))}, nil
}

// A purge names to the store what may have ended in time, and finds where that ends by a search: what a store keeps
// costs nothing. The oldest come first.
func TestPurgeNamesNothingThatIsTooYoung(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name               string
		archive            archive
		before, want, most int
	}{
		{"few of many", archive{instances: 1_000_000}, 1234, 1234, 21},
		{"all", archive{instances: 1000}, 5000, 1000, 11},
		{"none", archive{instances: 1000}, 0, 0, 11},
		{"so few that a search costs more", archive{instances: 100}, 5, 100, 0},
		{"one has gone", archive{instances: 1000, gone: "500"}, 700, 700, 11},
		{"one that is too young has gone", archive{instances: 1000, gone: "500"}, 100, 501, 11}, // more than needed, never less
	} {
		p := purge{session: session{admin: &test.archive}, flags: purgeFlags{batch: 100}, before: time.Unix(int64(test.before), 0)}
		if err := p.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := make([]string, test.want)
		for i := range want {
			want[i] = strconv.Itoa(i)
		}
		if !slices.Equal(test.archive.named, want) || test.archive.asked > test.most {
			t.Errorf("%s: named %d instances and asked for %d, want %d and at most %d",
				test.name, len(test.archive.named), test.archive.asked, test.want, test.most)
		}
	}
}

// An error of the search ends the purge before anything is deleted.
func TestPurgeThatCannotLookDeletesNothing(t *testing.T) {
	t.Parallel()
	a := archive{instances: 1000, broken: io.ErrUnexpectedEOF}
	p := purge{session: session{admin: &a}, flags: purgeFlags{batch: 100}, before: time.Unix(500, 0)}
	if err := p.run(t.Context()); !errors.Is(err, io.ErrUnexpectedEOF) || a.asked != 1 || len(a.named) > 0 {
		t.Errorf("%v after %d questions, with %d instances named", err, a.asked, len(a.named))
	}
}
