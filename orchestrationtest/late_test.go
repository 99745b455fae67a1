package orchestrationtest_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/orchestrationtest"
)

// leaveGoroutines runs an orchestration that leaves a goroutine behind, one in each replay. They
// use the context when they are told to.
func leaveGoroutines(t testing.TB) (use func()) {
	t.Helper()
	release := make(chan struct{})
	var left sync.WaitGroup
	leaves := orchestration.New("Leaves", func(ctx *orchestration.Context, _ string) (string, error) {
		left.Go(func() {
			<-release
			ctx.SetCustomStatus("late")
		})
		return "", nil
	})
	if _, err := orchestrationtest.Run(orchestrationtest.New(t), leaves, ""); err != nil {
		t.Error(err)
	}
	return func() {
		close(release)
		left.Wait()
	}
}

// TestContextUsedByAGoroutineLater: a goroutine that a function leaves behind, and that uses the
// context, fails the test with the line.
func TestContextUsedByAGoroutineLater(t *testing.T) {
	t.Parallel()
	messages := judge(t, func(t testing.TB) {
		t.Helper()
		leaveGoroutines(t)()
	})
	if want := "was used from another goroutine after its turn at orchestrationtest/late_test.go:21"; !strings.Contains(messages, want) {
		t.Errorf("%s\nwant %s", messages, want)
	}
}

// TestContextUsedAfterTheTest: such a goroutine does not take the other tests down when its own
// has ended.
func TestContextUsedAfterTheTest(t *testing.T) { //nolint:tparallel // it goes on when its subtest has ended
	t.Parallel()
	var use func()
	t.Run("leaves goroutines behind", func(t *testing.T) { use = leaveGoroutines(t) })
	use()
}
