package mssql

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// T4: what is stored has no NUL, is the text itself if that has none, and comes back.
func TestStoredText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a01\x00\x1a]{0,8}`).Draw(t, "text")
		got := *storedText(&text)
		if strings.Contains(got, "\x00") {
			t.Fatalf("%q is stored as %q", text, got)
		}
		if !strings.ContainsAny(text, "\x00\x1a") && got != text {
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
