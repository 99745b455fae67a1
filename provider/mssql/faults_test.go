package mssql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/tsql/tdsproxy"
)

const (
	// cutsVariable is how many calls TestCutAnywhere cuts. The default is quick; 1000 is what the rule asks for.
	cutsVariable = "DUROXIDE_TEST_CUTS"
	// seedVariable makes the same choices again: it is printed when the test fails.
	seedVariable = "DUROXIDE_TEST_SEED"
)

// number is the value of an environment variable, or what takes its place.
func number(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q and has to be a number", variable, text)
	}
	return n
}

// repeated is what the same call is answered with once it was carried out.
var repeated = map[string]error{
	"AckOrchestrationItem":       provider.ErrLockLost,
	"AbandonOrchestrationItem":   provider.ErrLockLost,
	"RenewOrchestrationItemLock": nil,
	"AppendWithExecution":        provider.ErrDuplicateEvent,
	"AckWorkItem":                provider.ErrLockLost,
	"AbandonWorkItem":            provider.ErrLockLost,
	"RenewWorkItemLock":          nil,
	"DeleteInstance":             provider.ErrNotFound,
	"DeleteInstancesAtomic":      nil,
	"PruneExecutions":            nil,
}

// unrepeatable are the calls that do their work again when they are repeated.
var unrepeatable = []string{"FetchOrchestrationItem", "FetchWorkItem", "EnqueueForOrchestrator", "EnqueueForWorker"}

// TestCutAnywhere breaks connections, and gives calls up, at random points of random calls (rule Q11): before the
// request, within it, between it and the answer, within that. What the call was to do is then there as a whole or not
// at all. A call that says it has succeeded has; one that fails may have too, and is then answered, when it is
// repeated, with an error that says so.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	mssqltest.DSN(t)
	seed := number(t, seedVariable, uint64(time.Now().UnixNano()))
	t.Logf("repeat with %s=%d", seedVariable, seed)
	r := newCutter(t, rand.New(rand.NewPCG(seed, 0)))
	names := slices.Sorted(maps.Keys(repeated))
	names = append(names, unrepeatable...)
	for n := range number(t, cutsVariable, 60) {
		r.cut(names[r.random.IntN(len(names))])
		if t.Failed() {
			return
		}
		if (n+1)%100 == 0 {
			t.Logf("%d calls were cut", n+1)
		}
	}
	t.Logf("of the calls, %v", r.tally)
}

// cutter is a schema on which one call at a time is cut.
type cutter struct {
	t      *testing.T
	random *rand.Rand
	schema string
	// owner and direct go to the server, db and proxied through the proxy, on one connection. It is used again if it
	// has survived.
	owner   *sql.DB
	direct  *mssql.Store
	proxy   *tdsproxy.Proxy
	db      *sql.DB
	proxied *mssql.Store
	// marker is how the server lists the sessions of the proxy.
	marker string
	// done is what each call leaves behind when nothing cuts it.
	done map[string]string
	// sizes are the sizes of the requests that each call sends.
	sizes map[string]int
	tally map[string]int
}

func newCutter(t *testing.T, random *rand.Rand) *cutter {
	t.Helper()
	c := &cutter{
		t: t, random: random, schema: mssqltest.NewSchema(t), owner: mssqltest.DB(t),
		done: map[string]string{}, sizes: map[string]int{}, tally: map[string]int{},
	}
	c.direct = storeOn(t, mssqltest.DSN(t), c.schema, 2)
	c.proxy = tdsproxy.New(t, mssqltest.Addr(t))
	dsn, marker := marked(t, mssqltest.Via(t, c.proxy.Addr()))
	c.marker = marker
	var err error
	c.db, err = sql.Open("sqlserver", dsn)
	ok(t, err)
	t.Cleanup(func() { c.db.Close() })
	c.db.SetMaxOpenConns(1)
	c.reopen()
	t.Cleanup(func() { c.proxied.Close() })
	return c
}

// reopen makes a new store of the proxied connection. The one before it gives back first what a cut fetch may hold.
func (c *cutter) reopen() {
	c.t.Helper()
	if c.proxied != nil {
		ok(c.t, c.proxied.Close())
	}
	var err error
	c.proxied, err = mssql.New(c.db, mssql.Options{Schema: c.schema})
	ok(c.t, err)
}

// TestCutFetchesGiveBack cuts fetches that the server carries out: the next one, of another process, gets the same at
// once, for the first time.
func TestCutFetchesGiveBack(t *testing.T) {
	t.Parallel()
	mssqltest.DSN(t)
	c := newCutter(t, rand.New(rand.NewPCG(1, 0)))
	for _, fault := range []struct {
		what   string
		action tdsproxy.Action
		want   error
	}{
		{"the answer being lost", tdsproxy.Action{Fault: tdsproxy.CutAnswer}, mssql.ErrUnreachable},
		{"half of the answer being lost", tdsproxy.Action{Fault: tdsproxy.CutAnswer, After: 40}, mssql.ErrUnreachable},
		// The server may still be at it when the first try to give back arrives.
		{"the request having been sent", tdsproxy.Action{Fault: tdsproxy.CutRequest, After: math.MaxInt}, mssql.ErrUnreachable},
		{"the caller having gone", tdsproxy.Action{}, context.Canceled},
	} {
		for _, name := range []string{"FetchOrchestrationItem", "FetchWorkItem"} {
			c.cutFetch(name, fault.action, fault.want)
			if attempts := c.attempts(name); attempts != 1 {
				t.Errorf("%s, %s: the next one is attempt %d, want 1 (0: there is nothing to fetch)", name, fault.what, attempts)
			}
			// A fetch that the server never began has nothing to give back, which the store tries for a while. The next
			// fault is for the next fetch.
			c.reopen()
		}
	}
}

// cutFetch cuts one fetch by the action, or by giving it up if that is the error.
func (c *cutter) cutFetch(name string, action tdsproxy.Action, want error) {
	c.t.Helper()
	run := c.prepare(name)
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	defer release()
	var (
		first   sync.Once
		leaving sync.WaitGroup
	)
	c.proxy.OnRequest(func(r tdsproxy.Request) (decided tdsproxy.Action) {
		if r.Type == tdsproxy.Attention { // the driver has noticed that its caller has gone
			release()
		}
		first.Do(func() {
			decided = action
			if errors.Is(want, context.Canceled) {
				decided.HoldAnswer = held
				leaving.Go(func() {
					defer cancel()
					c.awaitClaim(ctx)
				})
			}
		})
		return decided
	})
	if err := run(ctx, c.proxied); !errors.Is(err, want) {
		c.t.Errorf("%s: error %v, want %v", name, err, want)
	}
	leaving.Wait()
}

// awaitClaim waits until the server has carried the fetch out.
func (c *cutter) awaitClaim(ctx context.Context) {
	query := fmt.Sprintf("SELECT (SELECT COUNT(*) FROM [%[1]s].inboxes AS b WHERE b.lock_token IS NOT NULL)"+
		" + (SELECT COUNT(*) FROM [%[1]s].worker_queue AS q WHERE q.lock_token IS NOT NULL)", c.schema)
	for n := 0; n == 0; {
		if err := c.owner.QueryRowContext(ctx, query).Scan(&n); err != nil {
			c.t.Error(err)
			return
		}
	}
}

// attempts fetches, past the proxy, until there is something, and returns the attempt; 0 if there is nothing for long.
func (c *cutter) attempts(name string) uint32 {
	c.t.Helper()
	turns, activities, stop := c.direct.WorkReady()
	defer stop()
	for late := time.After(time.Minute / 2); ; {
		if name == "FetchWorkItem" {
			work, err := fetchWork(c.t.Context(), c.direct)
			ok(c.t, err)
			if work != nil {
				return work.AttemptCount
			}
		} else {
			turn, err := fetchTurn(c.t.Context(), c.direct)
			ok(c.t, err)
			if turn != nil {
				return turn.AttemptCount
			}
		}
		select {
		case <-turns:
		case <-activities:
		case <-late:
			return 0
		}
	}
}

// marked is a connection string under whose name, the marker, the server lists its sessions.
func marked(t *testing.T, dsn string) (text, marker string) {
	t.Helper()
	u, err := url.Parse(dsn)
	ok(t, err)
	marker = mssqltest.Name()
	query := u.Query()
	query.Set("app name", marker)
	u.RawQuery = query.Encode()
	return u.String(), marker
}

// awaitSessions waits until the server has no more than so many sessions under the marker: only when it has ended a
// session that the client has given up is what that was carrying out done or undone. The server tells; how long it
// takes is its own business.
func awaitSessions(t *testing.T, marker string, most func() int) {
	t.Helper()
	for more := true; more; {
		known, n := most(), 0
		ok(t, mssqltest.DB(t).QueryRowContext(t.Context(),
			"SELECT COUNT(*) FROM sys.dm_exec_sessions AS s WHERE s.program_name = @p1", marker).Scan(&n))
		more = n > known
	}
}

// cut cuts one call of the operation.
func (c *cutter) cut(name string) {
	c.t.Helper()
	want := c.uncut(name)
	run := c.prepare(name)
	before := c.state()
	fault, ctx, end := c.fault(name)
	err := run(ctx, c.proxied)
	end()
	// Also when it is in the pool and looks well.
	if strings.HasPrefix(fault, "cut") {
		c.db.SetMaxIdleConns(-1)
		c.db.SetMaxIdleConns(1)
	}
	// What a cut fetch may hold is being given back meanwhile, over a connection that stays in the pool.
	awaitSessions(c.t, c.marker, func() int { return c.db.Stats().Idle })
	c.reopen()
	after := c.state()
	happened := after == want
	switch {
	case happened && err != nil && strings.HasPrefix(name, "Fetch"):
		c.t.Errorf("%s, %s, answered with %v and holds what nobody was given:\n%s", name, fault, err, after)
	case !happened && after != before:
		c.t.Errorf("%s, %s, answered with %v, was done by half:\nbefore and after:\n%s\nafter and what it should be:\n%s",
			name, fault, err, cmp.Diff(before, after), cmp.Diff(after, want))
	case err == nil && !happened:
		c.t.Errorf("%s, %s, says it has succeeded and has not:\n%s", name, fault, cmp.Diff(after, want))
	case err != nil && !provider.IsRetryable(err):
		c.t.Errorf("%s, %s, says that repeating it cannot help: %v", name, fault, err)
	}
	c.tally[outcome(err, happened)]++
	c.repeat(name, fault, run, want, happened)
}

// outcome is what became of a call, for the tally.
func outcome(err error, happened bool) string {
	switch {
	case err == nil:
		return "succeeded"
	case happened:
		return "failed but were carried out"
	default:
		return "failed"
	}
}

// repeat repeats a call, twice: it does its work if it has not been done, and then, or else at once, says that it has.
func (c *cutter) repeat(name, fault string, run call, want string, happened bool) {
	c.t.Helper()
	answer, ok := repeated[name]
	if !ok {
		return
	}
	if !happened {
		if err := run(c.t.Context(), c.direct); err != nil {
			c.t.Errorf("%s, %s and not carried out, cannot be repeated: %v", name, fault, err)
		}
	}
	if err := run(c.t.Context(), c.direct); !errors.Is(err, answer) {
		c.t.Errorf("%s, %s and carried out, is answered with %v when it is repeated, want %v", name, fault, err, answer)
	}
	if diff := cmp.Diff(want, c.state()); diff != "" {
		c.t.Errorf("%s, %s and repeated, has left:\n%s", name, fault, diff)
	}
}

// uncut returns what the operation leaves behind when nothing cuts it, and learns how large its request is.
func (c *cutter) uncut(name string) string {
	c.t.Helper()
	if done, known := c.done[name]; known {
		return done
	}
	run := c.prepare(name)
	c.proxy.OnRequest(func(r tdsproxy.Request) tdsproxy.Action {
		c.sizes[name] = r.Size
		return tdsproxy.Action{}
	})
	ok(c.t, run(c.t.Context(), c.proxied))
	c.done[name] = c.state()
	return c.done[name]
}

// prepare empties the schema and brings about what the operation needs.
func (c *cutter) prepare(name string) call {
	c.t.Helper()
	var batch strings.Builder
	for _, table := range tablesOf(c.t, c.owner, c.schema) {
		fmt.Fprintf(&batch, "DELETE FROM [%s].%s;\n", c.schema, table)
	}
	_, err := c.owner.ExecContext(c.t.Context(), batch.String())
	ok(c.t, err)
	return operations[name].prepare(scene{t: c.t, store: c.direct, instance: "instance"})
}

// fault chooses what happens to the first request of the next call, says it in words, and returns the context for the
// call. end lets go of whatever is still held, after the call.
func (c *cutter) fault(name string) (what string, ctx context.Context, end func()) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	size := c.sizes[name]
	// An answer is some dozens of bytes, and more if it has rows.
	within, bytes := c.random.IntN(size), c.random.IntN(200)
	pause := time.Duration(c.random.IntN(int(5 * time.Millisecond)))
	// giveUp ends the context, and lets the network go on when the driver has noticed or a bit later.
	giveUp := func(after time.Duration) {
		time.AfterFunc(after, func() {
			cancel()
			release()
		})
	}
	faults := []struct {
		what string
		act  func() tdsproxy.Action
	}{
		{"cut before the request", func() tdsproxy.Action { return tdsproxy.Action{Fault: tdsproxy.CutRequest} }},
		{fmt.Sprintf("cut after %d of %d bytes of the request", within, size), func() tdsproxy.Action {
			return tdsproxy.Action{Fault: tdsproxy.CutRequest, After: within}
		}},
		{"cut after the request", func() tdsproxy.Action {
			return tdsproxy.Action{Fault: tdsproxy.CutRequest, After: size}
		}},
		{fmt.Sprintf("cut after %d bytes of the answer", bytes), func() tdsproxy.Action {
			return tdsproxy.Action{Fault: tdsproxy.CutAnswer, After: bytes}
		}},
		{"given up before the request", func() tdsproxy.Action {
			giveUp(0)
			return tdsproxy.Action{HoldRequest: held}
		}},
		{fmt.Sprintf("given up %v after the request", pause), func() tdsproxy.Action {
			giveUp(pause)
			return tdsproxy.Action{}
		}},
		{"given up before the answer", func() tdsproxy.Action {
			giveUp(pause)
			return tdsproxy.Action{HoldAnswer: held}
		}},
		{"given up, the answer being lost", func() tdsproxy.Action {
			giveUp(pause)
			return tdsproxy.Action{Fault: tdsproxy.SwallowAnswer}
		}},
	}
	chosen := faults[c.random.IntN(len(faults))]
	var first sync.Once
	c.proxy.OnRequest(func(tdsproxy.Request) (action tdsproxy.Action) {
		first.Do(func() { action = chosen.act() })
		return action
	})
	return chosen.what, ctx, func() {
		cancel()
		release()
	}
}

// state is what is in the schema, without what differs from time to time: times, tokens and the ids of rows. Leases are
// told apart by their length, as far as the operations make a difference.
func (c *cutter) state() string {
	c.t.Helper()
	const lease = "CASE WHEN %[2]s IS NULL THEN N'no lease' WHEN %[2]s > %[1]d THEN N'a long lease' ELSE N'a lease' END"
	halfway := time.Now().Add(5 * 10 * time.Minute).UnixMilli()
	held := fmt.Sprintf(lease, halfway, "x.locked_until") + ", CASE WHEN x.lock_token IS NULL THEN N'free' ELSE N'held' END"
	later := fmt.Sprintf("CASE WHEN x.visible_at > %d THEN N'later' ELSE N'now' END", time.Now().Add(10*time.Second).UnixMilli())
	var all strings.Builder
	for _, query := range []string{
		"instances: SELECT x.instance_id, x.orchestration_name, x.orchestration_version, x.current_execution_id, x.custom_status, x.custom_status_version FROM %s.instances AS x",
		"executions: SELECT x.instance_id, x.execution_id, x.status, x.output, CASE WHEN x.completed_at IS NULL THEN 0 ELSE 1 END FROM %s.executions AS x",
		"history: SELECT x.instance_id, x.execution_id, x.event_id, x.event_type, x.event_data FROM %s.history AS x",
		"kv_store: SELECT x.instance_id, x.kv_key, x.value FROM %s.kv_store AS x",
		"kv_delta: SELECT x.instance_id, x.kv_key, x.value FROM %s.kv_delta AS x",
		"inboxes: SELECT x.instance_id, CASE WHEN x.head_id IS NULL THEN N'not ready' ELSE N'ready' END, " + held + " FROM %s.inboxes AS x",
		"messages: SELECT x.instance_id, x.kind, x.work_item, x.attempt_count, " + later + " FROM %s.orchestrator_queue AS x",
		"activities: SELECT x.instance_id, x.activity_id, x.work_item, x.ready, x.attempt_count, " + later + ", " + held + " FROM %s.worker_queue AS x",
	} {
		what, query, _ := strings.Cut(query, ": ")
		lines := c.lines(fmt.Sprintf(query, "["+c.schema+"]"))
		slices.Sort(lines)
		for _, line := range lines {
			fmt.Fprintf(&all, "%s: %s\n", what, line)
		}
	}
	return all.String()
}

// lines reads a query's rows, each as a line.
func (c *cutter) lines(query string) (lines []string) {
	c.t.Helper()
	rows, err := c.owner.QueryContext(c.t.Context(), query)
	ok(c.t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	ok(c.t, err)
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		ok(c.t, rows.Scan(targets...))
		line := make([]string, len(values))
		for i, value := range values {
			line[i] = value.String
			if !value.Valid {
				line[i] = "NULL"
			}
		}
		lines = append(lines, strings.Join(line, " | "))
	}
	ok(c.t, rows.Err())
	return lines
}
