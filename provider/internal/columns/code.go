package columns

import (
	"strings"
	"unicode/utf16"

	"github.com/duroxide/duroxide-go/provider"
)

// placeholderVersion stands for no version in histories of early releases.
const placeholderVersion = "0.0.0"

// NewCode is the code by which work of that name and version is selected (§5.20), nil
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
