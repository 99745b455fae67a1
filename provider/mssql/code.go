package mssql

import (
	"context"
	"errors"
	"slices"
	"time"
	"unicode/utf16"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// storedCode is the stored form of what work is selected by, nil for any worker's. So it is for a name or version whose
// stored form is too long, which only one with many control characters has: no work can be selected by it.
func storedCode(code *provider.CodeName) (name, version *string) {
	if code == nil {
		return nil, nil
	}
	name, version = new(stored(code.Name)), new(stored(code.Version))
	if !fitsCode(*name) || !fitsCode(*version) {
		return nil, nil
	}
	return name, version
}

// fitsCode reports whether a stored form fits its column, which has room for a name of the greatest length and its
// guard.
func fitsCode(text string) bool {
	return len(text) <= maxKey || len(utf16.Encode([]rune(text))) <= maxKey+1
}

// A codeSelection is what a fetch asks for by code, as the procedures take it.
type codeSelection struct {
	known *provider.KnownCode
	// activity tells activities from orchestrations.
	activity bool
	// tags are those of a set of activities.
	tags provider.TagFilter
	// digest names the set, nil for none.
	digest []byte
	// unknownMs is positive for a fetch of what nobody knows.
	unknownMs int64
	// fetches is the same for fetches of turns that would find the same; empty for others.
	fetches string
}

// newTurnSelection and newWorkSelection check what a fetch asks for. Error: [provider.ErrInvalidArgument] for a
// negative UnknownFor.
func newTurnSelection(known *provider.KnownCode, unknownFor time.Duration) (s codeSelection, err error) {
	s.known = known
	if known != nil {
		digest := known.Digest()
		s.digest = digest[:]
	}
	s.unknownMs, err = columns.Delay(opFetchOrchestration, "UnknownFor", unknownFor)
	return s, err
}

func newWorkSelection(known *provider.KnownCode, tags provider.TagFilter, unknownFor time.Duration) (s codeSelection, err error) {
	s.known, s.activity, s.tags = known, true, tags
	if known != nil {
		digest := columns.WorkDigest(known, tags)
		s.digest = digest[:]
	}
	s.unknownMs, err = columns.Delay(opFetchWork, "UnknownFor", unknownFor)
	return s, err
}

// kind is the same for fetches that would find the same, see [filterKind].
func (s codeSelection) kind() string { return string(s.digest) }

// fetch runs a fetch, which names its set by the digest only. The database learns the
// names when it does not have the set, which is once in the life of the set as a rule:
// then the fetch is run again.
func (s codeSelection) fetch(ctx context.Context, q *mssqldb.Queries, fetch func() error) error {
	err := fetch()
	if !errors.Is(err, mssqldb.ErrUnregisteredCode) {
		return err
	}
	if err := s.register(ctx, q); err != nil {
		return err
	}
	return fetch()
}

// register makes the names and tags of the set known.
func (s codeSelection) register(ctx context.Context, q *mssqldb.Queries) error {
	params := mssqldb.RegisterKnownCodeParams{Digest: s.digest, Activity: s.activity, Codes: codeRows(s.known)}
	if s.activity {
		params.AnyTag = s.tags.Mode() == provider.TagAny
		for i, tag := range storedTags(s.tags) {
			params.Tags = append(params.Tags, mssqldb.IDListV1Row{Position: int32(i), ID: tag})
		}
	}
	return q.RegisterKnownCode(ctx, params)
}

// storedTags are the stored forms of the tags that a filter takes, with that of no tag. A tag that is too long for the
// column, or that cannot be stored at all, is on no activity, so it is left out. There is none for any tag.
func storedTags(filter provider.TagFilter) (tags []string) {
	if filter.Mode() != provider.TagAny && filter.Matches(nil) {
		tags = append(tags, "")
	}
	for _, tag := range columns.Tags(filter) {
		if text, err := storedTag(opFetchWork, &tag); err == nil {
			tags = append(tags, text)
		}
	}
	return tags
}

// codeRows makes a table argument of a set.
func codeRows(known *provider.KnownCode) []mssqldb.CodeListV1Row {
	codes := columns.Codes(known)
	rows := make([]mssqldb.CodeListV1Row, 0, len(codes))
	for _, code := range codes {
		if name, version := storedCode(&code); name != nil {
			rows = append(rows, mssqldb.CodeListV1Row{Position: int32(len(rows)), Name: *name, Version: *version})
		}
	}
	return rows
}

// UnknownCode implements [provider.Store]. It reads all ready activities:
// call it every minute rather than every second.
//
// Error: [provider.ErrInvalidArgument] for a negative duration.
func (s *Store) UnknownCode(ctx context.Context, unknownFor time.Duration) ([]provider.UnknownCode, error) {
	const operation = "list_unknown_code"
	ms, err := columns.Delay(operation, "unknownFor", unknownFor)
	if err != nil {
		return nil, err
	}
	result, err := read(ctx, s, operation, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ListUnknownCodeResult, error) {
		return q.ListUnknownCode(ctx, mssqldb.ListUnknownCodeParams{UnknownMs: ms})
	})
	if err != nil {
		return nil, err
	}
	list := make([]provider.UnknownCode, len(result.Codes))
	for i, row := range result.Codes {
		list[i] = newUnknownCode(row)
	}
	columns.SortUnknown(list)
	return list, nil
}

func newUnknownCode(row mssqldb.ListUnknownCodeCodesRow) provider.UnknownCode {
	code := provider.UnknownCode{
		CodeName: provider.CodeName{Name: restored(row.Name), Version: restored(row.Version)}, Activity: row.Activity,
		Tag: restoredTag(row.Tag), Waiting: uint64(row.Waiting), Since: columns.FromMillis(row.ReadyAt), OtherTags: row.OtherTags,
	}
	if row.SeenAt != nil {
		code.LastKnown = columns.FromMillis(*row.SeenAt)
	}
	return code
}

// WaitingForCode implements [provider.Store]. It reads all ready activities.
//
// Error: [provider.ErrInvalidArgument] for a negative duration.
func (s *Store) WaitingForCode(ctx context.Context, instance string, unknownFor time.Duration) ([]provider.WaitingInstance, error) {
	const operation = "list_waiting_for_code"
	params := mssqldb.ListUnknownCodeParams{Instances: true}
	var err error
	if params.UnknownMs, err = columns.Delay(operation, "unknownFor", unknownFor); err != nil {
		return nil, err
	}
	if instance != "" {
		id, ok := lookupID(instance)
		if !ok {
			return nil, nil
		}
		params.InstanceID = &id
	}
	result, err := read(ctx, s, operation, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ListUnknownCodeResult, error) {
		return q.ListUnknownCode(ctx, params)
	})
	if err != nil {
		return nil, err
	}
	list := make([]provider.WaitingInstance, len(result.Codes))
	for i, row := range result.Codes {
		list[i] = provider.WaitingInstance{InstanceID: restored(*row.InstanceID), UnknownCode: newUnknownCode(row)}
	}
	columns.SortWaiting(list)
	return list, nil
}

// KnownVersions implements [provider.Store].
//
// Error: [provider.ErrInvalidArgument] for a negative duration.
func (s *Store) KnownVersions(ctx context.Context, name string, since time.Duration) ([]string, error) {
	const operation = "list_known_versions"
	ms, err := columns.Delay(operation, "since", since)
	if err != nil {
		return nil, err
	}
	text, _ := storedCode(columns.NewCode(name, ""))
	if text == nil {
		return nil, nil
	}
	result, err := read(ctx, s, operation, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ListKnownVersionsResult, error) {
		return q.ListKnownVersions(ctx, mssqldb.ListKnownVersionsParams{Name: *text, SinceMs: ms})
	})
	if err != nil {
		return nil, err
	}
	versions := make([]string, len(result.Versions))
	for i, row := range result.Versions {
		versions[i] = restored(row.Version)
	}
	slices.Sort(versions)
	return versions, nil
}
