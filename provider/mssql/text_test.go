package mssql

import (
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// T4: what is stored has no control character but tabs and line ends, is the text
// itself if that has none, and comes back.
func TestStoredText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("a\x00\x01\t\n\x1b\x1f␀␛␠␟")), 0, 8, -1).Draw(t, "text")
		got := *storedText(&text)
		changed := false
		for _, r := range got {
			if unicode.IsControl(r) && r != '\t' && r != '\n' {
				t.Fatalf("%q is stored as %q", text, got)
			}
		}
		for _, r := range text {
			changed = changed || needsEscape(r)
		}
		if changed != (got != text) {
			t.Fatalf("%q is stored as %q", text, got)
		}
		if back := restoredText(got); back != text {
			t.Fatalf("%q came back as %q", text, back)
		}
	})
	if storedText(nil) != nil {
		t.Error("no text became one")
	}
}
