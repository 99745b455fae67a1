package provider

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FrameworkVersion is the version of the Duroxide core whose semantics this module implements. An execution records the
// version of the runtime that started it. A worker does not run executions that a newer core started, see
// SupportedVersions in worker.Options.
const FrameworkVersion = "0.1.32"

// Version is a semantic version without pre-release and build metadata, which
// capability filters ignore.
type Version struct {
	Major, Minor, Patch uint64
}

// ParseVersion reads "major.minor.patch". Pre-release and build metadata are
// accepted and dropped.
func ParseVersion(text string) (Version, error) {
	core := text
	if i := strings.IndexAny(core, "-+"); i >= 0 {
		core = core[:i]
	}
	parts := strings.Split(core, ".")
	if len(parts) != 3 {
		return Version{}, fmt.Errorf("version %q is not major.minor.patch: %w", text, ErrInvalidArgument)
	}
	var numbers [3]uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 63)
		if err != nil || (len(part) > 1 && part[0] == '0') {
			return Version{}, fmt.Errorf("version %q is not major.minor.patch: %w", text, ErrInvalidArgument)
		}
		numbers[i] = n
	}
	return Version{Major: numbers[0], Minor: numbers[1], Patch: numbers[2]}, nil
}

// String returns "major.minor.patch".
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// Compare orders versions by major, minor, patch.
func (v Version) Compare(other Version) int {
	return cmp.Or(
		cmp.Compare(v.Major, other.Major),
		cmp.Compare(v.Minor, other.Minor),
		cmp.Compare(v.Patch, other.Patch),
	)
}

// VersionRange is an inclusive range of versions.
type VersionRange struct {
	Min, Max Version
}

// Contains reports whether v lies in the range, both ends included.
func (r VersionRange) Contains(v Version) bool {
	return r.Min.Compare(v) <= 0 && v.Compare(r.Max) <= 0
}

// CapabilityFilter selects executions by the framework version that they are bound to. A nil filter takes all
// executions, a filter without ranges none.
type CapabilityFilter struct {
	// SupportedVersions are ranges of framework versions. At present only the first one counts.
	SupportedVersions []VersionRange
}

// Range returns the range that counts. ok is false if the filter takes nothing.
func (f *CapabilityFilter) Range() (r VersionRange, ok bool) {
	if len(f.SupportedVersions) == 0 {
		return VersionRange{}, false
	}
	return f.SupportedVersions[0], true
}

// Allows reports whether an execution bound to v may be fetched. nil is an execution without a version, which every
// filter with ranges takes.
func (f *CapabilityFilter) Allows(v *Version) bool {
	if f == nil {
		return true
	}
	r, ok := f.Range()
	return ok && (v == nil || r.Contains(*v))
}

// TagMode says how a TagFilter treats tags.
type TagMode int

// The modes of a TagFilter.
const (
	// TagDefaultOnly takes untagged activities; it is the zero value.
	TagDefaultOnly TagMode = iota
	// TagSet takes activities whose tag is in the set.
	TagSet
	// TagDefaultAndSet takes untagged activities and those whose tag is in the set.
	TagDefaultAndSet
	// TagAny takes every activity.
	TagAny
	// TagNone takes nothing, for processes that run only orchestrations.
	TagNone
)

// MaxFilterTags is the largest number of tags in a filter.
const MaxFilterTags = 5

// TagFilter selects activities by their routing tag. Tags are compared byte for
// byte. The zero value takes untagged activities.
type TagFilter struct {
	mode TagMode
	tags []string
}

// Tags returns a filter for activities with one of 1 to [MaxFilterTags] tags.
// Error: [ErrInvalidArgument].
func Tags(tags ...string) (TagFilter, error) { return newTagFilter(TagSet, tags) }

// DefaultAndTags returns a filter for untagged activities and those with one of
// 1 to [MaxFilterTags] tags. Error: [ErrInvalidArgument].
func DefaultAndTags(tags ...string) (TagFilter, error) { return newTagFilter(TagDefaultAndSet, tags) }

// AnyTag returns a filter for every activity.
func AnyTag() TagFilter { return TagFilter{mode: TagAny} }

// NoActivities returns a filter for no activity at all.
func NoActivities() TagFilter { return TagFilter{mode: TagNone} }

func newTagFilter(mode TagMode, tags []string) (TagFilter, error) {
	set := slices.Clone(tags)
	slices.Sort(set)
	set = slices.Compact(set)
	if len(set) == 0 || len(set) > MaxFilterTags {
		return TagFilter{}, fmt.Errorf("a tag filter takes 1 to %d tags, got %d: %w",
			MaxFilterTags, len(set), ErrInvalidArgument)
	}
	return TagFilter{mode: mode, tags: set}, nil
}

// Mode returns the filter's mode.
func (f TagFilter) Mode() TagMode { return f.mode }

// Tags returns the filter's set, sorted and without duplicates.
func (f TagFilter) Tags() []string { return slices.Clone(f.tags) }

// Matches reports whether the filter takes an activity with that tag; nil is an activity without a tag.
func (f TagFilter) Matches(tag *string) bool {
	switch f.mode {
	case TagAny:
		return true
	case TagNone:
		return false
	case TagDefaultOnly:
		return tag == nil
	case TagSet:
		return tag != nil && slices.Contains(f.tags, *tag)
	case TagDefaultAndSet:
		return tag == nil || slices.Contains(f.tags, *tag)
	}
	return false
}
