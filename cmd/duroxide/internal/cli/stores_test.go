package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// A path is taken as it is, whatever a URL would make of it, and one with a ? is refused with the reason: what follows
// the ? is options.
func TestPathsOfSQLiteStores(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a#b.db", "a%20b.db", "a%b.db", "a&b=c.db", "a b.db"} {
		path := filepath.Join(t.TempDir(), name)
		store, err := KnownStores(nil).Open(t.Context(), "sqlite:"+path, true)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"a?b.db", "a?b.db?synchronous=full", "a?b=c.db", "a?%.db"} {
		path := filepath.Join(t.TempDir(), name)
		_, err := KnownStores(nil).Open(t.Context(), "sqlite:"+path, true)
		if !errors.Is(err, provider.ErrInvalidArgument) || !strings.Contains(err.Error(), "name a file with a ? in its path through a link") {
			t.Errorf("%s: error %v", name, err)
		}
		if found, _ := filepath.Glob(filepath.Dir(path) + "/*"); len(found) > 0 {
			t.Errorf("%s: made %v", name, found)
		}
	}
}
