package sqlite

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// quietLooks is how many looks in a row must find that no other process has written
	// before the file counts as quiet.
	quietLooks = 10
	// restedLook is how long a quiet file is left alone of which the system tells the next write.
	restedLook = time.Second
	// latestCommit is how long after a write its commit is looked for.
	latestCommit = time.Minute
)

// others looks for what other processes have written. SQLite counts their commits, and is
// asked at an interval. Each look wakes a goroutine, which is nearly all that an idle process
// does. So when the file is quiet, and the system can tell of the next write to its log, looks
// become rare until it does. That notice comes before the disk has what was written, and only
// then is it a commit: the file is not quiet again before one is seen, of another process or of
// this one since the system was asked.
//
// Only the goroutine of [watch] uses it.
type others struct {
	store *Store
	// log is the path of the write-ahead log, "" for none.
	log string
	// interval is that between looks, and rest that while the system will tell. Without a
	// positive interval there is nobody to look for.
	interval, rest time.Duration
	looked         time.Time
	quiet          int
	// told is when the system told of a write of which no commit of another was seen yet.
	told time.Time
	// notices is nil until they are needed, and when there are none, as unable says.
	notices *writeNotices
	unable  bool
	// resting is also read by tests.
	resting atomic.Bool
}

func newOthers(s *Store, config Config) *others {
	return &others{store: s, log: config.log, interval: config.PollInterval, rest: config.rest}
}

// written is told when somebody has written to a file that was at rest.
func (o *others) written() <-chan struct{} {
	if o.notices == nil {
		return nil
	}
	return o.notices.written
}

// notice takes note that somebody has.
func (o *others) notice() {
	o.stir()
	o.told = time.Now()
}

// stir begins to look at the interval again.
func (o *others) stir() {
	o.quiet, o.told = 0, time.Time{}
	o.resting.Store(false)
}

// lookIfDue looks when it is time to, and returns how long it is until the next look.
func (o *others) lookIfDue(ctx context.Context) (nap time.Duration) {
	if left := o.pause() - time.Since(o.looked); left > 0 {
		return left
	}
	if o.look(ctx) {
		o.stir()
	} else if o.quiet++; o.isQuiet() && !o.resting.Load() && o.rests() && o.look(ctx) {
		o.stir() // it was written before the system took note that it has to tell
	}
	return o.pause()
}

func (o *others) isQuiet() bool {
	return o.quiet >= quietLooks && (o.told.IsZero() || o.store.writer.committed.Load() || time.Since(o.told) > latestCommit)
}

func (o *others) pause() time.Duration {
	if o.resting.Load() {
		return max(o.interval, o.rest)
	}
	return o.interval
}

// look wakes everybody if another process has written: what it wrote, and for
// how many, is not known. There are as many waiting fetches as the worker has slots,
// and they run as one transaction, which changes nothing and so costs no flush.
func (o *others) look(ctx context.Context) bool {
	o.looked = time.Now()
	changed, err := o.store.writer.changedElsewhere(ctx)
	// On trouble too: the fetches will meet it and report it.
	if changed || err != nil {
		o.store.instances.SignalAll()
		o.store.activities.SignalAll()
		return true
	}
	return false
}

// rests asks the system to tell of the next write, and reports whether it will.
func (o *others) rests() bool {
	if o.notices == nil && !o.unable {
		var err error
		o.notices, err = newWriteNotices(o.log)
		o.unable = err != nil
	}
	if o.unable {
		return false
	}
	o.store.writer.committed.Store(false)
	if err := o.notices.next(); err != nil {
		o.close()
		o.notices, o.unable = nil, true
		return false
	}
	o.resting.Store(true)
	return true
}

func (o *others) close() {
	if o.notices != nil {
		o.notices.close()
	}
}
