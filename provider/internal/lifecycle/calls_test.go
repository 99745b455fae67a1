package lifecycle

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/duroxide/duroxide-go/tsql/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var errRelease = errors.New("release")

// Close refuses what comes, waits for what is under way, and only then releases.
func TestCloseWaitsForCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c Calls
		before := c.Closing()
		if !c.Enter() || c.IsClosing() {
			t.Fatal("closed before Close")
		}
		proceed, released := make(chan struct{}), false
		c.Go(func() { <-proceed })
		closed := make(chan error, 1)
		go func() {
			closed <- c.Close(func() error {
				released = true
				return errRelease
			})
		}()
		<-before
		<-c.Closing()
		if c.Enter() || !c.IsClosing() {
			t.Error("open although Close has begun")
		}
		c.Leave()
		synctest.Wait()
		if released {
			t.Error("released before what a call has begun was over")
		}
		close(proceed)
		if err := <-closed; !errors.Is(err, errRelease) || !released {
			t.Errorf("error %v, released: %v; want %v and true", err, released, errRelease)
		}
	})
}

// However many close it, it is released once, after which all of them return.
func TestCloseOnce(t *testing.T) {
	t.Parallel()
	var c Calls
	var group sync.WaitGroup
	releases := 0
	for range 8 {
		group.Go(func() {
			err := c.Close(func() error {
				releases++
				return errRelease
			})
			if !errors.Is(err, errRelease) || releases != 1 {
				t.Errorf("error %v after %d releases; want %v after one", err, releases, errRelease)
			}
		})
	}
	group.Wait()
	select {
	case <-c.Closing():
	default:
		t.Error("who asks after Close is not told")
	}
}
