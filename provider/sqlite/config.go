package sqlite

import (
	"log/slog"
	"time"
)

// Synchronous says what an acknowledged call survives.
type Synchronous int

// The degrees of durability.
const (
	// Full survives the loss of power: a call returns when the disk has
	// confirmed it. It is the default.
	Full Synchronous = iota
	// Normal survives the end of the process. The loss of power, or a crash of
	// the operating system, may undo the last calls; the store is then as it was
	// before them, never anything between. It spares a flush per transaction.
	Normal
)

// Config adjusts a store. The zero value, like a nil *Config, is the default for
// everything.
type Config struct {
	// BusyTimeout is how long a write waits for another process that is writing,
	// before it fails with [ErrBusy]. Default 5 s.
	BusyTimeout time.Duration

	// DisableGroupCommit gives every write a transaction of its own, also when
	// several are waiting.
	DisableGroupCommit bool

	// Logger receives what nobody else would be told: messages set aside because
	// they could not be decoded, and messages dropped because they belong to no
	// instance. Payloads are never logged. nil discards.
	Logger *slog.Logger

	// MaxReaders is the number of connections that read. Default 4. A store in
	// memory has none of its own.
	MaxReaders int

	// PollInterval is how often a waiting fetch, or a subscriber of [Store.WorkReady],
	// checks whether another process has written. Default 100 ms. On Linux a file that no
	// other process has written for ten checks is checked once a second, if the interval is
	// shorter, and at the interval again as soon as the system tells of a write to it. Writes
	// of the same process, and delays and leases that end, are noticed at once, whatever the
	// interval; -1 never checks, for a file that no other process opens.
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
}

// withDefaults returns a copy with every default filled in; c may be nil.
func (c *Config) withDefaults() Config {
	var config Config
	if c != nil {
		config = *c
	}
	if config.BusyTimeout <= 0 {
		config.BusyTimeout = 5 * time.Second
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.MaxReaders <= 0 {
		config.MaxReaders = 4
	}
	if config.PollInterval == 0 {
		config.PollInterval = 100 * time.Millisecond
	}
	if config.rest == 0 {
		config.rest = restedLook
	}
	if config.driver == "" {
		config.driver = driverName
	}
	if config.now == nil {
		config.now = func() int64 { return time.Now().UnixMilli() }
	}
	return config
}
