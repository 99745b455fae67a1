package provider

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"
)

// CodeName names code that work needs: an orchestration in one version, or an activity, which has no version.
type CodeName struct {
	Name string
	// Version is the orchestration's version. Empty is a start without a version, which every worker with the name
	// can run.
	Version string
}

// KnownCode is the set of orchestrations, or of activities, that a worker can run. A fetch with a KnownCode
// takes no other work. Other work is not locked, its attempts are not counted, and the order of the remaining work
// does not change.
//
// A KnownCode never changes. nil knows everything. Make it with [Know].
type KnownCode struct {
	names  []CodeName
	digest [sha256.Size]byte
}

// MaxCodeNameLength is the greatest length of a name, and of a version, by which work is selected, in UTF-16 units.
// Work with a longer name or version is offered to every worker.
const MaxCodeNameLength = 400

// LiveFor is how long after a fetch the code that the fetch named counts as code of a live worker. A worker that
// runs names its code more often, also while all its slots are taken.
const LiveFor = 75 * time.Second

// Know returns the set of these names. The set also contains each name without a version.
func Know(names ...CodeName) *KnownCode {
	k := &KnownCode{names: slices.Clone(names)}
	for _, n := range names {
		k.names = append(k.names, CodeName{Name: n.Name})
	}
	slices.SortFunc(k.names, CodeName.Compare)
	k.names = slices.Compact(k.names)
	var text []byte
	for _, n := range k.names {
		for _, part := range []string{n.Name, n.Version} {
			text = append(binary.AppendUvarint(text, uint64(len(part))), part...)
		}
	}
	k.digest = sha256.Sum256(text)
	return k
}

// Compare orders by name, then by version, byte for byte.
func (n CodeName) Compare(other CodeName) int {
	return cmp.Or(cmp.Compare(n.Name, other.Name), cmp.Compare(n.Version, other.Version))
}

// Names returns the sorted set, which contains each name also without a version.
func (k *KnownCode) Names() []CodeName { return slices.Clone(k.names) }

// Digest returns a hash that is equal exactly for equal sets.
func (k *KnownCode) Digest() [sha256.Size]byte { return k.digest }

// Knows reports whether the set has the name in exactly that version.
func (k *KnownCode) Knows(name CodeName) bool {
	if k == nil {
		return true
	}
	_, found := slices.BinarySearchFunc(k.names, name, CodeName.Compare)
	return found
}

// UnknownCode is code that work waits for and that no live worker can run.
type UnknownCode struct {
	CodeName
	// Activity is true for an activity, and false for an orchestration.
	Activity bool
	// Tag is the tag of the activities; nil for those without one, and for an orchestration.
	Tag *string
	// Waiting is the number of instances or activities that wait for the code.
	Waiting uint64
	// Since is when the oldest of them became ready.
	Since time.Time
	// LastKnown is when a fetch last named the code, whatever tags the fetch took; zero if the store remembers none.
	LastKnown time.Time
	// OtherTags means that live workers have the activity, but none of them takes activities with the tag.
	OtherTags bool
}

// WaitingInstance is an instance that waits for unknown code. Waiting counts its own turn or activities, and Since is
// about these.
type WaitingInstance struct {
	InstanceID string
	UnknownCode
}

// String names the code and says who lacks it, such as: version 1.0.0 of Order, which no worker has had since
// 2026-01-31 12:04 UTC.
func (c UnknownCode) String() string {
	what := "orchestration " + c.Name
	switch {
	case c.Activity && c.Tag != nil:
		what = fmt.Sprintf("activity %s with the tag %q", c.Name, *c.Tag)
	case c.Activity && c.OtherTags:
		what = fmt.Sprintf("activity %s without a tag", c.Name)
	case c.Activity:
		what = "activity " + c.Name
	case c.Version != "":
		what = fmt.Sprintf("version %s of %s", c.Version, c.Name)
	}
	switch {
	case c.OtherTags:
		return what + ", which no worker takes, because the workers that have it take other tags"
	case c.LastKnown.IsZero():
		return what + ", which no worker has"
	}
	return fmt.Sprintf("%s, which no worker has had since %s", what, c.LastKnown.UTC().Format("2006-01-02 15:04 MST"))
}
