package mssql

import (
	"context"
	"errors"
	"slices"
	"time"

	mssqldriver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
)

// Whether doing a call twice is the same as doing it once, see [Store.call].
const (
	once       = false
	repeatable = true
)

// How what a fetch that was cut off may hold is given back, see [Store.release].
const (
	// releaseTime is for how long it is tried, and the most that Close waits for it.
	releaseTime = 5 * time.Second
	// releasePatience is how long the fetch waits for the first try.
	releasePatience = time.Second
)

// releasePauses are the pauses between the tries.
var releasePauses = retries{first: 50 * time.Millisecond, longest: time.Second}

// A claimCall is a call that locks something under the token, or that gives up what the token holds.
type claimCall func(ctx context.Context, q *mssqldb.Queries, token mssqldriver.UniqueIdentifier) error

// claim is lockUnder for a call that only locks. What somebody's transaction keeps locked is
// nothing to fetch now: that is no error.
func (s *Store) claim(ctx context.Context, operation string, try, giveBack claimCall) error {
	return s.lockUnder(ctx, operation, func(ctx context.Context, q *mssqldb.Queries, token mssqldriver.UniqueIdentifier) error {
		if err := try(ctx, q, token); !isLockTimeout(err) {
			return err
		}
		return nil
	}, giveBack)
}

// lockUnder runs a call that locks something, each time under a new token. Such a call is
// not repeated when its outcome is unknown: it might hold one thing and lock another.
// What it may hold is given back instead, so that nothing lies locked until a lease ends
// with nobody at work on it; giveBack is nil for a call that locks nothing.
func (s *Store) lockUnder(ctx context.Context, operation string, try, giveBack claimCall) error {
	if err := s.enter(operation); err != nil {
		return err
	}
	defer s.leave()
	var tried <-chan struct{} // nil if there is nothing to give back
	err := s.retries.do(ctx, operation, once, func(ctx context.Context) error {
		token := newToken()
		err := s.try(ctx, operation, func(ctx context.Context, q *mssqldb.Queries) error { return try(ctx, q, token) })
		if giveBack != nil && mayHold(ctx, err) {
			//nolint:contextcheck // this context may be what ended the call
			tried = s.release(isOver(ctx, err), func(ctx context.Context, q *mssqldb.Queries) error { return giveBack(ctx, q, token) })
		}
		return err
	})
	if err != nil && tried != nil {
		awaitRelease(tried)
	}
	return err
}

// unclaim gives back what a call of claim has locked, since a later call of the same
// fetch has failed. The store must be in a call.
func (s *Store) unclaim(token mssqldriver.UniqueIdentifier, giveBack claimCall) {
	awaitRelease(s.release(true, func(ctx context.Context, q *mssqldb.Queries) error { return giveBack(ctx, q, token) }))
}

// awaitRelease waits for the first try of a release. Nearly always that is all, so that
// who hears of the failure can fetch the same again, or end the process.
func awaitRelease(tried <-chan struct{}) {
	select {
	case <-tried:
	case <-time.After(releasePatience):
	}
}

// mayHold reports whether a call that locks something may hold it although it failed with err.
func mayHold(ctx context.Context, err error) bool {
	if err == nil {
		return false
	}
	if _, unsent := errors.AsType[*unconnected](err); unsent {
		return false
	}
	// What the procedures refuse they refuse before they lock anything. Other errors may come from reading what the
	// call has locked, which is committed by then.
	return !isRefused(err) || ctx.Err() != nil
}

// isRefused reports whether a procedure refused a call by an error of its own.
func isRefused(err error) bool {
	if errors.Is(err, errNothingHeld) {
		return true
	}
	reported, _ := errors.AsType[mssqldriver.Error](err)
	return slices.ContainsFunc(all(reported), func(e mssqldriver.Error) bool {
		_, refused := meanings[e.Number]
		return refused
	})
}

// isOver reports whether the server is certainly at work no more on a call that failed
// with err: it has said so, and was not cut short itself.
func isOver(ctx context.Context, err error) bool {
	_, answered := errors.AsType[mssqldriver.Error](err)
	return answered && ctx.Err() == nil && judge(err).class != unknown
}

// release gives back in the background what a call that failed may hold, and returns a
// channel that is closed after the first try. The context of the call may have ended and
// its connection be broken, so each try takes a connection of its own from the pool, to
// which the call has returned its one.
//
// If the call is over, the first answer will do: what it held is given back, or nobody
// holds it. Otherwise the server may not have noticed that the connection is gone, and
// still be carrying the call out: "invalid token" then means "not yet", or else that
// nothing was locked. The two look the same, so it is tried again until releaseTime has
// passed; giving up what nobody holds does no harm. Once the store closes there is one
// more try without a pause. Only what is locked after the last try, or while no server
// can be reached, stays locked until its lease ends.
func (s *Store) release(over bool, giveBack func(context.Context, *mssqldb.Queries) error) (tried <-chan struct{}) {
	first := make(chan struct{})
	// The caller is in a call, so Close cannot have stopped waiting yet.
	s.calls.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), releaseTime)
		defer cancel()
		for n := 0; ; n++ {
			last := s.calls.IsClosing()
			err := s.try(ctx, "give_back", giveBack)
			if n == 0 {
				close(first)
			}
			if err == nil || over && isRefused(err) || last || ctx.Err() != nil {
				return
			}
			s.rest(ctx, releasePauses.backoff(n))
		}
	})
	return first
}

// rest waits for d, for the end of ctx, or for Close to begin.
func (s *Store) rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-s.calls.Closing():
	}
}

// errNothingHeld says that a call has not locked all that it was to lock, or not yet.
var errNothingHeld = errors.New("not all of it was claimed")

// giveBack gives back what a call since began may have locked. Error: errNothingHeld.
func (s *Store) giveBack(ctx context.Context, q *mssqldb.Queries, lost mssqldb.GiveBackParams, began time.Time) error {
	lost.CalledMs = time.Since(began).Milliseconds() + 1
	result, err := q.GiveBack(ctx, lost)
	if err != nil {
		return err
	}
	given, wanted := result.GivenBack, len(lost.WorkTokens)
	if lost.TurnToken != nil {
		wanted++
	}
	if given.Turns > 0 {
		s.instances.putBack()
	}
	if given.Activities > 0 {
		s.activities.putBack()
	}
	if int(given.Turns+given.Activities) < wanted {
		return errNothingHeld
	}
	return nil
}

// filterKind is the same for fetches that would find the same.
func filterKind(filter *provider.CapabilityFilter) string {
	if filter == nil {
		return ""
	}
	versions, _ := filter.Range()
	return versions.Min.String() + "-" + versions.Max.String()
}
