package tsqltest_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// TestWallet runs two procedures beside each other in every order with at most two interruptions.
func TestWallet(t *testing.T) {
	t.Parallel()
	tsqltest.Explore(t, tsqltest.Scenario{
		Setup: func(t testing.TB, s *tsqltest.Server) {
			t.Helper()
			s.Apply(t, os.DirFS("testdata/wallets"), "*.sql")
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
	}, tsqltest.Exploration{Preemptions: 2, Plans: 5, RowLocks: true})
}
