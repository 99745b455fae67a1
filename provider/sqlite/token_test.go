package sqlite

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// A token opens what it names and nothing else, however it is cut or joined.
func TestTokensOpenOnlyWhatTheyName(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	for _, instance := range []string{"a", "b"} {
		must(t, s.EnqueueForOrchestrator(t.Context(), start(instance), 0))
		must(t, s.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{Instance: instance, ExecutionID: 1, ID: 2}))
	}
	turn, other := fetch(t, s), fetch(t, s)
	taken, err := s.Claim(t.Context(), everything())
	must(t, err)
	work := taken.Work[0]
	for _, token := range []string{
		"", "-", "no token", "-a", turn.Item.Instance, turn.LockToken + "x", turn.LockToken[:secretLength], turn.LockToken[:secretLength] + "-",
		turn.LockToken[:secretLength] + other.LockToken[secretLength:], turn.LockToken[1:], strings.ToLower(turn.LockToken),
		work.LockToken,
	} {
		if err := s.RenewOrchestrationItemLock(t.Context(), token, time.Hour); !errors.Is(err, provider.ErrInvalidLockToken) {
			t.Errorf("renewing a turn by %q: %v", token, err)
		}
	}
	for _, token := range []string{
		"", "-", "no token", "-1", work.LockToken + "0", work.LockToken + "x", work.LockToken[:secretLength], work.LockToken[:secretLength] + "-",
		work.LockToken[:secretLength] + taken.Work[1].LockToken[secretLength:], work.LockToken[1:], turn.LockToken,
	} {
		if err := s.RenewWorkItemLock(t.Context(), token, time.Hour); !errors.Is(err, provider.ErrInvalidLockToken) {
			t.Errorf("renewing an activity by %q: %v", token, err)
		}
	}
	must(t, s.RenewOrchestrationItemLock(t.Context(), turn.LockToken, time.Hour))
	must(t, s.RenewWorkItemLock(t.Context(), work.LockToken, time.Hour))
}
