package store

import "github.com/duroxide/duroxide-go/tsql/internal/server/lock"

// Scroll holds the locks on the row that a cursor of T-SQL is on. They belong to the cursor: the end of a transaction
// leaves them alone.
type Scroll struct {
	engine *Engine
	owner  lock.Owner
}

// Scroll returns an owner of scroll locks.
func (s *Session) Scroll() *Scroll {
	return &Scroll{engine: s.engine, owner: lock.Owner{Client: s.client, Kind: lock.ByCursor}}
}

// Hold locks a row that the statement has just read under the same lock, so that it does not wait.
func (c *Scroll) Hold(st *Statement, t *Table, key string, mode lock.Mode) error {
	if t.Private {
		return nil
	}
	intent := lock.IX
	if mode == lock.S {
		intent = lock.IS
	}
	object := lock.Resource{Kind: lock.Object, Database: t.Database, Object: t.ID}
	if err := c.take(st, object, intent); err != nil {
		return err
	}
	return c.take(st, t.base().resource(key), mode)
}

func (c *Scroll) take(st *Statement, r lock.Resource, mode lock.Mode) error {
	request := lock.Request{Resource: r, Mode: mode, Duration: lock.Session, Timeout: st.session.LockTimeout}
	_, _, err := c.engine.locks.Acquire(st.ctx, &c.owner, &request)
	return err
}

// Release lets go of all that is held.
func (c *Scroll) Release() {
	if c.owner.Count() > 0 {
		c.engine.locks.ReleaseAll(&c.owner)
		c.engine.retry()
	}
}

// BaseKey is the key of a version of a row in the clustered index or the heap.
func (t *Table) BaseKey(row *Row, values []Value) string { return t.base().baseKey(row, values) }
