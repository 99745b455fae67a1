package columns

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/duroxide/duroxide-go/provider"
)

// placeholderVersion stands for no version in histories of early releases.
const placeholderVersion = "0.0.0"

// CancelCode is the name that stands for the code of a request to cancel, by which a fetch finds it.
const CancelCode = "duroxide:cancel"

// NewCode is the code by which work of that name and version is selected (contract §5.20), nil
// for work that any worker may take.
func NewCode(name, version string) *provider.CodeName {
	if version == placeholderVersion || version == provider.UnknownVersion {
		version = ""
	}
	name, version = Text(name), Text(version)
	if !selectable(name) || !selectable(version) {
		return nil
	}
	return &provider.CodeName{Name: name, Version: version}
}

// newStartCode is NewCode for what starts an execution, whose version may be missing.
func newStartCode(name string, version *string) *provider.CodeName {
	if version == nil {
		return NewCode(name, "")
	}
	return NewCode(name, *version)
}

// selectable reports whether a store can look for a text.
func selectable(text string) bool {
	// A text has at most as many UTF-16 units as bytes.
	return !strings.ContainsRune(text, 0) &&
		(len(text) <= provider.MaxCodeNameLength || len(utf16.Encode([]rune(text))) <= provider.MaxCodeNameLength)
}

// Codes are those names of a set that work can be selected by.
func Codes(known *provider.KnownCode) []provider.CodeName {
	names := known.Names()
	list := make([]provider.CodeName, 0, len(names))
	for _, n := range names {
		if code := NewCode(n.Name, n.Version); code != nil {
			list = append(list, *code)
		}
	}
	return list
}

// The marks of a set of activities: what tags its fetches take.
const (
	anyTag   = "*"
	untagged = "-"
)

// TagMark is the mark of a set that takes the tag, nil for none.
func TagMark(tag *string) string {
	if tag == nil {
		return untagged
	}
	return "+" + *tag
}

// TagMarks are the marks of a set whose fetches take these tags.
func TagMarks(filter provider.TagFilter) []string {
	var marks []string
	if filter.Mode() == provider.TagAny {
		marks = append(marks, anyTag)
	} else if filter.Matches(nil) {
		marks = append(marks, untagged)
	}
	for _, tag := range Tags(filter) {
		marks = append(marks, TagMark(&tag))
	}
	return marks
}

// WorkDigest identifies a set of activities together with the tags that its fetches take.
func WorkDigest(known *provider.KnownCode, filter provider.TagFilter) [sha256.Size]byte {
	digest := known.Digest()
	if filter.Mode() == provider.TagDefaultOnly {
		return digest
	}
	return sha256.Sum256(append(digest[:], strings.Join(TagMarks(filter), "\x00")...))
}

// SortUnknown sorts a list as [provider.Store] wants it.
func SortUnknown(list []provider.UnknownCode) { slices.SortFunc(list, compareUnknown) }

func compareUnknown(a, b provider.UnknownCode) int {
	return cmp.Or(cmp.Compare(kindOf(a), kindOf(b)), a.Compare(b.CodeName), cmp.Compare(TagMark(a.Tag), TagMark(b.Tag)))
}

func kindOf(c provider.UnknownCode) int {
	if c.Activity {
		return 1
	}
	return 0
}

// SortWaiting sorts a list as [provider.Store] wants it.
func SortWaiting(list []provider.WaitingInstance) {
	slices.SortFunc(list, func(a, b provider.WaitingInstance) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.InstanceID, b.InstanceID), compareUnknown(a.UnknownCode, b.UnknownCode))
	})
}
