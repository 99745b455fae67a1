package mssql_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/tsql/tdsproxy"
)

// tap is a proxy that keeps what was asked for.
type tap struct {
	*tdsproxy.Proxy

	mu       sync.Mutex
	requests []tdsproxy.Request
}

func newTap(t *testing.T) *tap {
	t.Helper()
	p := &tap{Proxy: tdsproxy.New(t, mssqltest.Addr(t))}
	p.OnRequest(func(r tdsproxy.Request) tdsproxy.Action {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.requests = append(p.requests, r)
		return tdsproxy.Action{}
	})
	return p
}

// taken returns the requests since it was last called, and how many there were of each type.
func (p *tap) taken() (requests []tdsproxy.Request, counts tdsproxy.Counts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	requests, p.requests = p.requests, nil
	for _, r := range requests {
		counts = counts.Plus(r.Type)
	}
	return requests, counts
}

// procedureOf is the procedure of the schema that the request calls by its name, and empty if it does anything else.
func procedureOf(schema string, r tdsproxy.Request) string {
	if name, ours := strings.CutPrefix(r.Name, migrate.Quote(schema)+".["); ours {
		return strings.TrimSuffix(name, "]")
	}
	return ""
}

// TestOneRoundTripPerOperation counts what each method sends (rule P2): one remote call of one procedure by its name,
// whatever lists it takes, and nothing else, no batch, no transaction begun or ended by the client, no attention, no
// preparation.
func TestOneRoundTripPerOperation(t *testing.T) {
	t.Parallel()
	_, schema := mssqltest.Pooled(t)
	direct := storeOn(t, mssqltest.DSN(t), schema, 1)
	p := newTap(t)
	store := storeOn(t, mssqltest.Via(t, p.Addr()), schema, 1)
	next := scenes(t, direct)
	for _, name := range operationNames() {
		op := operations[name]
		want := 1
		if op.local {
			want = 0
		}
		run := op.prepare(next())
		p.taken()
		ok(t, run(t.Context(), store))
		requests, counts := p.taken()
		if diff := cmp.Diff(tdsproxy.Counts{RPCs: want}, counts); diff != "" {
			t.Errorf("%s sends %v, %s", name, requests, diff)
		}
		for _, r := range requests {
			if procedureOf(schema, r) == "" {
				t.Errorf("%s sends %v, which is no remote call of a procedure: %s", name, r, r.Text)
			}
		}
	}
}

// TestFetchesOfNothingAreOneRoundTrip is about the calls that idle workers make all day.
func TestFetchesOfNothingAreOneRoundTrip(t *testing.T) {
	t.Parallel()
	_, schema := mssqltest.Pooled(t)
	p := newTap(t)
	store := storeOn(t, mssqltest.Via(t, p.Addr()), schema, 1)
	for name, fetch := range map[string]call{
		"turn": func(ctx context.Context, s provider.Provider) error {
			return second(s.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: lease}))
		},
		"activity": func(ctx context.Context, s provider.Provider) error {
			return second(s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: lease}))
		},
		"activity of a session": func(ctx context.Context, s provider.Provider) error {
			session := &provider.SessionFetchConfig{OwnerID: "owner", LockTimeout: lease}
			return second(s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: lease, Session: session}))
		},
	} {
		p.taken()
		ok(t, fetch(t.Context(), store))
		if requests, counts := p.taken(); counts != (tdsproxy.Counts{RPCs: 1}) {
			t.Errorf("a fetch that finds no %s sends %v", name, requests)
		}
	}
}

// TestRefusedTurnIsOneRoundTrip is about a turn that the store refuses by itself: it asks the server once, whether the
// lock is still held (§5.2 step 1), and with nothing at all when no token can look like that.
func TestRefusedTurnIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	_, schema := mssqltest.Pooled(t)
	p := newTap(t)
	store := storeOn(t, mssqltest.Via(t, p.Addr()), schema, 1)
	token := scene{t: t, store: store, instance: "instance"}.turn()
	for _, c := range []struct {
		token string
		want  error
		calls int
	}{
		{token, provider.ErrInvalidArgument, 1},
		{"11111111-2222-4333-8444-555555555555-instance", provider.ErrInvalidLockToken, 1},
		{"no-such-token", provider.ErrInvalidLockToken, 0},
		{token, provider.ErrInvalidArgument, 1},
	} {
		turn := firstTurn("instance", c.token)
		turn.Metadata.Status = new(provider.Status("Paused"))
		p.taken()
		err := store.AckOrchestrationItem(t.Context(), turn)
		if requests, counts := p.taken(); !errors.Is(err, c.want) || counts != (tdsproxy.Counts{RPCs: c.calls}) {
			t.Errorf("token %s: %v, want %v; it sends %v, want %d calls", c.token, err, c.want, requests, c.calls)
		}
	}
}

// TestSettingAsideIsTheException shows the only calls that make more than one round trip: a fetch that meets what it
// cannot decode calls another procedure to set it aside, and goes on.
func TestSettingAsideIsTheException(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	p := newTap(t)
	store := storeOn(t, mssqltest.Via(t, p.Addr()), schema, 1)
	w := scene{t: t, store: store, instance: "instance"}
	damage := func(table string) {
		_, err := db.ExecContext(t.Context(), fmt.Sprintf("UPDATE [%s].%s SET work_item = N'{'", schema, table))
		ok(t, err)
	}
	names := func() (names []string) {
		requests, _ := p.taken()
		for _, r := range requests {
			names = append(names, procedureOf(schema, r))
		}
		return names
	}
	w.run()
	damage("worker_queue")
	names()
	_, err := fetchWork(t.Context(), store)
	ok(t, err)
	fetch, aside := "fetch_work_item", "set_work_aside"
	if diff := cmp.Diff([]string{fetch, aside, fetch}, names()); diff != "" {
		t.Error(diff)
	}
	damage("orchestrator_queue")
	_, err = fetchTurn(t.Context(), store)
	ok(t, err)
	fetch, aside = "take", "set_messages_aside"
	// The other instance, which has nothing but a message in its mailbox, does not exist: the message is dropped
	// unseen.
	if diff := cmp.Diff([]string{fetch, aside, fetch}, names()); diff != "" {
		t.Error(diff)
	}
}
