package store

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
)

// Range is a part of an index. The bounds are what value.AppendKey makes of some or all of its columns. An inclusive
// bound admits all keys that begin with it; an open one leaves all of them out.
type Range struct {
	Low, High         string
	HasLow, HasHigh   bool
	LowOpen, HighOpen bool
}

// Read says which version of a row is read.
type Read uint8

// What is read.
const (
	Locked    Read = iota // the newest, once its lock is granted
	Snapshot              // what was committed when the statement began (the transaction, under SNAPSHOT), without locks
	Committed             // what was committed when the statement began, under SNAPSHOT too, without locks
	Dirty                 // the newest, without locks
)

// Keep says how long the locks of a row that qualifies are held.
type Keep uint8

// How long.
const (
	KeepRow         Keep = iota // until the cursor moves on
	KeepStatement               // until the statement ends
	KeepTransaction             // until the transaction ends
)

func (k Keep) duration() lock.Duration { return lock.Row + lock.Duration(k) }

// Grain says what is locked.
type Grain uint8

// What is locked. GrainPage locks rows unless [Engine.Pages] is set.
const (
	GrainRow Grain = iota
	GrainPage
	GrainTable
)

// Access says how a cursor reads and locks. The zero Access reads under S locks that are given back row by row.
type Access struct {
	Read Read
	// Mode is S (or zero), U or X. With Read Snapshot, U and X lock the rows that qualify, and a row that somebody has
	// changed since the snapshot is error 3960 under SNAPSHOT isolation.
	Mode     lock.Mode
	Keep     Keep
	Range    bool // lock the gaps between keys too, to the end of the transaction
	ReadPast bool // leave out rows whose lock is not free
	NoWait   bool // error 1222 instead of waiting
	Grain    Grain
	Lookup   bool // lock the clustered row too, since columns are read that the index does not have
	// Own reads what this very statement has changed, as checks of foreign keys must. Without it a statement sees each
	// table as it was before its own changes.
	Own bool
	// Conflicts makes a row that somebody has changed in the index since the transaction's snapshot error 3960,
	// although the newest version is read: so do checks of foreign keys under SNAPSHOT isolation.
	Conflicts bool
	// Qualify finds rows without locks, among those that were committed when the statement began: Cursor.Qualify locks
	// them afterwards. It goes with Read Snapshot and Mode X.
	Qualify bool
	// Filter is asked about the index's columns, before the row is looked up. Nil admits all. Values has the whole row,
	// but only the index's columns may be looked at.
	Filter func(values []Value) (bool, error)
}

// behind returns the least string that is greater than all that begin with the prefix; false if there is none.
func behind(prefix string) (string, bool) {
	for n := len(prefix); n > 0; n-- {
		if prefix[n-1] != 0xff {
			b := []byte(prefix[:n])
			b[n-1]++
			return string(b), true
		}
	}
	return "", false
}

// aboveLow and belowHigh say whether a key is within the bounds.
func (r *Range) aboveLow(key string) bool {
	switch {
	case !r.HasLow:
		return true
	case r.LowOpen:
		return key > r.Low && !strings.HasPrefix(key, r.Low)
	default:
		return key >= r.Low
	}
}

func (r *Range) belowHigh(key string) bool {
	return !r.HasHigh || key < r.High || !r.HighOpen && strings.HasPrefix(key, r.High)
}

// one reports whether the range is of keys that begin with one prefix.
func (r *Range) one() bool {
	return r.HasLow && r.HasHigh && !r.LowOpen && !r.HighOpen && r.Low == r.High
}

// resource is what stands for a key of the index.
func (ix *Index) resource(key string) lock.Resource {
	t := ix.Table
	r := lock.Resource{Kind: lock.Key, Database: t.Database, Object: t.ID, Index: ix.ID, Key: key}
	if ix.Heap {
		r.Kind = lock.RID
	}
	return r
}

// end is what stands for the gap behind the last key.
func (ix *Index) end() lock.Resource {
	r := ix.resource("")
	r.Kind = lock.End
	return r
}

// rowMode is the mode of a lock on a key: with the gap before it if ranges is true.
func rowMode(m lock.Mode, ranges bool) lock.Mode {
	switch {
	case !ranges:
		return m
	case m == lock.S:
		return lock.RangeSS
	case m == lock.U:
		return lock.RangeSU
	default:
		return lock.RangeXX
	}
}
