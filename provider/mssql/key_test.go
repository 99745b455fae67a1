package mssql

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/provider"
)

// T3: two keys never have stored forms that T-SQL takes for equal, and each comes back
// as it was.
func TestStoredKeysNeverMeet(t *testing.T) {
	t.Parallel()
	key := rapid.StringOfN(rapid.SampledFrom([]rune("aA \x1f␟␛")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := key.Draw(t, "a"), key.Draw(t, "b")
		if got := restored(stored(a)); got != a {
			t.Fatalf("%q came back as %q", a, got)
		}
		// T-SQL ignores blanks at the end.
		same := strings.TrimRight(stored(a), " ") == strings.TrimRight(stored(b), " ")
		if same != (a == b) {
			t.Fatalf("%q and %q are stored as %q and %q", a, b, stored(a), stored(b))
		}
	})
}

// T5: a key that does not fit is refused, never cut.
func TestKeysThatAreTooLong(t *testing.T) {
	t.Parallel()
	for key, fits := range map[string]bool{
		strings.Repeat("a", maxKey):          true,
		strings.Repeat("é", maxKey):          true,
		strings.Repeat("😀", maxKey/2):        true,
		strings.Repeat("a", maxKey+1):        false,
		strings.Repeat("a", maxKey-1) + " ":  false, // its stored form is longer
		strings.Repeat("😀", maxKey/2) + "a":  false,
		strings.Repeat("é", maxKey/2) + "😀 ": true,
	} {
		_, err := storedKey("operation", "key", key)
		if (err == nil) != fits || (err != nil && !errors.Is(err, provider.ErrInvalidArgument)) {
			t.Errorf("%d bytes, fits %t: %v", len(key), fits, err)
		}
	}
}

// A token is what tokenText has written, and nothing that merely means the same.
func TestTokens(t *testing.T) {
	t.Parallel()
	token := newToken()
	text := tokenText(token)
	if got, ok := parseToken(text); !ok || got != token {
		t.Errorf("%s came back as %v", text, got)
	}
	for _, other := range []string{"", "nonsense", strings.ToUpper(text), "{" + text + "}", text + " "} {
		if _, ok := parseToken(other); ok {
			t.Errorf("%q is a token", other)
		}
	}
}

// Each tag has a form of its own, and so has no tag.
func TestStoredTags(t *testing.T) {
	t.Parallel()
	if text, err := storedTag("op", nil); text != "" || err != nil || restoredTag(text) != nil {
		t.Errorf("no tag is stored as %q, %v, and restored as %v", text, err, restoredTag(text))
	}
	seen := map[string]string{"": "no tag"}
	for _, tag := range []string{"", "a", " ", "a ", guard, guard + guard, " " + guard} {
		text, err := storedTag("op", &tag)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[strings.TrimRight(text, " ")]; ok {
			t.Errorf("the tag %q is stored as %s is", tag, other)
		}
		seen[text] = tag
		if got := restoredTag(text); got == nil || *got != tag {
			t.Errorf("the tag %q is restored as %v", tag, got)
		}
	}
}
