package sqlite

import (
	"log/slog"
	"time"

	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// Synchronous says what the effects of a call that has returned survive.
type Synchronous int

// The degrees of durability.
const (
	// Full survives a loss of power: a call returns when the disk has confirmed the write. It is the default.
	Full Synchronous = iota
	// Normal survives the end of the process. A loss of power, or a crash of the operating system, may undo the last
	// calls; the store is then exactly as it was before them. It saves one disk flush for each transaction.
	Normal
)

// Never as [Options].PollInterval is for a file that no other process opens.
const Never time.Duration = -1

// Options adjust a store. The zero value of each field means its default. Negative values are refused with
// [provider.ErrInvalidArgument], except [Never] for PollInterval.
type Options struct {
	// BusyTimeout is how long a write waits for another process that is writing,
	// before it fails with [ErrBusy]. Default 5 s.
	BusyTimeout time.Duration

	// DisableGroupCommit gives every write a transaction of its own, even if several are waiting. Default false.
	DisableGroupCommit bool

	// Logger receives reports that no call returns: messages that were dropped because they belong to no instance, and
	// messages that were set aside because they could not be decoded, unless the fetch has a SetAside, as a worker's
	// has. Payloads are never logged. Default nil: no log.
	Logger *slog.Logger

	// MaxReaders is the number of connections for reading. Default 4. It has no effect on a store in memory.
	MaxReaders int

	// PollInterval is how often a waiting fetch, a subscriber of [Store.WorkReady], or who waits for the end of an
	// instance checks whether another process has written. Default 100 ms. After a check that was of use to one of
	// them, the next follows after 1 ms, or after this interval if it is shorter; later ones come less and less often
	// again. On Linux, if ten checks at the interval found no write of another process, a shorter interval
	// becomes one second until the system reports a write to the file. Writes of the same process, and delays and
	// leases that end, are noticed at once, whatever the interval. What is sent by [Store.EnqueueTx] counts as another
	// process's. With [Never] nobody checks, for a file that no other process opens; then only the next fetch finds
	// that.
	PollInterval time.Duration

	// Synchronous is the degree of durability. Default [Full].
	Synchronous Synchronous

	// now replaces the clock in tests: milliseconds since the Unix epoch.
	now func() int64
	// driver replaces the SQL driver in tests.
	driver string
	// log is the path of the write-ahead log, which Open finds out, and rest is restedLook but
	// in tests.
	log  string
	rest time.Duration
	// room replaces [freeRoom] in tests.
	room func(path string) (free int64, known bool)
}

// check refuses negative values.
func (o Options) check() error {
	switch {
	case o.BusyTimeout < 0:
		return columns.Invalid(openOperation, "Options.BusyTimeout is negative (%v)", o.BusyTimeout)
	case o.MaxReaders < 0:
		return columns.Invalid(openOperation, "Options.MaxReaders is negative (%d)", o.MaxReaders)
	case o.PollInterval < 0 && o.PollInterval != Never:
		return columns.Invalid(openOperation,
			"Options.PollInterval is negative (%v); the only negative value that it takes is sqlite.Never", o.PollInterval)
	}
	return nil
}

// withDefaults returns the options with every default filled in.
func (o Options) withDefaults() Options {
	if o.BusyTimeout == 0 {
		o.BusyTimeout = 5 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.MaxReaders == 0 {
		o.MaxReaders = 4
	}
	if o.PollInterval == 0 {
		o.PollInterval = 100 * time.Millisecond
	}
	if o.rest == 0 {
		o.rest = restedLook
	}
	if o.room == nil {
		o.room = freeRoom
	}
	if o.driver == "" {
		o.driver = driverName
	}
	if o.now == nil {
		o.now = func() int64 { return time.Now().UnixMilli() }
	}
	return o
}
