package tsqltest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// The example of explore.md is TestWallet, and the failure that it shows is the one without UPDLOCK.
func TestManualOfTesting(t *testing.T) {
	t.Parallel()
	page, source, script := file(t, "explore.md"), file(t, "example_explore_test.go"), file(t, "testdata/wallets/wallets.sql")
	for _, block := range []string{"```go\n" + source + "```\n", "```sql\n" + script + "```\n"} {
		if !strings.Contains(page, block) {
			t.Errorf("the page lacks:\n%s", block)
		}
	}
	r := tsqltest.Search(t, tsqltest.Scenario{
		Setup: func(t testing.TB, s *tsqltest.Server) {
			t.Helper()
			if err := s.ApplyText(t.Context(), "wallets.sql", strings.ReplaceAll(script, " WITH (UPDLOCK)", "")); err != nil {
				t.Fatal(err)
			}
		},
		Sessions: []tsqltest.Session{
			{Name: "ada", Steps: []string{"EXEC dbo.withdraw @owner = 'ada', @coins = 30"}},
			{Name: "bob", Steps: []string{"EXEC dbo.deposit @owner = 'ada', @coins = 5"}},
		},
		Check: func(e *tsqltest.End) error {
			if coins := e.Value("SELECT coins FROM dbo.wallets WHERE owner = 'ada'"); coins != int64(75) {
				return fmt.Errorf("there are %v coins, want 75", coins)
			}
			return nil
		},
	}, tsqltest.Exploration{})
	if r.Failure == nil {
		t.Fatal("nothing was found")
	}
	if want := "```text\n" + r.Failure.String() + "\n```\n"; !strings.Contains(page, want) {
		t.Errorf("the page lacks:\n%s", want)
	}
}

// file reads a file.
func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}
