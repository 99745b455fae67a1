package mssql

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sqlserver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
)

// A claiming is a claim on a server that exists only as answers.
type claiming struct {
	// tried is called by the try; nil for a store that cannot connect.
	tried func(context.Context) error
	// given answers each giving back, in their order; the last answer stays.
	given []error

	mu sync.Mutex
	// claimed is the last token of a try, and at when each giving back of it came.
	claimed sqlserver.UniqueIdentifier
	at      []time.Duration
}

// run claims once, on a pool of one connection.
func (c *claiming) run(t *testing.T, ctx context.Context, s *Store) error {
	t.Helper()
	s.db.SetMaxOpenConns(1)
	begun := time.Now()
	return s.claim(ctx, "op", func(ctx context.Context, _ *mssqldb.Queries, token sqlserver.UniqueIdentifier) error {
		c.mu.Lock()
		c.claimed = token
		c.mu.Unlock()
		return c.tried(ctx)
	}, func(_ context.Context, _ *mssqldb.Queries, token sqlserver.UniqueIdentifier) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if token != c.claimed {
			t.Error("what is given back is not what was claimed last")
		}
		c.at = append(c.at, time.Since(begun))
		return c.given[min(len(c.at), len(c.given))-1]
	})
}

// gives is when each giving back came.
func (c *claiming) gives() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.at)
}

// A claim that has failed gives back what it may hold, and only that.
func TestClaimGivesBackWhatItMayHold(t *testing.T) {
	t.Parallel()
	ended := errors.New("the connection ended")
	for name, c := range map[string]struct {
		try   error
		gives int
	}{
		"success":                         {nil, 0},
		"a connection that breaks":        {ended, 1},
		"an answer that cannot be read":   {mssqldb.ErrShape, 1},
		"a session that was ended":        {reported(596), 1},
		"a deadlock":                      {reported(1205), 1},
		"a long wait":                     {reported(1222), 0},
		"a procedure that says no":        {reported(50010), 0},
		"the end of the context":          {context.Canceled, 1},
		"the end of it, with an error on": {errors.Join(context.Canceled, reported(3621)), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{}
			s := on(t, f, Options{MaxRetries: None})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			claim := &claiming{given: []error{nil}, tried: func(context.Context) error {
				f.broken.Store(errors.Is(c.try, ended))
				if errors.Is(c.try, context.Canceled) {
					cancel()
				}
				return c.try
			}}
			err := claim.run(t, ctx, s)
			if want := c.try != nil && !isLockTimeout(c.try); (err != nil) != want {
				t.Errorf("error %v", err)
			}
			f.broken.Store(false)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if len(claim.gives()) != c.gives {
				t.Errorf("gave back %d times; want %d", len(claim.gives()), c.gives)
			}
		})
	}
}

// What a call has locked is committed before it is read: a server that fails to read it has locked it, and is at work
// on the call no more.
func TestGivingBackAfterAnAnswerIsTriedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := on(t, &fake{}, Options{MaxRetries: None})
		claim := &claiming{given: []error{reported(50010)}, tried: func(context.Context) error { return reported(1205) }}
		if err := claim.run(t, t.Context(), s); !errors.Is(err, ErrBusy) {
			t.Errorf("error %v; want %v", err, ErrBusy)
		}
		time.Sleep(releaseTime)
		if err := s.Close(); err != nil || len(claim.gives()) != 1 {
			t.Errorf("gave back %d times, %v; want once", len(claim.gives()), err)
		}
	})
}

// A try that gets no answer to its question, such as a deadlock's victim, is not the last one.
func TestGivingBackIsAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := on(t, &fake{}, Options{MaxRetries: None})
		claim := &claiming{given: []error{reported(1205), nil}, tried: func(context.Context) error { return reported(1205) }}
		if err := claim.run(t, t.Context(), s); !errors.Is(err, ErrBusy) {
			t.Errorf("error %v; want %v", err, ErrBusy)
		}
		time.Sleep(releaseTime)
		if err := s.Close(); err != nil || len(claim.gives()) != 2 {
			t.Errorf("gave back %d times, %v; want twice", len(claim.gives()), err)
		}
	})
}

// What was never sent holds nothing.
func TestClaimWithoutAConnectionGivesNothingBack(t *testing.T) {
	t.Parallel()
	s := on(t, &fake{refuse: errTest}, Options{MaxRetries: None})
	claim := &claiming{given: []error{nil}}
	if err := claim.run(t, t.Context(), s); !errors.Is(err, ErrUnreachable) {
		t.Errorf("error %v; want %v", err, ErrUnreachable)
	}
	if err := s.Close(); err != nil || len(claim.gives()) > 0 {
		t.Errorf("gave back %d times, %v", len(claim.gives()), err)
	}
}

// cut is a claim whose connection breaks, on a store of its own within the bubble.
func cut(t *testing.T, given ...error) (*claiming, *Store) {
	t.Helper()
	f := &fake{}
	s := on(t, f, Options{MaxRetries: None})
	claim := &claiming{given: given}
	claim.tried = func(context.Context) error {
		f.broken.Store(true)
		return errTest
	}
	if err := claim.run(t, t.Context(), s); !errors.Is(err, ErrUnreachable) {
		t.Errorf("error %v; want %v", err, ErrUnreachable)
	}
	f.broken.Store(false)
	return claim, s
}

// The server may still be carrying out what was cut off: that it knows no such token is then true only for now. The
// fetch does not wait for what comes after the first try.
func TestGivingBackIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		claim, s := cut(t, reported(50010), errTest, reported(50010), nil)
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("the fetch waited for %v", waited)
		}
		time.Sleep(2 * releaseTime)
		if at := claim.gives(); len(at) != 4 || at[3] > second {
			t.Errorf("tried after %v; want four tries within a second", at)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Nothing may have been locked: the tries end.
func TestGivingBackEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		claim, s := cut(t, reported(50010))
		time.Sleep(releaseTime)
		synctest.Wait()
		tries := len(claim.gives())
		if tries < 5 || tries > 15 {
			t.Errorf("%d tries", tries)
		}
		time.Sleep(releaseTime)
		if err := s.Close(); err != nil || len(claim.gives()) != tries {
			t.Errorf("%d tries after the time, %v", len(claim.gives())-tries, err)
		}
	})
}

// Close waits for a last try and for no pause.
func TestCloseGivesBackOnceMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		claim, s := cut(t, reported(50010))
		synctest.Wait() // in the first pause
		begun := time.Now()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if waited := time.Since(begun); waited != 0 || len(claim.gives()) != 2 {
			t.Errorf("Close waited for %v; tried %d times, want 2", waited, len(claim.gives()))
		}
	})
}

// A server that no longer answers holds up neither the fetch nor Close for long.
func TestGivingBackToASilentServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := on(t, f, Options{MaxRetries: None})
		begun := time.Now()
		err := s.claim(t.Context(), "op",
			func(context.Context, *mssqldb.Queries, sqlserver.UniqueIdentifier) error { return errTest },
			func(ctx context.Context, _ *mssqldb.Queries, _ sqlserver.UniqueIdentifier) error {
				<-ctx.Done()
				return ctx.Err()
			})
		if waited := time.Since(begun); err == nil || waited != releasePatience {
			t.Errorf("the fetch waited for %v, %v; want %v", waited, err, releasePatience)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if waited := time.Since(begun); waited != releaseTime {
			t.Errorf("Close ended after %v; want %v", waited, releaseTime)
		}
	})
}
