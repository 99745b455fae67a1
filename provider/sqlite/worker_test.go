package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/provider"
)

// workModel is the worker queue as §5.10 to §5.15 describe it, in plain Go.
type workModel struct {
	s *Store
	// stores are those of the same tables, of which s is one.
	stores   []*Store
	now      atomic.Int64
	nextID   uint64
	rows     []*modelWork
	sessions map[string]*modelSession
	// named is when a fetch last named a code.
	named map[string]int64
	// tokens are all that were ever given out.
	tokens []string
}

type modelWork struct {
	id           uint64
	name         string
	session, tag *string
	visibleAt    int64
	lockedUntil  int64
	token        string
	attempts     uint32
	// unnamed are those of the attempts whose fetches named no code.
	unnamed uint32
}

type modelSession struct {
	owner                 string
	until, lastActivityAt int64
}

// The store and the model answer every call alike.
func TestWorkFollowsTheRules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		m := &workModel{sessions: map[string]*modelSession{}, named: map[string]int64{}}
		m.now.Store(1_000_000)
		stores, closeAll := openSome(t, dir, m.now.Load)
		defer closeAll()
		m.stores = stores
		m.s = stores[0]
		t.Repeat(map[string]func(*rapid.T){
			"":         m.check,
			"enqueue":  m.enqueue,
			"enqueue2": m.enqueue,
			"fetch":    m.fetch,
			"fetch2":   m.fetch,
			"ack":      m.ack,
			"abandon":  m.abandon,
			"renew":    m.renew,
			"wait":     func(t *rapid.T) { m.now.Add(rapid.Int64Range(1, 300).Draw(t, "ms")) },
			"silence":  m.silence,
			"sessions": m.renewSessions,
			"cleanup":  m.cleanup,
			"depth":    m.depth,
			"delete":   m.delete,
		})
	})
}

var (
	someTag     = rapid.SampledFrom([]*string{nil, nil, new("gpu"), new("eu"), new("")})
	someSession = rapid.SampledFrom([]*string{nil, nil, new("s1"), new("s2"), new("s3")})
	someOwner   = rapid.SampledFrom([]string{"ann", "bob"})
	someFilter  = rapid.SampledFrom([]provider.TagFilter{
		{},
		provider.AnyTag(), provider.NoActivities(),
		tagged(provider.Tags("gpu")), tagged(provider.Tags("", "eu")), tagged(provider.DefaultAndTags("eu", "none")),
	})
	someKnown = rapid.SampledFrom([]*provider.KnownCode{nil, nil, know("A", ""), know("B", ""), provider.Know()})
	someLease = rapid.Int64Range(1, 400)
)

func tagged(filter provider.TagFilter, _ error) provider.TagFilter { return filter }

func (m *workModel) enqueue(t *rapid.T) {
	m.nextID++
	row := &modelWork{
		id: m.nextID, name: someCode.Draw(t, "name"), session: someSession.Draw(t, "session"), tag: someTag.Draw(t, "tag"), visibleAt: m.now.Load(),
	}
	m.rows = append(m.rows, row)
	if err := m.s.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{
		Instance: instanceOf(row.id), ExecutionID: 1, ID: row.id, Name: row.name, SessionID: row.session, Tag: row.tag,
	}); err != nil {
		t.Fatal(err)
	}
}

// instanceOf is the instance that an activity belongs to.
func instanceOf(id uint64) string { return fmt.Sprint("i", id%5) }

// check looks at the bounds, and goes on with any of the stores.
func (m *workModel) check(t *rapid.T) {
	checkBounds(t, m.s)
	m.s = rapid.SampledFrom(m.stores).Draw(t, "process")
}

// delete takes an instance's activities away, which may be leased.
func (m *workModel) delete(t *rapid.T) {
	instance := instanceOf(rapid.Uint64Range(0, 4).Draw(t, "instance"))
	m.rows = slices.DeleteFunc(m.rows, func(r *modelWork) bool { return instanceOf(r.id) == instance })
	if _, err := m.s.DeleteInstancesAtomic(t.Context(), []string{instance}, true); err != nil {
		t.Fatal(err)
	}
}

// silence is a time in which nobody names any code: longer than a fetch that names none takes account of, or than
// the store remembers.
func (m *workModel) silence(t *rapid.T) {
	m.now.Add(rapid.SampledFrom([]int64{2 * namedFor, 2 * forgetAfter}).Draw(t, "silence"))
}

// isNamed reports whether a fetch has named the code in so many milliseconds.
func (m *workModel) isNamed(code string, within int64) bool {
	at, named := m.named[code]
	return named && at > m.now.Load()-within
}

// next is the row that a fetch has to return, nil for none.
func (m *workModel) next(owner string, filter provider.TagFilter, known *provider.KnownCode) *modelWork {
	for _, row := range m.rows {
		if row.visibleAt > m.now.Load() || row.lockedUntil > m.now.Load() || !filter.Matches(row.tag) ||
			(known != nil && !known.Knows(provider.CodeName{Name: row.name})) || (known == nil && m.isNamed(row.name, namedFor)) {
			continue
		}
		if row.session == nil {
			return row
		}
		held := m.sessions[*row.session]
		if owner != "" && (held == nil || held.until <= m.now.Load() || held.owner == owner) {
			return row
		}
	}
	return nil
}

func (m *workModel) fetch(t *rapid.T) {
	lease, sessionLease := someLease.Draw(t, "lease"), someLease.Draw(t, "session lease")
	params := provider.FetchWorkParams{
		LockTimeout: time.Duration(lease) * millisecond, Tags: someFilter.Draw(t, "filter"), Known: someKnown.Draw(t, "known"),
	}
	owner := ""
	if rapid.Bool().Draw(t, "takes sessions") {
		owner = someOwner.Draw(t, "owner")
		params.Session = &provider.SessionFetchConfig{OwnerID: owner, LockTimeout: time.Duration(sessionLease) * millisecond}
	}
	want := m.next(owner, params.Tags, params.Known)
	if params.Known != nil && params.Tags.Mode() != provider.TagNone {
		for _, code := range params.Known.Names() {
			m.named[code.Name] = m.now.Load()
		}
	}
	got, err := m.s.FetchWorkItem(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	if (got == nil) != (want == nil) {
		t.Fatalf("fetched %v, want %+v", got, want)
	}
	if got == nil {
		return
	}
	if params.Known != nil {
		want.attempts, want.unnamed = want.attempts-want.unnamed, 0
	} else {
		want.unnamed++
	}
	want.attempts++
	if activity, _ := got.Item.(provider.ActivityExecuteItem); activity.ID != want.id || got.AttemptCount != want.attempts {
		t.Fatalf("fetched activity %d at attempt %d, want %d at %d", activity.ID, got.AttemptCount, want.id, want.attempts)
	}
	want.token, want.lockedUntil = got.LockToken, m.now.Load()+lease
	m.tokens = append(m.tokens, got.LockToken)
	if want.session != nil {
		m.sessions[*want.session] = &modelSession{owner: owner, until: m.now.Load() + sessionLease, lastActivityAt: m.now.Load()}
	}
}

// token draws one that was given out, and finds the row that still carries it.
func (m *workModel) token(t *rapid.T) (string, *modelWork) {
	if len(m.tokens) == 0 {
		t.Skip("no token was given out")
	}
	token := rapid.SampledFrom(m.tokens).Draw(t, "token")
	for _, row := range m.rows {
		if row.token == token {
			return token, row
		}
	}
	return token, nil
}

// outcome compares the error of a call that needs a live lease with the model.
func (m *workModel) outcome(t *rapid.T, row *modelWork, err error) (live bool) {
	switch {
	case row == nil:
		if !errors.Is(err, provider.ErrInvalidLockToken) || provider.IsRetryable(err) {
			t.Fatalf("error %v, want %v", err, provider.ErrInvalidLockToken)
		}
	case row.lockedUntil <= m.now.Load():
		if !errors.Is(err, provider.ErrLockExpired) || provider.IsRetryable(err) {
			t.Fatalf("error %v, want %v", err, provider.ErrLockExpired)
		}
	case err != nil:
		t.Fatal(err)
	default:
		if row.session != nil {
			if held := m.sessions[*row.session]; held != nil && held.until > m.now.Load() {
				held.lastActivityAt = m.now.Load()
			}
		}
		return true
	}
	return false
}

func (m *workModel) ack(t *rapid.T) {
	token, row := m.token(t)
	if m.outcome(t, row, m.s.AckWorkItem(t.Context(), token, nil)) {
		m.rows = slices.DeleteFunc(m.rows, func(r *modelWork) bool { return r == row })
	}
}

func (m *workModel) renew(t *rapid.T) {
	token, row := m.token(t)
	lease := someLease.Draw(t, "lease")
	if m.outcome(t, row, m.s.RenewWorkItemLock(t.Context(), token, time.Duration(lease)*millisecond)) {
		row.lockedUntil = m.now.Load() + lease
	}
}

func (m *workModel) abandon(t *rapid.T) {
	token, row := m.token(t)
	hideFor := rapid.SampledFrom([]int64{0, 0, 200}).Draw(t, "delay")
	ignore := rapid.Bool().Draw(t, "ignore attempt")
	err := m.s.AbandonWorkItem(t.Context(), provider.AbandonParams{
		LockToken: token, Delay: time.Duration(hideFor) * millisecond, IgnoreAttempt: ignore,
	})
	if row == nil {
		if !errors.Is(err, provider.ErrInvalidLockToken) {
			t.Fatalf("error %v, want %v", err, provider.ErrInvalidLockToken)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	row.token, row.lockedUntil, row.visibleAt = "", 0, m.now.Load()+hideFor
	if row.attempts > 0 && (ignore || (row.unnamed > 0 && m.isNamed(row.name, forgetAfter))) {
		row.attempts--
		row.unnamed -= min(row.unnamed, 1)
	}
}

func (m *workModel) renewSessions(t *rapid.T) {
	owner := someOwner.Draw(t, "owner")
	lease, idle := someLease.Draw(t, "lease"), someLease.Draw(t, "idle")
	want := 0
	for _, held := range m.sessions {
		if held.owner == owner && held.until > m.now.Load() && held.lastActivityAt > m.now.Load()-idle {
			held.until = m.now.Load() + lease
			want++
		}
	}
	got, err := m.s.RenewSessionLock(t.Context(), provider.RenewSessionParams{
		OwnerIDs: []string{owner, "nobody"}, ExtendFor: time.Duration(lease) * millisecond, IdleTimeout: time.Duration(idle) * millisecond,
	})
	if err != nil || got != want {
		t.Fatalf("renewed %d sessions, %v; want %d", got, err, want)
	}
}

func (m *workModel) cleanup(t *rapid.T) {
	want := 0
	for id, held := range m.sessions {
		needed := slices.ContainsFunc(m.rows, func(r *modelWork) bool { return r.session != nil && *r.session == id })
		if held.until < m.now.Load() && !needed {
			delete(m.sessions, id)
			want++
		}
	}
	if got, err := m.s.CleanupOrphanedSessions(t.Context(), 0); err != nil || got != want {
		t.Fatalf("deleted %d sessions, %v; want %d", got, err, want)
	}
}

func (m *workModel) depth(t *rapid.T) {
	want := uint64(0)
	for _, row := range m.rows {
		if row.lockedUntil <= m.now.Load() {
			want++
		}
	}
	if got, err := m.s.GetQueueDepths(t.Context()); err != nil || got.WorkerQueue != want {
		t.Fatalf("depth %d, %v; want %d", got.WorkerQueue, err, want)
	}
}

// A session of somebody else with a long queue does not hide what lies behind it, and
// the oldest of that comes first.
func TestLongQueueOfAnotherSession(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	session := func(owner string) provider.FetchWorkParams {
		return provider.FetchWorkParams{
			LockTimeout: time.Hour, Session: &provider.SessionFetchConfig{OwnerID: owner, LockTimeout: time.Hour},
		}
	}
	enqueue := func(id uint64, name string) {
		must(t, s.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: id, SessionID: &name}))
	}
	fetchID := func(owner string) uint64 {
		work, err := s.FetchWorkItem(t.Context(), session(owner))
		must(t, err)
		if work == nil {
			return 0
		}
		activity, _ := work.Item.(provider.ActivityExecuteItem)
		return activity.ID
	}
	enqueue(1, "theirs")
	if got := fetchID("them"); got != 1 {
		t.Fatalf("fetched %d, want 1", got)
	}
	const crowd = 300 // more than NextSessionWork looks at one by one
	for id := uint64(2); id < crowd; id++ {
		enqueue(id, "theirs")
	}
	for i := range uint64(3) {
		enqueue(crowd+i, fmt.Sprint("free", 9-i))
	}
	for i := range uint64(3) {
		if got := fetchID("me"); got != crowd+i {
			t.Errorf("fetched %d, want %d", got, crowd+i)
		}
	}
	if got := fetchID("me"); got != 0 {
		t.Errorf("fetched %d of another's session", got)
	}
	if got := fetchID("them"); got != 2 {
		t.Errorf("the owner fetched %d, want 2", got)
	}
}
