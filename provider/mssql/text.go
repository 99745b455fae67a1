package mssql

import "strings"

// escape begins the stored form of a control character, and spelled is what the escape
// itself is followed by.
const (
	escape  = '\u241b' // ␛
	spelled = '\u2420' // ␠
	// picture is the first of Unicode's pictures of the control characters: ␀ for NUL.
	picture = '\u2400'
)

// needsEscape reports whether a character is stored in another form: NUL, at which many
// tools end a text, and the other control characters, which nobody can read in an id or a
// status. Tabs and line ends are no trouble.
func needsEscape(r rune) bool {
	return r == escape || (r < ' ' && r != '\t' && r != '\n' && r != '\r')
}

// storedString is the form in which a text of the user's is stored: an id, a value, a
// custom status. It differs from the text only if that holds control characters, which
// become "␛" and their picture, so that people can read them. Events and messages are
// JSON, which has its own way to write them.
func storedString(text string) string {
	if !strings.ContainsFunc(text, needsEscape) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == escape:
			b.WriteRune(escape)
			b.WriteRune(spelled)
		case needsEscape(r):
			b.WriteRune(escape)
			b.WriteRune(picture + r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// storedText is storedString for a text that may be missing.
func storedText(text *string) *string {
	if text == nil {
		return nil
	}
	return new(storedString(*text))
}

// restoredText is the text of a stored form.
func restoredText(stored string) string {
	if !strings.ContainsRune(stored, escape) {
		return stored
	}
	var b strings.Builder
	escaped := false
	for _, r := range stored {
		switch {
		case escaped && r == spelled:
			b.WriteRune(escape)
		case escaped:
			b.WriteRune(r - picture)
		case r != escape:
			b.WriteRune(r)
		}
		escaped = !escaped && r == escape
	}
	return b.String()
}
