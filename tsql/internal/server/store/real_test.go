package store_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// parkSignal tells when a session goes to wait.
type parkSignal struct {
	*schedule.Real

	parks chan schedule.ID
}

func (p *parkSignal) Park(
	ctx context.Context, id schedule.ID, at schedule.Point, timeout time.Duration,
) schedule.Outcome {
	p.parks <- id
	return p.Real.Park(ctx, id, at, timeout)
}

// With the real scheduler: a reader waits for a writer's goroutine, and a cancelled one stops waiting.
func TestWaitsOfGoroutines(t *testing.T) {
	t.Parallel()
	s := &parkSignal{schedule.NewReal(), make(chan schedule.ID, 10)}
	l := newLabOn(t, s, nil, row(1, 1, 10))
	ctx, cancel := context.WithCancel(t.Context())

	s.Enter(1)
	writer := l.e.Session(1)
	writer.Begin(store.ReadCommitted)
	st := writer.Statement(t.Context(), store.StatementOptions{})
	c := st.Scan(l.pk, one(1), false, store.Access{Mode: lock.U})
	if ok, err := c.Next(); err != nil || !ok {
		t.Fatal(err)
	}
	if err := st.Update(l.table, c.Row(), row(1, 1, 11)); err != nil {
		t.Fatal(err)
	}
	st.End(nil)
	s.Leave(1)

	read := func(ctx context.Context, id schedule.ID) (int64, error) {
		s.Enter(id)
		defer s.Leave(id)
		reader := l.e.Session(id)
		defer reader.Close()
		reader.Begin(store.ReadCommitted)
		st := reader.Statement(ctx, store.StatementOptions{})
		defer st.End(nil)
		c := st.Scan(l.pk, one(1), false, st.Access())
		if ok, err := c.Next(); err != nil || !ok {
			return 0, err
		}
		return c.Values()[v].Int(), nil
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if n, err := read(t.Context(), 2); n != 11 || err != nil {
			t.Errorf("read %d, %v", n, err)
		}
	})
	<-s.parks
	cancelled := make(chan error)
	go func() {
		_, err := read(ctx, 3)
		cancelled <- err
	}()
	<-s.parks
	cancel()
	if err := <-cancelled; !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
	s.Enter(1)
	writer.Commit()
	s.Leave(1)
	wg.Wait()
	l.clean()
}

// Goroutines move amounts between accounts. Nothing is lost, whoever deadlocks with whom.
func TestTransfersOfGoroutines(t *testing.T) {
	t.Parallel()
	const accounts, sessions, transfers = 6, 6, 150
	for name, iso := range map[string]store.Isolation{
		"repeatable read": store.RepeatableRead, "serializable": store.Serializable, "snapshot": store.SnapshotIsolation,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := schedule.NewReal()
			l := newLabOn(t, s, nil)
			for n := range int64(accounts) {
				l.fill(row(n, 0, 1000))
			}
			var failed atomic.Int64
			var wg sync.WaitGroup
			for n := range sessions {
				wg.Go(func() {
					id := schedule.ID(n + 1)
					s.Enter(id)
					defer s.Leave(id)
					session := l.e.Session(id)
					defer session.Close()
					for i := range transfers {
						from, to := int64((i+n)%accounts), int64((i*7+n*3+1)%accounts)
						for from != to && !l.transfer(t, s, id, session, iso, from, to) {
							failed.Add(1)
							s.Yield(id, schedule.Point{Kind: "statement"})
						}
					}
				})
			}
			wg.Wait()
			var sum int64
			s.Enter(99)
			defer s.Leave(99)
			a := &actor{lab: l, id: 99, s: l.e.Session(99)}
			a.begin(store.ReadCommitted)
			a.statement("sum", func(st *store.Statement) error {
				c := st.Scan(l.pk, all(), false, st.Access())
				for {
					ok, err := c.Next()
					if err != nil || !ok {
						return err
					}
					sum += c.Values()[v].Int()
				}
			})
			a.commit()
			if sum != accounts*1000 {
				t.Errorf("the accounts have %d", sum)
			}
			t.Logf("%d transfers failed", failed.Load())
			l.clean()
		})
	}
}

// transfer reads both accounts, and then writes both. False means that it was a victim.
func (l *lab) transfer(
	t *testing.T, r schedule.Scheduler, me schedule.ID, s *store.Session, iso store.Isolation, from, to int64,
) bool {
	t.Helper()
	s.Begin(iso)
	err := func() (err error) {
		var rows [2]*store.Row
		var values [2][]store.Value
		for i, key := range []int64{from, to} {
			st := s.Statement(t.Context(), store.StatementOptions{Isolation: iso})
			c := st.Scan(l.pk, one(key), false, st.Access())
			ok, err := c.Next()
			if err == nil && !ok {
				t.Errorf("account %d is not there", key)
			}
			if err == nil {
				c.Keep()
				rows[i], values[i] = c.Row(), c.Values()
			}
			c.Close()
			st.End(err)
			if err != nil {
				return err
			}
			r.Outside(me, func() {}) // lets the others in
		}
		for i, n := range []int64{-1, 1} {
			st := s.Statement(t.Context(), store.StatementOptions{Isolation: iso})
			err := st.Update(l.table, rows[i], with(values[i], v, values[i][v].Int()+n))
			st.End(err)
			if err != nil {
				return err
			}
		}
		return nil
	}()
	if err == nil {
		s.Commit()
		return true
	}
	var e *fault.Error
	if !errors.As(err, &e) || e.Number != 1205 && e.Number != 3960 {
		t.Errorf("transfer: %v", err)
	}
	s.Rollback()
	return false
}
