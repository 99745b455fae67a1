package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"maps"
	"time"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// The kinds of sets of code, as known_code.kind has them.
const (
	orchestrationCode = 0
	activityCode      = 1
)

const (
	// seenEvery is how old the time may become at which a set was seen, in milliseconds.
	// A fetch in between writes nothing.
	seenEvery = 20_000
	// forgetAfter is how long a set is remembered that nobody asks for, in milliseconds.
	forgetAfter = 7 * 24 * 60 * 60 * 1000
	// namedFor is how long a fetch without a set leaves alone what another fetch has named, in milliseconds.
	namedFor = int64(provider.LiveFor / time.Millisecond)
	// maxCodes bounds the names, and maxSets the sets, whose ids are kept in memory.
	maxCodes, maxSets = 10_000, 1_000
)

// codes are ids that the store has looked up, of rows that are committed. Only the
// writer's goroutine uses them.
type codes struct {
	ids  map[provider.CodeName]int64
	sets map[codeSet]seenSet
	// versions are the ids of framework versions. There are a handful.
	versions map[provider.Version]int64
}

// codeSet identifies a set.
type codeSet struct {
	kind   int64
	digest [sha256.Size]byte
}

// seenSet is a set's row, and what the set has.
type seenSet struct {
	id, seenAt int64
	// codes are ids, nil for a fetch without a set.
	codes map[int64]struct{}
	// named is for a fetch without a set, which leaves alone what is in a set that was seen after namedSince.
	named      namedCodes
	namedSince int64
}

// admits reports whether a fetch with the set takes work of a code.
func (s seenSet) admits(code int64) bool {
	if s.codes == nil {
		seenAt, named := s.named[code]
		return !named || seenAt <= s.namedSince
	}
	_, ok := s.codes[code]
	return ok
}

// namedCodes are codes in sets of a kind, and when a set with the code was last seen.
type namedCodes map[int64]int64

// remember keeps what a committed call has looked up.
func (c *codes) remember(e effects) {
	if len(c.ids)+len(e.codes) > maxCodes {
		c.ids = nil
	}
	if len(c.sets)+len(e.sets) > maxSets {
		c.sets = nil
	}
	if c.ids == nil {
		c.ids = map[provider.CodeName]int64{}
	}
	if c.sets == nil {
		c.sets = map[codeSet]seenSet{}
	}
	maps.Copy(c.ids, e.codes)
	maps.Copy(c.sets, e.sets)
	c.versions = merged(c.versions, e.versions)
}

// seen returns the set that a fetch asks for if it was seen a moment ago: then there is nothing to write. For a fetch
// without a set it returns what others have named, if the writer remembers it.
func (t *tx) seen(s codeSelection) (set seenSet, ok bool) {
	if s.known == nil {
		named := t.ready.named[s.kind]
		return seenSet{named: named, namedSince: t.now - namedFor}, named != nil
	}
	set, ok = t.known.sets[s.set()]
	age := t.now - set.seenAt
	return set, ok && age >= 0 && age < seenEvery
}

// namedCodes returns the codes of a kind that fetches have named in namedFor. What they name later resets it.
func (t *tx) namedCodes(ctx context.Context, kind int64) (namedCodes, error) {
	if named := t.ready.named[kind]; named != nil {
		return named, nil
	}
	rows, err := t.ListNamedCodes(ctx, kind, t.now-namedFor)
	if err != nil {
		return nil, err
	}
	named := make(namedCodes, len(rows))
	for _, row := range rows {
		named[row.CodeID] = row.SeenAt
	}
	t.ready.used, t.ready.named[kind] = true, named
	return named, nil
}

// isNamed reports whether the store remembers a set with the code.
func (t *tx) isNamed(ctx context.Context, kind, code int64) (bool, error) {
	seenAt, err := t.CodeSeenAt(ctx, kind, code)
	return seenAt > 0 && seenAt > t.now-forgetAfter, err
}

// codeID is the id of the code, which is added if it is new; 0 for nil, which is any.
func (t *tx) codeID(ctx context.Context, code *provider.CodeName) (int64, error) {
	if code == nil {
		return 0, nil
	}
	if id := t.known.ids[*code]; id != 0 {
		return id, nil
	}
	if id := t.codes[*code]; id != 0 {
		return id, nil
	}
	id, err := t.GetCode(ctx, code.Name, code.Version)
	if errors.Is(err, sql.ErrNoRows) {
		id, err = t.AddCode(ctx, code.Name, code.Version)
	}
	if err != nil {
		return 0, err
	}
	if t.codes == nil {
		t.codes = map[provider.CodeName]int64{}
	}
	t.codes[*code] = id
	return id, nil
}

// versionID is the id of a framework version, which is added if it is new.
func (t *tx) versionID(ctx context.Context, v provider.Version) (int64, error) {
	if id := t.known.versions[v]; id != 0 {
		return id, nil
	}
	major, minor, patch := int64(v.Major), int64(v.Minor), int64(v.Patch)
	if err := t.AddFrameworkVersion(ctx, major, minor, patch); err != nil {
		return 0, err
	}
	id, err := t.GetFrameworkVersion(ctx, major, minor, patch)
	if err != nil {
		return 0, err
	}
	if t.versions == nil {
		t.versions = map[provider.Version]int64{}
	}
	t.versions[v] = id
	return id, nil
}

// codeSelection is what a fetch asks for by code (contract §5.20).
type codeSelection struct {
	kind  int64
	known *provider.KnownCode
	// digest and tags are those of the set; without known they have no meaning.
	digest [sha256.Size]byte
	tags   []string
	// unknownFor is in milliseconds, 0 for what is known.
	unknownFor int64
}

// unnamed is 1 for a fetch without a set, else 0.
func (s codeSelection) unnamed() int64 { return toInt(s.known == nil) }

// set identifies what is asked for.
func (s codeSelection) set() codeSet { return codeSet{kind: s.kind, digest: s.digest} }

// newTurnSelection and newWorkSelection check what a fetch asks for. Error: [provider.ErrInvalidArgument].
func newTurnSelection(known *provider.KnownCode, unknownFor time.Duration) (codeSelection, error) {
	s := codeSelection{kind: orchestrationCode, known: known}
	if known != nil {
		s.digest = known.Digest()
	}
	var err error
	s.unknownFor, err = columns.Delay(opFetchOrchestration, "UnknownFor", unknownFor)
	return s, err
}

func newWorkSelection(known *provider.KnownCode, tags provider.TagFilter, unknownFor time.Duration) (codeSelection, error) {
	s := codeSelection{kind: activityCode, known: known}
	if known != nil {
		s.digest, s.tags = columns.WorkDigest(known, tags), columns.TagMarks(tags)
	}
	var err error
	s.unknownFor, err = columns.Delay(opFetchWork, "UnknownFor", unknownFor)
	return s, err
}

// see makes the fetch's set seen, and returns it. Most fetches find that it was seen a moment ago, and write nothing.
func (t *tx) see(ctx context.Context, s codeSelection) (seenSet, error) {
	seen, ok := t.seen(s)
	if ok && s.unknownFor == 0 {
		return seen, nil
	}
	if s.known == nil {
		var err error
		seen.named, err = t.namedCodes(ctx, s.kind)
		return seen, err
	}
	t.ready.named[s.kind] = nil
	set := s.set()
	_, registered := t.known.sets[set]
	if registered {
		rows, err := t.SeeKnownCode(ctx, t.now, seen.id)
		if err != nil {
			return seenSet{}, err
		}
		// Another process forgets sets, too.
		registered = rows == 1
	}
	if !registered {
		var err error
		if seen, err = t.register(ctx, s); err != nil {
			return seenSet{}, err
		}
	}
	seen.seenAt = t.now
	t.sets = map[codeSet]seenSet{set: seen}
	return seen, nil
}

// register stores a set, and forgets old ones.
func (t *tx) register(ctx context.Context, s codeSelection) (seenSet, error) {
	if err := t.forgetSets(ctx); err != nil {
		return seenSet{}, err
	}
	id, err := t.PutKnownCode(ctx, s.kind, s.digest[:], t.now)
	if err != nil {
		return seenSet{}, err
	}
	// Code 0 is any, which every set admits.
	if err := t.AddKnownCodeName(ctx, id, 0); err != nil {
		return seenSet{}, err
	}
	seen := seenSet{id: id, codes: map[int64]struct{}{0: {}}}
	for _, mark := range s.tags {
		if err := t.AddKnownCodeTag(ctx, id, mark); err != nil {
			return seenSet{}, err
		}
	}
	for _, code := range columns.Codes(s.known) {
		codeID, err := t.codeID(ctx, &code)
		if err != nil {
			return seenSet{}, err
		}
		if err := t.AddKnownCodeName(ctx, id, codeID); err != nil {
			return seenSet{}, err
		}
		seen.codes[codeID] = struct{}{}
	}
	return seen, nil
}

// forgetSets deletes old sets.
func (t *tx) forgetSets(ctx context.Context) error {
	gone, err := t.DeleteKnownCode(ctx, t.now-forgetAfter)
	if err != nil || gone == 0 {
		return err
	}
	if err := t.DeleteKnownCodeNames(ctx); err != nil {
		return err
	}
	return t.DeleteKnownCodeTags(ctx)
}

// KnownVersions implements [provider.Store]. Error:
// [provider.ErrInvalidArgument] for a negative time.
func (s *Store) KnownVersions(ctx context.Context, name string, since time.Duration) ([]string, error) {
	const operation = "known_versions"
	ms, err := columns.Delay(operation, "since", since)
	if err != nil {
		return nil, err
	}
	code := columns.NewCode(name, "")
	if code == nil {
		return nil, nil
	}
	return readList(ctx, s, operation, func(ctx context.Context, q *sqlitedb.Queries) ([]string, error) {
		return q.ListKnownVersions(ctx, code.Name, s.now()-ms)
	})
}

// nextUnknownInstance is the instance that has waited longest of those that the fetch takes because nobody has their
// code.
func (t *tx) nextUnknownInstance(ctx context.Context, f turnFetch) (readyInstance, error) {
	since := t.now - f.unknownFor
	rows, err := unknownInstanceCodes(ctx, t.Queries, f.versions, since)
	if err != nil {
		return readyInstance{}, err
	}
	var cancel int64
	if f.cancelled {
		since = t.now
		if cancel, err = t.codeID(ctx, &provider.CodeName{Name: columns.CancelCode}); err != nil {
			return readyInstance{}, err
		}
	}
	var oldest sqlitedb.NextWaitingInstanceRow
	for _, row := range rows {
		next, err := t.NextWaitingInstance(ctx, sqlitedb.NextWaitingInstanceParams{
			VersionID: row.VersionID, CodeID: row.ID, ReadyBy: since, CancelID: cancel, Now: t.now,
		})
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return readyInstance{}, err
		}
		if oldest.HeadID == 0 || next.HeadID < oldest.HeadID {
			oldest = next
		}
	}
	return readyInstance{inbox: oldest.ID, hidden: oldest.WakeAt != nil}, nil
}

// unknownInstanceCodes lists the unknown code that instances of the framework versions
// wait for.
func unknownInstanceCodes(
	ctx context.Context, q *sqlitedb.Queries, versions provider.VersionRange, since int64,
) ([]sqlitedb.UnknownInstanceCodesRow, error) {
	return q.UnknownInstanceCodes(ctx, sqlitedb.UnknownInstanceCodesParams{
		SeenAfter: since,
		MinMajor:  columns.Clamp(versions.Min.Major),
		MinMinor:  columns.Clamp(versions.Min.Minor),
		MinPatch:  columns.Clamp(versions.Min.Patch),
		MaxMajor:  columns.Clamp(versions.Max.Major),
		MaxMinor:  columns.Clamp(versions.Max.Minor),
		MaxPatch:  columns.Clamp(versions.Max.Patch),
	})
}

// nextUnknownWork is the oldest activity of unknown code that has been ready since a
// time, 0 for none.
func (t *tx) nextUnknownWork(ctx context.Context, since int64) (int64, error) {
	tags, err := tagsOf(ctx, t.Queries, provider.AnyTag())
	if err != nil {
		return 0, err
	}
	var oldest int64
	for _, tag := range tags {
		rows, err := t.UnknownWorkCodes(ctx, since, "", tag)
		if err != nil {
			return 0, err
		}
		for _, row := range rows {
			id, err := t.NextWaitingWork(ctx, tag, row.ID, &since)
			if err != nil {
				return 0, err
			}
			oldest = earlier(oldest, id)
		}
	}
	return oldest, nil
}
