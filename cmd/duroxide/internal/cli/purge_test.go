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

// archive is a store that keeps finished instances: number i ended i seconds after the epoch. Its pages
// have ten of them, or fewer.
type archive struct {
	provider.Store // nil: nothing else is asked

	instances, broken int // broken is the number of the page that fails, from 1 on
	slow              time.Duration

	pages, most   int
	named, pruned []string
}

func (a *archive) ListInstancePage(_ context.Context, query provider.PageQuery) (page provider.InstancePage, _ error) {
	if a.pages++; a.pages == a.broken {
		return page, io.ErrUnexpectedEOF
	}
	i, _ := strconv.Atoi(query.After)
	for end := i + 10; i < end && i < a.instances; i++ {
		ended := query.EndedBefore == nil || time.Unix(int64(i), 0).Before(*query.EndedBefore)
		if ended && i%100 >= 10 { // each tenth page is empty
			page.InstanceIDs = append(page.InstanceIDs, strconv.Itoa(i))
		}
	}
	if i < a.instances {
		page.Next = strconv.Itoa(i)
	}
	return page, nil
}

func (*archive) DeleteOrphanMessages(context.Context, time.Duration) (provider.OrphanMessages, error) {
	return provider.OrphanMessages{}, nil
}

func (a *archive) DeleteInstanceBulk(_ context.Context, filter provider.InstanceFilter) (provider.DeleteInstanceResult, error) {
	time.Sleep(a.slow)
	a.named = append(a.named, filter.InstanceIDs...)
	a.most = max(a.most, len(filter.InstanceIDs))
	return provider.DeleteInstanceResult{InstancesDeleted: uint64(len(filter.InstanceIDs))}, nil
}

func (a *archive) PruneExecutionsBulk(
	_ context.Context, filter provider.InstanceFilter, options provider.PruneOptions,
) (provider.PruneResult, error) {
	if options.CompletedBefore == nil {
		return provider.PruneResult{}, io.ErrUnexpectedEOF
	}
	a.pruned = append(a.pruned, filter.InstanceIDs...)
	return provider.PruneResult{ExecutionsDeleted: uint64(len(filter.InstanceIDs))}, nil
}

// runs makes a purge of what ended before a time.
func (a *archive) runs(t *testing.T, before int64, flags purgeFlags) (*purge, error) {
	t.Helper()
	p := &purge{session: session{store: a}, flags: flags, before: time.Unix(before, 0)}
	if flags.budget > 0 {
		p.until = time.Now().Add(flags.budget)
	}
	err := p.run(t.Context())
	return p, err
}

// A purge asks for one page after the other, also behind one that is empty, and names what it has to the store a batch
// at a time.
func TestPurgeGoesFromPageToPage(t *testing.T) {
	t.Parallel()
	a := archive{instances: 1000}
	p, err := a.runs(t, 250, purgeFlags{batch: 4, executions: true})
	if err != nil || p.stopped {
		t.Fatal(err, p.stopped)
	}
	var ended, all []string
	for i := range 1000 {
		if i%100 >= 10 {
			all = append(all, strconv.Itoa(i))
		}
		if i < 250 && i%100 >= 10 {
			ended = append(ended, strconv.Itoa(i))
		}
	}
	if !slices.Equal(a.named, ended) || !slices.Equal(a.pruned, all) || a.pages != 200 || a.most != 4 {
		t.Errorf("named %d instances, at most %d at a time, pruned %d, and asked for %d pages, want %d, 4, %d and 200",
			len(a.named), a.most, len(a.pruned), a.pages, len(ended), len(all))
	}
	if p.result.Instances != uint64(len(ended)) || p.result.Executions != uint64(len(all)) {
		t.Errorf("counted %+v", p.result)
	}
}

// The budget ends a purge between two batches, and not before the first.
func TestPurgeKeepsToItsBudget(t *testing.T) {
	t.Parallel()
	a := archive{instances: 1000, slow: time.Millisecond}
	p, err := a.runs(t, 1000, purgeFlags{batch: 4, budget: 1, executions: true})
	if err != nil || !p.stopped || len(a.named) != 4 || a.named[0] != "10" || len(a.pruned) > 0 {
		t.Errorf("%v, stopped %t, with %v named and %v pruned", err, p.stopped, a.named, a.pruned)
	}
	last := archive{instances: 14, slow: time.Millisecond}
	if p, err := last.runs(t, 1000, purgeFlags{batch: 4, budget: 1}); err != nil || p.stopped || len(last.named) != 4 {
		t.Errorf("%v, stopped %t, although all is done: %v", err, p.stopped, last.named)
	}
}

// After an error the result counts what was done before it.
func TestPurgeEndsWithAnError(t *testing.T) {
	t.Parallel()
	a := archive{instances: 1000, broken: 4}
	p, err := a.runs(t, 1000, purgeFlags{batch: 100, executions: true})
	if !errors.Is(err, io.ErrUnexpectedEOF) || p.result.Instances != 20 || a.pages != 4 {
		t.Errorf("%v after %d pages, with %d instances deleted", err, a.pages, p.result.Instances)
	}
}
