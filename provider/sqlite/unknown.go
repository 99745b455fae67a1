package sqlite

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// UnknownCode implements [provider.Store]. Work that has become due since the last fetch is not included.
//
// Error: [provider.ErrInvalidArgument] for a negative time.
func (s *Store) UnknownCode(ctx context.Context, unknownFor time.Duration) ([]provider.UnknownCode, error) {
	const operation = "unknown_code"
	ms, err := columns.Delay(operation, "unknownFor", unknownFor)
	if err != nil {
		return nil, err
	}
	var list []provider.UnknownCode
	err = s.readSnapshot(ctx, operation, func(ctx context.Context, q *sqlitedb.Queries) (err error) {
		list, err = unknownCode(ctx, q, s.now(), ms)
		return err
	})
	return list, err
}

// WaitingForCode implements [provider.Store]. Work that has become due since the last fetch is not included.
//
// Error: [provider.ErrInvalidArgument] for a negative time.
func (s *Store) WaitingForCode(ctx context.Context, instance string, unknownFor time.Duration) ([]provider.WaitingInstance, error) {
	const operation = "waiting_for_code"
	ms, err := columns.Delay(operation, "unknownFor", unknownFor)
	if err != nil {
		return nil, err
	}
	var list []provider.WaitingInstance
	err = s.readSnapshot(ctx, operation, func(ctx context.Context, q *sqlitedb.Queries) error {
		now := s.now()
		groups, err := unknownGroups(ctx, q, now-ms)
		if err != nil {
			return err
		}
		list, err = waitingInstances(ctx, q, groups, instance, now)
		return err
	})
	return list, err
}

// unknownGroup is ready work of one unknown code, of one framework version or tag.
type unknownGroup struct {
	provider.UnknownCode
	code    int64
	version int64
}

// unknownGroups lists the code that fetchable work waits for, and that no set seen since a time has, with the tag if
// there is one.
func unknownGroups(ctx context.Context, q *sqlitedb.Queries, since int64) ([]unknownGroup, error) {
	rows, err := unknownInstanceCodes(ctx, q, anyVersion, since)
	if err != nil {
		return nil, err
	}
	var groups []unknownGroup
	for _, row := range rows {
		g := unknownGroup{code: row.ID, version: row.VersionID}
		g.Name, g.Version = row.Name, row.Version
		groups = append(groups, g)
	}
	tags, err := tagsOf(ctx, q, provider.AnyTag())
	if err != nil {
		return nil, err
	}
	for _, tag := range tags {
		rows, err := q.UnknownWorkCodes(ctx, since, columns.TagMark(tag), tag)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			g := unknownGroup{code: row.ID}
			g.Name, g.Activity, g.Tag = row.Name, true, tag
			groups = append(groups, g)
		}
	}
	for i := range groups {
		if err := groups[i].see(ctx, q, since); err != nil {
			return nil, err
		}
	}
	return groups, nil
}

// see finds out when a set last had the code, whatever its tags.
func (g *unknownGroup) see(ctx context.Context, q *sqlitedb.Queries, since int64) error {
	kind := int64(orchestrationCode)
	if g.Activity {
		kind = activityCode
	}
	at, err := q.CodeSeenAt(ctx, kind, g.code)
	if err != nil || at == 0 {
		return err
	}
	g.LastKnown, g.OtherTags = columns.FromMillis(at), at > since
	return nil
}

// unknownCode lists what no set of so many milliseconds has, and counts what waits for it.
func unknownCode(ctx context.Context, q *sqlitedb.Queries, now, unknownFor int64) ([]provider.UnknownCode, error) {
	groups, err := unknownGroups(ctx, q, now-unknownFor)
	if err != nil {
		return nil, err
	}
	var list []provider.UnknownCode
	for _, g := range groups {
		waiting, since, err := g.count(ctx, q, now)
		if err != nil {
			return nil, err
		}
		if waiting == 0 {
			continue
		}
		g.Waiting, g.Since = uint64(waiting), columns.FromMillis(since)
		// What waits in another framework version is next to it.
		if same := len(list) - 1; same >= 0 && !g.Activity && list[same].CodeName == g.CodeName {
			list[same].Waiting += g.Waiting
			list[same].Since = earliest(list[same].Since, g.Since)
			continue
		}
		list = append(list, g.UnknownCode)
	}
	columns.SortUnknown(list)
	return list, nil
}

// count counts the work of the group, and says since when the oldest is ready.
func (g *unknownGroup) count(ctx context.Context, q *sqlitedb.Queries, now int64) (waiting, since int64, err error) {
	if g.Activity {
		n, err := q.CountWaitingWork(ctx, g.Tag, g.code, now)
		return n.Waiting, n.Since, err
	}
	n, err := q.CountWaitingInstances(ctx, g.version, g.code, now)
	return n.Waiting, n.Since, err
}

// waitingInstances lists whose work the groups are.
func waitingInstances(
	ctx context.Context, q *sqlitedb.Queries, groups []unknownGroup, instance string, now int64,
) ([]provider.WaitingInstance, error) {
	var list []provider.WaitingInstance
	add := func(g unknownGroup, id string, waiting, since int64) {
		g.Waiting, g.Since = uint64(waiting), columns.FromMillis(since)
		list = append(list, provider.WaitingInstance{InstanceID: id, UnknownCode: g.UnknownCode})
	}
	for _, g := range groups {
		if g.Activity {
			rows, err := q.ListWaitingWork(ctx, sqlitedb.ListWaitingWorkParams{Tag: g.Tag, CodeID: g.code, ReadyBy: now, InstanceID: instance})
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
				add(g, row.InstanceID, row.Waiting, row.Since)
			}
			continue
		}
		rows, err := q.ListWaitingInstances(ctx, sqlitedb.ListWaitingInstancesParams{
			VersionID: g.version, CodeID: g.code, ReadyBy: now, InstanceID: instance,
		})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			add(g, row.InstanceID, 1, row.Since)
		}
	}
	columns.SortWaiting(list)
	return list, nil
}

// earliest is the earlier of two times.
func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
