package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// payments is a provider of payments that counts its calls.
type payments struct {
	declined bool

	mu    sync.Mutex
	calls map[string]int // by the bill's key
}

func (p *payments) charge(_ context.Context, b bill) (answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls == nil {
		p.calls = map[string]int{}
	}
	p.calls[b.Key]++
	return answer{Receipt: fmt.Sprint("receipt for ", b.Cents), Declined: p.declined}, nil
}

// bills is the number of bills that were charged, however often each.
func (p *payments) bills() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.calls)
}

// open runs the program on a new file until the test ends, and returns a client with
// connections of its own, as another program has it.
func open(t *testing.T, p *payments) (*client.Client, *sqlite.Store) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "orders.db")
	store, err := sqlite.Open(t.Context(), file, sqlite.Options{PollInterval: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- work(ctx, file, shop{charge: p.charge}) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, store.Close()); err != nil {
			t.Error(err)
		}
	})
	return client.New(store, client.Options{}), store
}

// start starts an order.
func start(t *testing.T, c *client.Client, def orchestration.Definition[order, string], id string, o order) *client.Run[string] {
	t.Helper()
	run, err := client.Start(t.Context(), c, def, id, o)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// ends waits for an order's end, and expects a result or a failure.
func ends(t *testing.T, run *client.Run[string], result, failure string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := run.Wait(ctx)
	text := ""
	if err != nil {
		text = err.Error()
	}
	if got != result || text != failure {
		t.Errorf("%s: %q, %v; want %q, %q", run.Instance(), got, err, result, failure)
	}
	if status, err := run.Status(ctx); err != nil || status.CustomStatus != nil {
		t.Errorf("%s: custom status %v, %v", run.Instance(), status.CustomStatus, err)
	}
}

// decide decides on an order as soon as somebody is asked.
func decide(t *testing.T, c *client.Client, id string, d decision) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := c.WaitForCustomStatus(ctx, id, 0); err != nil {
		t.Fatal(err)
	}
	if err := client.RaiseEvent(ctx, c, decided, id, d); err != nil {
		t.Fatal(err)
	}
}

// TestOrders has orders of both versions, with a decision and without.
func TestOrders(t *testing.T) {
	t.Parallel()
	taken := &payments{}
	c, store := open(t, taken)
	chair, piano := order{"chair", 49_00}, order{"piano", 4900_00}
	small, old := start(t, c, newOrder, "small", chair), start(t, c, newOrder.AtVersion("1.0.0"), "old", piano)
	approved, rejected := start(t, c, newOrder, "approved", piano), start(t, c, newOrder, "rejected", piano)
	decide(t, c, "approved", decision{Approved: true, By: "Ada"})
	decide(t, c, "rejected", decision{By: "Ada"})
	ends(t, small, "receipt for 4900, chair shipped", "")
	ends(t, old, "receipt for 490000, piano shipped", "") // nobody was asked
	ends(t, approved, "receipt for 490000, piano shipped", "")
	ends(t, rejected, "", "rejected by Ada")
	for id, want := range map[string]struct {
		version  string
		payments int
	}{"small": {"2.0.0", 1}, "old": {"1.0.0", 1}, "approved": {"2.0.0", 1}, "rejected": {"2.0.0", 0}} {
		info, err := store.Admin().GetInstanceInfo(t.Context(), id)
		if err != nil || info.OrchestrationVersion != want.version {
			t.Errorf("%s: version %s, %v; want %s", id, info.OrchestrationVersion, err, want.version)
		}
		children, err := store.Admin().ListChildren(t.Context(), id)
		if err != nil || len(children) != want.payments {
			t.Errorf("%s: payments %v, %v; want %d", id, children, err, want.payments)
		}
	}
	if bills := taken.bills(); bills != 3 {
		t.Errorf("%d bills were charged, want 3", bills)
	}
}

// TestADeclinedCard is not tried again, and the chair can be sold to somebody else.
func TestADeclinedCard(t *testing.T) {
	t.Parallel()
	c, store := open(t, &payments{declined: true})
	ends(t, start(t, c, newOrder, "order-1", order{"chair", 49_00}), "", "the card was declined")
	called := []string{}
	history, err := store.Read(t.Context(), "order-1")
	for _, e := range history {
		switch kind := e.Kind.(type) {
		case provider.ActivityScheduled:
			called = append(called, kind.Name)
		case provider.SubOrchestrationScheduled:
			called = append(called, kind.Name)
		}
	}
	if got := strings.Join(called, " "); err != nil || got != "Reserve Payment Release" {
		t.Errorf("it called %s, %v", got, err)
	}
}
