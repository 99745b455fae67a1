package mssql

import "strings"

// substitute begins the stored form of what a column of text cannot hold everywhere.
const substitute = "\x1a"

var (
	substitutes = strings.NewReplacer("\x00", substitute+"0", substitute, substitute+"1")
	originals   = strings.NewReplacer(substitute+"0", "\x00", substitute+"1", substitute)
)

// storedText is the form in which a text of the user's is stored: an output, a custom
// status, a value. It differs from the text only if that holds NUL, which not every
// server stores (tsql-rules §5), or the character that stands for it. Events and
// messages are JSON, which has its own way to write it. nil stays nil.
func storedText(text *string) *string {
	if text == nil || !strings.ContainsAny(*text, "\x00"+substitute) {
		return text
	}
	return new(substitutes.Replace(*text))
}

// restoredText is the text of a stored form.
func restoredText(stored string) string {
	if !strings.Contains(stored, substitute) {
		return stored
	}
	return originals.Replace(stored)
}
