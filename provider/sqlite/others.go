package sqlite

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// soonestLook is how soon the next look follows one that was of use to somebody: because of it an
	// instance's end was told, or a fetch has found something. Each look that finds no write doubles the time,
	// and each that finds a write of no use makes it a quarter longer, up to the interval. So what another process
	// writes is noticed after about twice the time that has passed since it has last written for us, and who waits
	// beside a process that writes for itself is not kept busy by that.
	soonestLook = time.Millisecond
	// endsShare is how many times as long as the store takes to find out who has ended the next look waits for
	// at least, however many are awaited.
	endsShare = 4
	// quietLooks is how many looks in a row, at the interval, must find that no other process has
	// written before the file counts as quiet.
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
	// pace is the time to the next look: least at least, and interval at most.
	least, pace time.Duration
	looked      time.Time
	// woke says that fetches were woken of which none has found anything yet.
	woke  bool
	quiet int
	// told is when the system told of a write of which no commit of another was seen yet.
	told time.Time
	// notices is nil until they are needed, and when there are none, as unable says.
	notices *writeNotices
	unable  bool
	// resting is also read by tests.
	resting atomic.Bool
}

func newOthers(s *Store, settings Options) *others {
	return &others{store: s, log: settings.log, interval: settings.PollInterval, rest: settings.rest, pace: settings.PollInterval}
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
	o.stir(soonestLook)
	o.told = time.Now()
}

// stir begins to look again, at a pace.
func (o *others) stir(pace time.Duration) {
	o.quiet, o.told = 0, time.Time{}
	o.pace = min(max(pace, o.least), o.interval)
	o.resting.Store(false)
}

// lookIfDue looks when it is time to, and returns how long it is until the next look.
func (o *others) lookIfDue(ctx context.Context) (nap time.Duration) {
	if o.woke && o.store.found.Load() {
		o.woke = false
		o.stir(soonestLook)
	}
	if left := o.pause() - time.Since(o.looked); left > 0 {
		return left
	}
	if !o.look(ctx) && !o.slowsDown() && o.isQuiet() && !o.resting.Load() && o.rests() {
		o.look(ctx) // it may have been written before the system took note that it has to tell
	}
	return o.pause()
}

// slowsDown reports whether the looks had not come to the interval yet. They come to it at once if the
// write of which the system has told was one of this process.
func (o *others) slowsDown() bool {
	if o.pace == o.interval {
		return false
	}
	o.pace = min(2*o.pace, o.interval)
	if !o.told.IsZero() && o.store.writer.committed.Load() {
		o.pace = o.interval
	}
	return true
}

// isQuiet counts a look that has found nothing, and reports whether the file is quiet.
func (o *others) isQuiet() bool {
	o.quiet++
	return o.quiet >= quietLooks && (o.told.IsZero() || o.store.writer.committed.Load() || time.Since(o.told) > latestCommit)
}

func (o *others) pause() time.Duration {
	if o.resting.Load() {
		return max(o.interval, o.rest)
	}
	return o.pace
}

// look wakes everybody if another process has written: what it wrote, and for
// how many, is not known. There are as many waiting fetches as the worker has slots,
// and they run as one transaction, which changes nothing and so costs no flush.
func (o *others) look(ctx context.Context) bool {
	o.looked = time.Now()
	changed, err := o.store.writer.changedElsewhere(ctx)
	if !changed && err == nil {
		return false
	}
	o.woke = true
	o.store.found.Store(false)
	// On trouble too: the fetches will meet it and report it.
	o.store.instances.SignalAll()
	o.store.activities.SignalAll()
	pace, began := o.pace+o.pace/4, time.Now()
	if err == nil && o.store.tellEnded(ctx) > 0 {
		pace = soonestLook
	}
	o.least = endsShare * time.Since(began)
	o.stir(pace)
	return true
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
