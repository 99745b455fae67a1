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

// fitsCode reports whether a stored form fits its column, which has room for a name of the greatest length and its guard.
func fitsCode(text string) bool {
	return len(text) <= maxKey || len(utf16.Encode([]rune(text))) <= maxKey+1
}

// A codeSelection is what a fetch asks for by code, as the procedures take it.
type codeSelection struct {
	known *provider.KnownCode
	// activity tells activities from orchestrations.
	activity bool
	// digest names the set, nil for none.
	digest []byte
	// unknownMs is positive for a fetch of what nobody knows.
	unknownMs int64
	// fetches is the same for fetches of turns that would find the same; empty for others.
	fetches string
}

// newCodeSelection checks what a fetch asks for. Error: [provider.ErrInvalidArgument] for a
// negative UnknownFor.
func newCodeSelection(operation string, known *provider.KnownCode, activity bool, unknownFor time.Duration) (s codeSelection, err error) {
	s.known, s.activity = known, activity
	if known != nil {
		digest := known.Digest()
		s.digest = digest[:]
	}
	s.unknownMs, err = columns.Delay(operation, "UnknownFor", unknownFor)
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

// register makes the names of the set known.
func (s codeSelection) register(ctx context.Context, q *mssqldb.Queries) error {
	return q.RegisterKnownCode(ctx, mssqldb.RegisterKnownCodeParams{
		Digest: s.digest, Activity: s.activity, Codes: codeRows(s.known),
	})
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

// UnknownCode implements [provider.CodeSelector]. It reads all ready activities:
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
		list[i] = provider.UnknownCode{
			CodeName: provider.CodeName{Name: restored(row.Name), Version: restored(row.Version)},
			Activity: row.Activity, Waiting: uint64(row.Waiting), Since: columns.FromMillis(row.ReadyAt),
		}
	}
	// The server compares UTF-16 units, which is another order beyond U+FFFF.
	slices.SortFunc(list, func(a, b provider.UnknownCode) int {
		if a.Activity != b.Activity {
			if b.Activity {
				return -1
			}
			return 1
		}
		return a.Compare(b.CodeName)
	})
	return list, nil
}

// KnownVersions implements [provider.CodeSelector].
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
