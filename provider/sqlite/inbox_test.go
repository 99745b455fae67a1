package sqlite

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// stored is what the tables say, for the rules to be worked out from it once more, in
// Go.
type stored struct {
	now      int64
	messages []storedMessage
	// status is that of the current execution, "" if there is none, by instance.
	status map[string]provider.Status
	// code is what that execution runs, "" for any, by instance.
	code map[string]string
	// version is the minor version that execution is pinned to, -1 for none.
	version map[string]int64
	// started are instances whose latest history has a start event, begun those with a
	// history.
	started, begun map[string]bool
	// leased is the end of the live leases.
	leased map[string]int64
}

type storedMessage struct {
	id        int64
	instance  string
	kind      int64
	visibleAt int64
	// code is what a start or a ContinueAsNew asks for, "" for any.
	code string
}

// inboxRow is the stored answer. Pointers are compared by what they point to.
type inboxRow struct {
	head, wake int64 // 0 for NULL
	// code is what the next turn runs, "" for any, while there is a head.
	code string
}

// answer works out an instance's inbox as §5.1 has it; ok is false when it has
// neither messages nor a lease.
func (s stored) answer(instance string) (row inboxRow, ok bool) {
	if until, leased := s.leased[instance]; leased {
		return inboxRow{wake: until}, true
	}
	var hidden, visible [5]int
	for _, m := range s.messages {
		if m.instance != instance {
			continue
		}
		ok = true
		if m.kind == columns.KindWaiting {
			continue
		}
		if m.visibleAt > s.now {
			hidden[m.kind]++
			row.wake = earlier(row.wake, m.visibleAt)
			continue
		}
		visible[m.kind]++
		row.head = earlier(row.head, m.id)
	}
	if !s.eligible(instance, hidden, visible) {
		row.head = 0
	}
	if row.head != 0 {
		row.code = s.nextCode(instance)
	}
	return row, ok
}

// nextCode is what the instance's next turn runs, as §5.20 has it.
func (s stored) nextCode(instance string) string {
	// first is what the first message of a kind asks for.
	first := func(kind int64) (string, bool) {
		at := slices.IndexFunc(s.messages, func(m storedMessage) bool { return m.instance == instance && m.kind == kind })
		if at < 0 {
			return "", false
		}
		return s.messages[at].code, true
	}
	status, known := s.status[instance]
	switch {
	case status == provider.StatusRunning:
		return s.code[instance]
	case status == provider.StatusContinuedAsNew, !known && !s.begun[instance]:
		if code, ok := first(columns.KindContinueAsNew); ok || known {
			return code
		}
		code, _ := first(columns.KindStart)
		return code
	}
	return ""
}

// eligible says whether an instance that nobody has leased may be fetched, given
// its messages by kind.
func (s stored) eligible(instance string, hidden, visible [5]int) bool {
	status, known := s.status[instance]
	if known {
		return status != provider.StatusContinuedAsNew || hidden[columns.KindContinueAsNew] == 0
	}
	if hidden[columns.KindContinueAsNew]+hidden[columns.KindStart] > 0 {
		return false
	}
	onlyQueueMessages := hidden[columns.KindOther]+visible[columns.KindOther]+visible[columns.KindStart]+visible[columns.KindContinueAsNew] == 0
	return visible[columns.KindContinueAsNew]+visible[columns.KindStart] > 0 || s.started[instance] || onlyQueueMessages
}

// next is the instance a fetch has to return, of those whose version is at most newest
// and whose code is admitted; "" for none. Instances whose messages are dropped count as
// well.
func (s stored) next(newest int64, admits func(code string) bool) string {
	best, head := "", int64(0)
	for _, m := range s.messages {
		row, _ := s.answer(m.instance)
		if row.head == 0 || s.version[m.instance] > newest || (row.code != "" && !admits(row.code)) {
			continue
		}
		if head == 0 || row.head < head {
			best, head = m.instance, row.head
		}
	}
	return best
}

// readStored reads the tables and the inboxes, after what is due has been moved.
func readStored(t *rapid.T, s *Store) (stored, map[string]inboxRow) {
	state := stored{
		status: map[string]provider.Status{}, version: map[string]int64{}, code: map[string]string{},
		started: map[string]bool{}, begun: map[string]bool{}, leased: map[string]int64{},
	}
	rows := map[string]inboxRow{}
	err := s.write(t.Context(), "test", func(ctx context.Context, tx *tx) error {
		state.now = tx.now
		if _, err := tx.findDue(ctx, turnFetch{versions: anyVersion}, seenSet{}); err != nil {
			return err
		}
		listed := listedDue(tx)
		return errorsOf(
			each(ctx, s, `SELECT q.id, instance_id, kind, visible_at, coalesce(name || '@' || version, '')
				FROM orchestrator_queue q LEFT JOIN code_names c ON c.id = q.code_id ORDER BY q.id`, func(scan func(...any)) {
				var m storedMessage
				scan(&m.id, &m.instance, &m.kind, &m.visibleAt, &m.code)
				state.messages = append(state.messages, m)
			}),
			each(ctx, s, `SELECT i.instance_id, coalesce(e.status, ''), coalesce(v.minor, -1), coalesce(c.name || '@' || c.version, '') FROM instances i
				LEFT JOIN executions e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
				LEFT JOIN code_names c ON c.id = e.code_id
				LEFT JOIN framework_versions v ON v.id = e.version_id`, func(scan func(...any)) {
				var instance, status string
				var version int64
				var code string
				scan(&instance, &status, &version, &code)
				state.code[instance] = code
				state.status[instance], state.version[instance] = provider.Status(status), version
			}),
			each(ctx, s, `SELECT DISTINCT h.instance_id FROM history h WHERE h.event_type = 'OrchestrationStarted'
				AND NOT EXISTS (SELECT 1 FROM history l WHERE l.instance_id = h.instance_id AND l.execution_id > h.execution_id)`,
				func(scan func(...any)) {
					var instance string
					scan(&instance)
					state.started[instance] = true
				}),
			each(ctx, s, "SELECT DISTINCT instance_id FROM history", func(scan func(...any)) {
				var instance string
				scan(&instance)
				state.begun[instance] = true
			}),
			each(ctx, s, `SELECT instance_id, coalesce(locked_until, 0), coalesce(head_id, 0), coalesce(wake_at, 0),
				coalesce(name || '@' || version, '')
				FROM inboxes LEFT JOIN code_names c ON c.id = code_id`, func(scan func(...any)) {
				var instance string
				var until int64
				var row inboxRow
				scan(&instance, &until, &row.head, &row.wake, &row.code)
				if head, ok := listed[instance]; ok {
					row.head, row.wake = head, 0
				}
				if row.head == 0 {
					row.code = ""
				}
				rows[instance] = row
				if until > state.now {
					state.leased[instance] = until
				}
			}),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range state.messages {
		if _, known := state.version[m.instance]; !known {
			state.version[m.instance] = -1
		}
	}
	return state, rows
}

// listedDue are the heads of the instances that are fetchable as a list says, and not their inboxes.
func listedDue(tx *tx) map[string]int64 {
	heads := map[string]int64{}
	for _, d := range tx.ready.due {
		if tx.isDue(d) != nil {
			heads[d.instance] = d.head
		}
	}
	return heads
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// each runs a query on the writer's connection, within the present transaction.
func each(ctx context.Context, s *Store, query string, row func(scan func(...any))) error {
	rows, err := s.writer.conn.QueryContext(ctx, query) //nolint:sqlclosecheck // closed below
	if err != nil {
		return err
	}
	defer rows.Close()
	var failed error
	for rows.Next() {
		row(func(into ...any) {
			if err := rows.Scan(into...); err != nil {
				failed = err
			}
		})
	}
	return errorsOf(failed, rows.Err())
}

// inboxMachine does random things to a store.
type inboxMachine struct {
	s *Store
	// stores are those of the same tables, of which s is one.
	stores []*Store
	now    atomic.Int64
	// held are the turns that were fetched and neither acknowledged nor abandoned.
	held []*provider.FetchedOrchestration
	// named are the codes that a fetch has named. Nothing lasts long enough for one to be forgotten.
	named map[string]bool
	// nextEvent keeps event ids apart.
	nextEvent uint64
}

// Whatever happens, the stored answer is the one that the rules give, and a fetch
// takes the instance that has waited longest.
func TestInboxesFollowTheRules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		m := &inboxMachine{nextEvent: 1, named: map[string]bool{}}
		m.now.Store(1_000_000)
		stores, closeAll := openSome(t, dir, m.now.Load)
		defer closeAll()
		m.stores = stores
		m.s = stores[0]
		t.Repeat(map[string]func(*rapid.T){
			"":        m.check,
			"enqueue": m.enqueue,
			"fetch":   m.fetch,
			"ack":     m.ack,
			"abandon": m.abandon,
			"retry":   m.retry,
			"renew":   m.renew,
			"wait":    func(t *rapid.T) { m.now.Add(rapid.Int64Range(1, 500).Draw(t, "ms")) },
			"append":  m.append,
			"delete":  m.delete,
			"orphans": m.orphans,
		})
	})
}

// Of instances that run as most do, what the writer keeps is what the tables have, whatever else
// happens now and then.
func TestWhatIsKeptIsStored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		m := &inboxMachine{nextEvent: 1, named: map[string]bool{}}
		m.now.Store(1_000_000)
		stores, closeAll := openSome(t, dir, m.now.Load)
		defer closeAll()
		m.stores, m.s = stores, stores[0]
		for _, instance := range []string{"a", "b"} {
			if err := m.s.EnqueueForOrchestrator(t.Context(), start(instance), 0); err != nil {
				t.Fatal(err)
			}
			m.turn(t)
		}
		unusual := rapid.SampledFrom([]func(*rapid.T){m.enqueue, m.fetch, m.ack, m.abandon, m.retry, m.renew, m.append, m.delete, m.orphans, func(*rapid.T) { m.now.Add(700) }})
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				checkKept(t, m.s)
				m.s = rapid.SampledFrom(m.stores).Draw(t, "process")
			},
			"message": m.message,
			"turn":    m.turn,
			"turns":   m.turn,
			"wait":    func(*rapid.T) { m.now.Add(200) },
			"rules":   m.check,
			"unusual": func(t *rapid.T) { unusual.Draw(t, "unusual")(t) },
		})
	})
}

func (m *inboxMachine) check(t *rapid.T) {
	state, rows := readStored(t, m.s)
	want := map[string]inboxRow{}
	for instance := range rows {
		row, ok := state.answer(instance)
		if !ok {
			t.Fatalf("instance %s has an inbox but neither messages nor a lease", instance)
		}
		want[instance] = row
	}
	for _, message := range state.messages {
		want[message.instance], _ = state.answer(message.instance)
	}
	if diff := cmp.Diff(want, rows, cmp.AllowUnexported(inboxRow{})); diff != "" {
		t.Fatalf("inboxes at %d (-want +got):\n%s", state.now, diff)
	}
	checkBounds(t, m.s)
	checkKept(t, m.s)
	m.s = rapid.SampledFrom(m.stores).Draw(t, "process")
}

var someInstances = rapid.SampledFrom([]string{"a", "b", "c"})

var someCode = rapid.SampledFrom([]string{"A", "B", "C"})

// item draws a message of any kind.
func (m *inboxMachine) item(t *rapid.T, instance string) provider.WorkItem {
	code := someCode.Draw(t, "code")
	return rapid.SampledFrom([]provider.WorkItem{
		provider.QueueMessageItem{Instance: instance, Name: "q"},
		provider.QueueMessageItem{Instance: instance, Name: "r"},
		provider.ContinueAsNewItem{Instance: instance, Orchestration: code, Version: new("1")},
		provider.StartOrchestrationItem{Instance: instance, Orchestration: code, ExecutionID: 1},
		provider.ExternalRaisedItem{Instance: instance, Name: "e"},
		provider.CancelInstanceItem{Instance: instance},
		m.timer(t, instance),
	}).Draw(t, "item")
}

// timer draws one that is due, or will be soon.
func (m *inboxMachine) timer(t *rapid.T, instance string) provider.WorkItem {
	due := m.now.Load() + rapid.Int64Range(-100, 300).Draw(t, "due")
	return provider.TimerFiredItem{Instance: instance, ExecutionID: 1, ID: 2, FireAtMs: uint64(due)}
}

func (m *inboxMachine) enqueue(t *rapid.T) {
	delay := rapid.SampledFrom([]time.Duration{0, 0, 50 * millisecond, 400 * millisecond}).Draw(t, "delay")
	if err := m.s.EnqueueForOrchestrator(t.Context(), m.item(t, someInstances.Draw(t, "instance")), delay); err != nil {
		t.Fatal(err)
	}
}

func (m *inboxMachine) fetch(t *rapid.T) {
	newest := rapid.Int64Range(0, 3).Draw(t, "newest version")
	state, _ := readStored(t, m.s)
	admitted := rapid.SampledFrom([][]string{nil, nil, {}, {"A"}, {"B", "C"}, {"A", "B", "C"}}).Draw(t, "admitted")
	admits, known := func(code string) bool { return !m.named[code] }, (*provider.KnownCode)(nil)
	if admitted != nil {
		codes := []string{}
		var names []provider.CodeName
		for _, name := range admitted {
			names = append(names, provider.CodeName{Name: name, Version: "1"})
			codes = append(codes, name+"@1", name+"@")
			m.named[name+"@1"], m.named[name+"@"] = true, true
		}
		known, admits = provider.Know(names...), func(code string) bool { return slices.Contains(codes, code) }
	}
	want := state.next(newest, admits)
	turn, err := m.s.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{
		Peek:        rapid.Bool().Draw(t, "peek"),
		LockTimeout: time.Duration(rapid.Int64Range(1, 600).Draw(t, "lease")) * millisecond, Known: known,
		Filter: &provider.CapabilityFilter{SupportedVersions: []provider.VersionRange{{
			Max: provider.Version{Minor: uint64(newest), Patch: 9},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if turn == nil {
		// Only instances whose messages are dropped may have been eligible.
		after, _ := readStored(t, m.s)
		if left := after.next(newest, admits); left != "" {
			t.Fatalf("fetched nothing, although %s is eligible", left)
		}
		return
	}
	if _, known := state.status[turn.Item.Instance]; turn.Item.Instance != want && known && state.isKnown(want) {
		t.Fatalf("fetched %s, although %s has waited longer", turn.Item.Instance, want)
	}
	if turn.LockToken == "" || len(turn.Item.Messages) == 0 {
		t.Fatalf("fetched %+v", turn)
	}
	m.held = append(m.held, turn)
}

// isKnown reports whether an instance has a row, so that nothing of it is dropped.
func (s stored) isKnown(instance string) bool {
	_, known := s.status[instance]
	return known
}

// take removes a held turn, nil if there is none.
func (m *inboxMachine) take(t *rapid.T) *provider.FetchedOrchestration {
	if len(m.held) == 0 {
		t.Skip("no turn is held")
	}
	i := rapid.IntRange(0, len(m.held)-1).Draw(t, "turn")
	turn := m.held[i]
	m.held = slices.Delete(m.held, i, i+1)
	return turn
}

func (m *inboxMachine) ack(t *rapid.T) {
	turn := m.take(t)
	params := provider.AckOrchestrationParams{
		LockToken:   turn.LockToken,
		ExecutionID: turn.Item.ExecutionID + uint64(rapid.IntRange(0, 1).Draw(t, "next execution")),
		Queues:      m.reads(t, turn),
	}
	if rapid.Bool().Draw(t, "creates") {
		params.Metadata.OrchestrationName, params.Metadata.OrchestrationVersion = new(someCode.Draw(t, "runs")), new("1")
	}
	if rapid.Bool().Draw(t, "pins") {
		params.Metadata.PinnedDuroxideVersion = &provider.Version{Minor: rapid.Uint64Range(0, 4).Draw(t, "version")}
	}
	if status := rapid.SampledFrom([]provider.Status{"", provider.StatusCompleted, provider.StatusContinuedAsNew}).Draw(t, "status"); status != "" {
		params.Metadata.Status = &status
	}
	if rapid.Bool().Draw(t, "records its start") {
		m.nextEvent++
		params.HistoryDelta = []provider.Event{event(turn.Item.Instance, m.nextEvent, provider.OrchestrationStarted{Name: "O", Version: "1"})}
	}
	for range rapid.IntRange(0, 2).Draw(t, "messages") {
		params.OrchestratorItems = append(params.OrchestratorItems, m.item(t, someInstances.Draw(t, "to")))
	}
	m.mayBeLost(t, m.s.AckOrchestrationItem(t.Context(), params))
}

// reads draws what a peeked turn has read, and what its instance awaits.
func (m *inboxMachine) reads(t *rapid.T, turn *provider.FetchedOrchestration) *provider.QueueReads {
	if !turn.Item.Peeked {
		return nil
	}
	reads := provider.QueueReads{Read: map[string]int{}}
	for _, item := range turn.Item.Messages {
		if m, ok := item.(provider.QueueMessageItem); ok && rapid.Bool().Draw(t, "reads") {
			reads.Read[m.Name]++
		}
	}
	reads.Awaited = rapid.SampledFrom([][]string{nil, {"q"}, {"r", "q"}}).Draw(t, "awaited")
	return &reads
}

// message raises an event, or sends a queue message.
func (m *inboxMachine) message(t *rapid.T) {
	instance := someInstances.Draw(t, "instance")
	if err := m.s.EnqueueForOrchestrator(t.Context(), rapid.SampledFrom([]provider.WorkItem{
		provider.ExternalRaisedItem{Instance: instance, Name: "e"},
		provider.QueueMessageItem{Instance: instance, Name: "q"},
		provider.QueueMessageItem{Instance: instance, Name: "r"},
	}).Draw(t, "message"), 0); err != nil {
		t.Fatal(err)
	}
}

// turn fetches a turn and commits it, or keeps it for other actions.
func (m *inboxMachine) turn(t *rapid.T) {
	turn, err := m.s.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: 500 * millisecond, Peek: rapid.Bool().Draw(t, "peek")})
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case turn == nil:
		return
	case rapid.IntRange(0, 3).Draw(t, "kept for later") == 0:
		m.held = append(m.held, turn)
		return
	case rapid.Bool().Draw(t, "gets more"):
		m.message(t)
	}
	m.nextEvent++
	kind := rapid.SampledFrom([]provider.EventKind{
		provider.ExternalEvent{Name: "e"}, provider.ExternalEvent{Name: "e"}, provider.KeyValueSet{Key: "k", Value: "v"},
	}).Draw(t, "event")
	ack := provider.AckOrchestrationParams{LockToken: turn.LockToken, ExecutionID: turn.Item.ExecutionID, HistoryDelta: []provider.Event{
		event(turn.Item.Instance, m.nextEvent, kind),
	}, Queues: m.reads(t, turn)}
	if len(turn.Item.History) == 0 {
		ack.Metadata.OrchestrationName, ack.Metadata.OrchestrationVersion = new("A"), new("1")
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 1, 2}).Draw(t, "timers") {
		ack.OrchestratorItems = append(ack.OrchestratorItems, m.timer(t, turn.Item.Instance))
	}
	m.mayBeLost(t, m.s.AckOrchestrationItem(t.Context(), ack))
}

// mayBeLost accepts that a lease has ended meanwhile.
func (m *inboxMachine) mayBeLost(t *rapid.T, err error) {
	if err != nil && !isLost(err) {
		t.Fatal(err)
	}
}

func (m *inboxMachine) retry(t *rapid.T) {
	if _, err := m.s.RetryHeldInstance(t.Context(), someInstances.Draw(t, "instance")); err != nil {
		t.Fatal(err)
	}
}

func (m *inboxMachine) abandon(t *rapid.T) {
	turn := m.take(t)
	m.mayBeLost(t, m.s.AbandonOrchestrationItem(t.Context(), provider.AbandonParams{
		LockToken:     turn.LockToken,
		Delay:         rapid.SampledFrom([]time.Duration{0, 200 * millisecond}).Draw(t, "delay"),
		IgnoreAttempt: rapid.Bool().Draw(t, "ignore attempt"),
		Misfit:        rapid.SampledFrom([]string{"", "why"}).Draw(t, "misfit"),
	}))
}

func (m *inboxMachine) renew(t *rapid.T) {
	turn := m.take(t)
	err := m.s.RenewOrchestrationItemLock(t.Context(), turn.LockToken, time.Duration(rapid.Int64Range(1, 600).Draw(t, "for"))*millisecond)
	m.mayBeLost(t, err)
	if err == nil {
		m.held = append(m.held, turn)
	}
}

func (m *inboxMachine) append(t *rapid.T) {
	m.nextEvent++
	instance := someInstances.Draw(t, "instance")
	kind := rapid.SampledFrom([]provider.EventKind{
		provider.OrchestrationStarted{Name: "O", Version: "1"}, provider.KeyValuesCleared{},
	}).Draw(t, "kind")
	err := m.s.AppendWithExecution(t.Context(), instance, rapid.Uint64Range(1, 3).Draw(t, "execution"),
		[]provider.Event{event(instance, m.nextEvent, kind)})
	if err != nil {
		t.Fatal(err)
	}
}

func (m *inboxMachine) delete(t *rapid.T) {
	if _, err := m.s.DeleteInstancesAtomic(t.Context(), []string{someInstances.Draw(t, "instance")}, true); err != nil {
		t.Fatal(err)
	}
}

func (m *inboxMachine) orphans(t *rapid.T) {
	if _, err := m.s.DeleteOrphanMessages(t.Context(), time.Duration(rapid.IntRange(0, 300).Draw(t, "older than"))*millisecond); err != nil {
		t.Fatal(err)
	}
}

// The rules once more, as a table to read: when an instance may be fetched.
func TestEligibility(t *testing.T) {
	t.Parallel()
	const hidden = time.Hour
	queueMessage := provider.QueueMessageItem{Instance: "i", Name: "q"}
	cancel := provider.CancelInstanceItem{Instance: "i"}
	begin := start("i")
	type message struct {
		item  provider.WorkItem
		delay time.Duration
	}
	for name, c := range map[string]struct {
		messages []message
		fetched  bool
		// left is the number of messages that stay.
		left uint64
	}{
		"start":                            {[]message{{begin, 0}}, true, 0},
		"hidden start":                     {[]message{{begin, hidden}}, false, 1},
		"cancel without start":             {[]message{{cancel, 0}}, false, 1},
		"cancel and start":                 {[]message{{cancel, 0}, {begin, 0}}, true, 0},
		"cancel and hidden start":          {[]message{{cancel, 0}, {begin, hidden}}, false, 2},
		"queue messages are dropped":       {[]message{{queueMessage, 0}, {queueMessage, 0}}, false, 0},
		"hidden queue messages are not":    {[]message{{queueMessage, 0}, {queueMessage, hidden}}, false, 1},
		"queue messages and a cancel stay": {[]message{{queueMessage, 0}, {cancel, 0}}, false, 2},
		"queue messages wait for a start":  {[]message{{queueMessage, 0}, {begin, hidden}}, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openMemory(t, Options{})
			for _, m := range c.messages {
				must(t, s.EnqueueForOrchestrator(t.Context(), m.item, m.delay))
			}
			turn, err := s.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Hour})
			must(t, err)
			if (turn != nil) != c.fetched {
				t.Errorf("fetched %v", turn)
			}
			if got := depth(t, s); got != c.left {
				t.Errorf("%d messages are left, want %d", got, c.left)
			}
		})
	}
}
