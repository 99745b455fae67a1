package sqlite

import (
	"context"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
)

// A fetch wants the oldest row among the names that its caller knows. The oldest of one
// name is one seek away, but a hundred names are a hundred seeks, on pages that are far
// apart when many rows are ready.
//
// So the writer remembers, for each name that has ready rows, an id that none of them
// lies below, and a fetch seeks in the order of these bounds until the next bound is not
// below what it has found. Usually that takes one seek, which sees the row after the one
// it takes as well.
//
// A bound too low costs a seek, which corrects it; a bound too high would hide a row.
// Therefore whatever makes a row ready lowers its name's bound at once, and all bounds
// are forgotten when another process has written, and when a call that raised one is
// taken back. While other processes write, each fetch seeks for all names.

// heads are the bounds of one queue: of the rows that are ready, by key and code.
type heads[K comparable] struct {
	// read says that there is a bound for every ready row.
	read   bool
	bounds map[K]map[int64]int64
	// candidates are what take has left to seek, kept for the next call.
	candidates []head[K]
}

// head is one bound.
type head[K comparable] struct {
	key         K
	code, bound int64
}

// lower takes note of a row that has become ready.
func (h *heads[K]) lower(key K, code, id int64) {
	if !h.read {
		return
	}
	codes := h.bounds[key]
	if codes == nil {
		codes = map[int64]int64{}
		h.bounds[key] = codes
	}
	codes[code] = earlier(codes[code], id)
}

// set replaces a bound by the id of the oldest ready row, 0 for none.
func (h *heads[K]) set(key K, code, id int64) {
	codes := h.bounds[key]
	if id != 0 {
		codes[code] = id
		return
	}
	delete(codes, code)
	if len(codes) == 0 {
		delete(h.bounds, key)
	}
}

// seen is what a seek has found under a key and code; each is 0 for none.
type seen struct {
	// oldest is the oldest ready row, fits the oldest that the fetch may have, and next a
	// row that none but that one lies below.
	oldest, fits, next int64
}

// take returns the least id that seek finds under the keys and codes admitted, if it is below
// a limit; 0 for none, and for no limit. The caller locks it, or takes the call back.
func (h *heads[K]) take(limit int64, admits func(K) bool, known seenSet, seek func(K, int64) (seen, error)) (int64, error) {
	h.candidates = h.candidates[:0]
	for key, bounds := range h.bounds {
		if !admits(key) {
			continue
		}
		for code, bound := range bounds {
			if known.admits(code) {
				h.candidates = append(h.candidates, head[K]{key, code, bound})
			}
		}
	}
	var best int64
	var rest head[K]
	for {
		next, ok := h.least()
		if !ok || limit != 0 && limit <= next.bound {
			break
		}
		row, err := seek(next.key, next.code)
		if err != nil {
			return 0, err
		}
		h.set(next.key, next.code, row.oldest)
		if row.fits != 0 && (limit == 0 || row.fits < limit) {
			best, limit, rest = row.fits, row.fits, head[K]{next.key, next.code, row.next}
		}
	}
	if best != 0 {
		h.set(rest.key, rest.code, rest.bound)
	}
	return best, nil
}

// least takes the least bound out of the candidates. Most calls take one or two of them, which costs less than sorting
// all.
func (h *heads[K]) least() (least head[K], ok bool) {
	last := len(h.candidates) - 1
	if last < 0 {
		return least, false
	}
	at := 0
	for i, c := range h.candidates {
		if c.bound < h.candidates[at].bound {
			at = i
		}
	}
	least, h.candidates[at] = h.candidates[at], h.candidates[last]
	h.candidates = h.candidates[:last]
	return least, true
}

// forget drops all bounds.
func (h *heads[K]) forget() { h.read, h.bounds = false, nil }

// readyRows are the bounds of both queues. Only the writer's goroutine uses them.
type readyRows struct {
	// lastDigest is that of the long text that was stored last; see payload.go.
	lastDigest textDigest
	// instances are those of the inboxes by framework_versions.id, of head_id.
	instances  heads[int64]
	activities heads[workKey]
	// versions are framework versions by id.
	versions map[int64]provider.Version
	// kept is what is known of instances; see kept.go.
	kept     map[string]*kept
	keptWork keptWork
	// named are the codes that fetches have named, by kind; nil if they have to be read. See code.go.
	named [2]namedCodes
	// due are the instances that may be fetched although their inboxes were not refreshed, the one that has waited
	// longest first; see asleep.go.
	due []dueInstance
	// nextInstance, nextActivity and nextSession are when the next of them may become
	// ready by itself; see due.go.
	nextInstance, nextActivity, nextSession wakeTime
	// alone says that nobody else has written between the last transaction and this one.
	alone bool
	// used says that this transaction has used, and may have raised, what a rollback takes
	// back.
	used bool
}

// workKey is what activities are looked for by, beside their code.
type workKey struct {
	// tag is "" without one, as tagged says.
	tag       string
	tagged    bool
	inSession bool
}

func newWorkKey(tag *string, inSession bool) workKey {
	if tag == nil {
		return workKey{inSession: inSession}
	}
	return workKey{tag: *tag, tagged: true, inSession: inSession}
}

// tagOf is the tag as the queries take it.
func (k workKey) tagOf() *string {
	if !k.tagged {
		return nil
	}
	return &k.tag
}

// begin is called at the start of each transaction. alone says that nobody else has
// written since the last one.
func (r *readyRows) begin(alone bool) {
	r.used, r.alone = false, alone
	if !alone {
		r.forget()
	}
}

// rolledBack is called when a transaction, or a call in it, was taken back.
func (r *readyRows) rolledBack() {
	if r.used {
		r.forget()
	}
}

func (r *readyRows) forget() {
	r.instances.forget()
	r.activities.forget()
	r.versions, r.kept, r.keptWork, r.due = nil, nil, nil, nil
	r.named = [2]namedCodes{}
	r.nextInstance, r.nextActivity, r.nextSession = wakeTime{}, wakeTime{}, wakeTime{}
}

// useBounds reports whether a fetch is to go by the bounds, which is as long as nobody
// else writes: to read them after each write of another process would cost more than they
// spare.
func (t *tx) useBounds() bool {
	t.ready.used = true
	return t.ready.alone
}

// looksByBounds is useBounds for a fetch. A fetch without a set always goes by the bounds: the other queries seek for
// each name of a set.
func (t *tx) looksByBounds(s codeSelection) bool { return t.useBounds() || s.known == nil }

// oldestInstance returns the instance that has waited longest among those whose current
// execution is pinned to a version in the range, or to none, and whose code is admitted.
func (t *tx) oldestInstance(ctx context.Context, f turnFetch, known seenSet) (readyInstance, error) {
	if err := t.readInstanceHeads(ctx); err != nil {
		return readyInstance{}, err
	}
	due, k := t.firstDue() // which the fetch takes, as findDue has seen
	inRange := func(id int64) bool { return id == 0 || f.versions.Contains(t.ready.versions[id]) }
	var best sqlitedb.OldestInstancesRow
	id, err := t.ready.instances.take(due.head, inRange, known, func(version, code int64) (seen, error) {
		rows, err := t.OldestInstances(ctx, version, code)
		if err != nil || len(rows) == 0 {
			return seen{}, err
		}
		if best.HeadID == 0 || rows[0].HeadID < best.HeadID {
			best = rows[0]
		}
		found := seen{oldest: rows[0].HeadID, fits: rows[0].HeadID}
		if len(rows) > 1 {
			found.next = rows[1].HeadID
		}
		return found, nil
	})
	if id == 0 && due.head != 0 {
		inbox := k.inbox
		k.inbox = 0
		return readyInstance{inbox: inbox}, err
	}
	return readyInstance{inbox: best.ID, hidden: best.WakeAt != nil}, err
}

// readInstanceHeads makes sure that there are bounds for all fetchable instances, and
// that the framework versions are known that they have.
func (t *tx) readInstanceHeads(ctx context.Context) error {
	h := &t.ready.instances
	if !h.read {
		rows, err := t.ListInstanceHeads(ctx)
		if err != nil {
			return err
		}
		h.read, h.bounds = true, map[int64]map[int64]int64{}
		for _, row := range rows {
			h.lower(row.VersionID, row.CodeID, row.HeadID)
		}
	}
	for id := range h.bounds {
		if _, ok := t.ready.versions[id]; !ok && id != 0 {
			return t.readVersions(ctx)
		}
	}
	return nil
}

// readVersions reads the framework versions.
func (t *tx) readVersions(ctx context.Context) error {
	rows, err := t.ListFrameworkVersions(ctx)
	if err != nil {
		return err
	}
	t.ready.versions = make(map[int64]provider.Version, len(rows))
	for _, v := range rows {
		t.ready.versions[v.ID] = provider.Version{Major: uint64(v.Major), Minor: uint64(v.Minor), Patch: uint64(v.Patch)}
	}
	return nil
}

// oldestWork returns the oldest activity that the tags and codes admit and that is in no
// session, or in one that the owner has or may claim; 0 for none.
func (t *tx) oldestWork(ctx context.Context, f workFetch, known seenSet) (int64, error) {
	if err := t.readWorkHeads(ctx); err != nil {
		return 0, err
	}
	admits := func(k workKey) bool { return (f.sessions || !k.inSession) && f.tags.Matches(k.tagOf()) }
	return t.ready.activities.take(0, admits, known, func(k workKey, code int64) (seen, error) {
		if k.inSession {
			row, err := t.NextSessionWork(ctx, sqlitedb.NextSessionWorkParams{
				Tag: k.tagOf(), CodeID: code, Now: t.now, Owner: f.owner,
			})
			return seen{oldest: row.Oldest, fits: row.ID, next: row.Oldest}, err
		}
		ids, err := t.OldestPlainWork(ctx, k.tagOf(), code)
		if err != nil || len(ids) == 0 {
			return seen{}, err
		}
		found := seen{oldest: ids[0], fits: ids[0]}
		if len(ids) > 1 {
			found.next = ids[1]
		}
		return found, nil
	})
}

// readWorkHeads makes sure that there are bounds for all ready activities.
func (t *tx) readWorkHeads(ctx context.Context) error {
	h := &t.ready.activities
	if h.read {
		return nil
	}
	tags, err := tagsOf(ctx, t.Queries, provider.AnyTag())
	if err != nil {
		return err
	}
	h.bounds = map[workKey]map[int64]int64{}
	h.read = true
	for _, tag := range tags {
		rows, err := t.ListWorkHeads(ctx, tag)
		if err != nil {
			return err
		}
		for _, row := range rows {
			h.lower(newWorkKey(tag, row.InSession == 1), row.CodeID, row.ID)
		}
	}
	return nil
}

// workReady notes for the rest of the process that an activity has become ready.
func (t *tx) workReady(tag, session *string, code, id int64) {
	t.activities = append(t.activities, id)
	t.ready.activities.lower(newWorkKey(tag, session != nil), code, id)
}
