package execute

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// Level is what a table hint says about isolation.
type Level uint8

// The levels. HOLDLOCK is AsSerializable and NOLOCK is AsReadUncommitted.
const (
	AsSession Level = iota
	AsReadUncommitted
	AsReadCommitted
	AsReadCommittedLock
	AsRepeatableRead
	AsSerializable
	AsSnapshot
)

// Hints are the table hints of one reference to a table.
type Hints struct {
	Level                        Level
	ReadPast, NoWait             bool
	Update, Exclusive            bool // UPDLOCK, XLOCK
	RowLock, PageLock, TableLock bool
	TableExclusive               bool // TABLOCKX
	// Index is the name or the number of the index to use; SeekColumns are those that FORCESEEK names.
	Index                string
	ForceSeek, ForceScan bool
	SeekColumns          string // parted by commas
}

// access says how a reference to a table reads and locks, by its hints and the session's isolation level. Write says
// that the rows are going to be changed, and qualify that they may be locked after they have been found.
func (h *Hints) access(r *Run, st *store.Statement, write, qualify bool) (store.Access, error) {
	a := st.Access()
	if err := h.check(r); err != nil {
		return a, err
	}
	h.level(r, &a)
	a.ReadPast, a.NoWait = h.ReadPast, h.NoWait
	switch {
	case h.PageLock:
		a.Grain = store.GrainPage
	case h.TableLock || h.TableExclusive:
		a.Grain = store.GrainTable
	}
	// Under SNAPSHOT a row is searched as the snapshot has it, and what others have changed since is a conflict; row
	// versions of READ COMMITTED are not for rows that are locked.
	read := store.Locked
	if a.Read == store.Snapshot && h.Level == AsSession && r.Frame.Session.Isolation() == store.SnapshotIsolation {
		read = store.Snapshot
	}
	if write {
		a.Read, a.Mode = read, lock.U
		a.Keep = max(a.Keep, store.KeepStatement)
	}
	switch {
	case h.Exclusive || h.TableExclusive:
		a.Read, a.Mode, a.Keep = read, lock.X, store.KeepTransaction
	case h.Update:
		a.Read, a.Mode, a.Keep = read, lock.U, store.KeepTransaction
	case h.TableLock && (a.Read == store.Snapshot || a.Read == store.Committed):
		// A table lock is taken whatever else the level says.
		a.Read, a.Keep = store.Locked, max(a.Keep, store.KeepStatement)
	case h.TableLock:
		a.Keep = max(a.Keep, store.KeepStatement)
	}
	if write && qualify && h.free() && st.Qualifies() {
		a.Read, a.Mode, a.Keep, a.Qualify = store.Snapshot, lock.X, store.KeepRow, true
	}
	return a, nil
}

// free reports whether no hint says how to lock, but for the grain.
func (h *Hints) free() bool {
	return h.Level == AsSession && !h.ReadPast && !h.NoWait && !h.Update && !h.Exclusive && !h.TableLock && !h.TableExclusive
}

// level applies the hint about isolation.
func (h *Hints) level(r *Run, a *store.Access) {
	switch h.Level {
	case AsReadUncommitted:
		a.Read, a.Keep, a.Range = store.Dirty, store.KeepRow, false
	case AsReadCommitted:
		a.Read, a.Keep, a.Range = store.Locked, store.KeepRow, false
		if r.Frame.Session.Database().ReadCommittedSnapshot {
			a.Read = store.Committed
		}
	case AsReadCommittedLock:
		a.Read, a.Keep, a.Range = store.Locked, store.KeepRow, false
	case AsRepeatableRead:
		a.Read, a.Keep, a.Range = store.Locked, store.KeepTransaction, false
	case AsSerializable:
		a.Read, a.Keep, a.Range = store.Locked, store.KeepTransaction, true
	case AsSession, AsSnapshot:
	}
}

// check refuses READPAST where it could leave out rows that the isolation level promises.
func (h *Hints) check(r *Run) error {
	if !h.ReadPast {
		return nil
	}
	switch h.Level {
	case AsReadCommitted, AsReadCommittedLock, AsRepeatableRead:
		return nil
	case AsSession:
		switch r.Frame.Session.Isolation() {
		case store.ReadCommitted, store.RepeatableRead:
			return nil
		case store.SnapshotIsolation:
			if h.Update || h.Exclusive {
				return nil // there are locks that could be passed
			}
		case store.ReadUncommitted, store.Serializable:
		}
	case AsReadUncommitted, AsSerializable, AsSnapshot:
	}
	return fault.New(650)
}
