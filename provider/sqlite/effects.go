package sqlite

import (
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// effects are what the rest of the process learns when a call is committed.
type effects struct {
	// instances and activities have become fetchable, and due as many activities more
	// that are not listed.
	instances  []string
	activities []int64
	due        int
	// instancesTaken and activitiesTaken were locked.
	instancesTaken  []string
	activitiesTaken []int64
	// instanceWake and activityWake are the earliest times at which something
	// will, 0 for unknown.
	instanceWake, activityWake int64
	// codes, sets and versions have been looked up or added.
	codes    map[provider.CodeName]int64
	sets     map[codeSet]seenSet
	versions map[provider.Version]int64
	// changed are the instances whose turn was committed, or that were deleted.
	changed []string
	// ended are those of them that have ended or were deleted, and outcomes what is told of them.
	ended    []string
	outcomes map[string]any
	// reports are written to the log.
	reports []func()
}

// add joins the effects of two calls.
func (e *effects) add(other effects) {
	e.instances = append(e.instances, other.instances...)
	e.activities = append(e.activities, other.activities...)
	e.due += other.due
	e.instancesTaken = append(e.instancesTaken, other.instancesTaken...)
	e.activitiesTaken = append(e.activitiesTaken, other.activitiesTaken...)
	e.instanceWake = earlier(e.instanceWake, other.instanceWake)
	e.activityWake = earlier(e.activityWake, other.activityWake)
	if other.codes != nil || other.sets != nil {
		e.codes, e.sets = merged(e.codes, other.codes), merged(e.sets, other.sets)
	}
	if other.versions != nil {
		e.versions = merged(e.versions, other.versions)
	}
	e.changed = append(e.changed, other.changed...)
	e.ended = append(e.ended, other.ended...)
	e.reports = append(e.reports, other.reports...)
}

// fetchable counts what the calls have made fetchable and not locked in the same transaction.
func (e *effects) fetchable() (instances, activities int) {
	return untaken(e.instances, e.instancesTaken), untaken(e.activities, e.activitiesTaken) + e.due
}

// foundAny reports whether the calls have locked anything that they had not made themselves.
func (e *effects) foundAny() bool {
	return untaken(e.instancesTaken, e.instances)+untaken(e.activitiesTaken, e.activities) > 0
}

// untaken counts what was made and not taken. A call locks only what was there before, and
// nobody else gives back what was locked in the same transaction.
func untaken[T comparable](made, taken []T) (n int) {
	for _, m := range made {
		if !slices.Contains(taken, m) {
			n++
		}
	}
	return n
}

// merged joins two maps, of which the first may be changed.
func merged[K comparable, V any](a, b map[K]V) map[K]V {
	if len(a) == 0 {
		return b
	}
	maps.Copy(a, b)
	return a
}

// earlier returns the smaller of two times of which 0 is unknown.
func earlier(a, b int64) int64 {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}
