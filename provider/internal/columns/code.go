package columns

import (
	"unicode/utf16"

	"github.com/duroxide/duroxide-go/provider"
)

// placeholderVersion stands for no version in histories of early releases, as
// [provider.UnknownVersion] does in items without one.
const placeholderVersion = "0.0.0"

// Code is the code by which work is selected ([provider.KnownCode]). It is nil when the
// name or the version is too long for that, and every worker may take the work.
func Code(name, version string) *provider.CodeName {
	if version == placeholderVersion || version == provider.UnknownVersion {
		version = ""
	}
	code := provider.CodeName{Name: Text(name), Version: Text(version)}
	if tooLong(code.Name) || tooLong(code.Version) {
		return nil
	}
	return &code
}

// tooLong reports whether a name or version is longer than [provider.MaxCodeNameLength].
func tooLong(text string) bool {
	if len(text) <= provider.MaxCodeNameLength {
		return false
	}
	units := 0
	for _, r := range text {
		units += utf16.RuneLen(r)
	}
	return units > provider.MaxCodeNameLength
}

// codeOfStart is Code for an item that asks for a version or for none.
func codeOfStart(name string, version *string) *provider.CodeName {
	if version == nil {
		return Code(name, "")
	}
	return Code(name, *version)
}

// KnownNames are those names of the set by which work is selected, each as [Code] makes
// it.
func KnownNames(known *provider.KnownCode) []provider.CodeName {
	var list []provider.CodeName
	seen := map[provider.CodeName]bool{}
	for _, name := range known.Names() {
		code := Code(name.Name, name.Version)
		if code != nil && !seen[*code] {
			seen[*code] = true
			list = append(list, *code)
		}
	}
	return list
}
