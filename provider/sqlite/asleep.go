package sqlite

import (
	"cmp"
	"context"
	"slices"
)

// Timers that are due together are usually those of instances that are asleep, of which all is known that
// their turns need (kept.go). While nothing else is due, their inboxes are not refreshed: the instances are
// listed in memory, and each is locked as it is. That spares every one of them its way through the index of
// what is ready. The list may be forgotten at any time, because the inboxes say that they are due.

// dueInstance is an instance that was asleep until its only message, the head, was due.
type dueInstance struct {
	instance string
	head     int64
}

// findDue makes instances fetchable of which a lease or delay has ended, and returns how many: it lists
// them if it can, and else refreshes their inboxes.
func (t *tx) findDue(ctx context.Context, f turnFetch, known seenSet) (int, error) {
	t.ready.used = true
	if _, k := t.firstDue(); k != nil {
		takes, err := t.takes(ctx, &f, known, k.versionID, k.codeID)
		if err != nil {
			return 0, err
		}
		if f.unknownFor > 0 || !takes {
			t.ready.nextInstance.lower(k.waiting[0].visibleAt)
			return t.refreshDue(ctx)
		}
	}
	if !t.ready.nextInstance.past(t.now) {
		return 0, nil
	}
	if n, listed, err := t.listDue(ctx, f, known); listed || err != nil {
		return n, err
	}
	return t.refreshDue(ctx)
}

// listDue lists what is due, and returns how many instances are new in the list. It reports false if
// anything else is due than instances that are asleep and that the fetch takes.
func (t *tx) listDue(ctx context.Context, f turnFetch, known seenSet) (n int, listed bool, err error) {
	if !t.useBounds() || f.unknownFor > 0 {
		return 0, false, nil
	}
	var due []dueInstance
	for instance, k := range t.ready.kept {
		if !k.asleep() || k.waiting[0].visibleAt > t.now {
			continue
		}
		if takes, err := t.takes(ctx, &f, known, k.versionID, k.codeID); !takes || err != nil {
			return 0, false, err
		}
		due = append(due, dueInstance{instance, k.waiting[0].id})
	}
	if len(due) == 0 {
		return 0, false, nil
	}
	stored, err := t.CountDueInboxes(ctx, &t.now)
	if err != nil || stored.Due != int64(len(due)) {
		return 0, false, err
	}
	before := t.ready.due
	for _, d := range due {
		if _, again := slices.BinarySearchFunc(before, d, olderHead); !again {
			t.instances = append(t.instances, d.instance)
			n++
		}
	}
	slices.SortFunc(due, olderHead)
	t.ready.due = due
	t.ready.nextInstance.set(stored.NextWake)
	return n, true, nil
}

// takes reports whether a fetch, whose set of code is known, takes instances of a version and code.
func (t *tx) takes(ctx context.Context, f *turnFetch, known seenSet, version, code int64) (bool, error) {
	if !known.admits(code) || version == 0 {
		return known.admits(code), nil
	}
	if _, read := t.ready.versions[version]; !read {
		if err := t.readVersions(ctx); err != nil {
			return false, err
		}
	}
	return f.versions.Contains(t.ready.versions[version]), nil
}

func olderHead(a, b dueInstance) int { return cmp.Compare(a.head, b.head) }

// firstDue returns the instance of the list that has waited longest, nil for none. Those that are not asleep
// any more are dropped from the list.
func (t *tx) firstDue() (dueInstance, *kept) {
	for due := t.ready.due; len(due) > 0; due = t.ready.due {
		if k := t.isDue(due[0]); k != nil {
			return due[0], k
		}
		t.ready.due = due[1:]
	}
	return dueInstance{}, nil
}

// isDue returns what is known of an instance of the list, nil if it is not asleep any more.
func (t *tx) isDue(d dueInstance) *kept {
	if k := t.kept(d.instance); k.asleep() && k.waiting[0].id == d.head {
		return k
	}
	return nil
}
