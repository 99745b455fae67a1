package mssql

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

// DefaultSchema is the schema of a store if neither the connection string nor Options name one.
const DefaultSchema = "duroxide"

// Options adjust a store. The zero value of each field means its default. A few fields can be switched off, each by the
// constant that its comment names. Other negative values are refused with [provider.ErrInvalidArgument].
type Options struct {
	// AutoMigrate makes Open create the schema or bring it up to date. The login then needs the rights of an owner.
	// Otherwise Open only checks that the schema is the one this program needs. [New] ignores it. Default false.
	AutoMigrate bool

	// CallTimeout limits each attempt of a call. Default 60 s; [Forever] is no limit. A call that exceeded it may still
	// have taken effect: its error is retryable, but the store does not repeat the call itself. A start, an event or a
	// message for an instance that somebody's transaction keeps locked waits about that long in all, and then nothing
	// was sent.
	CallTimeout time.Duration

	// ConnMaxIdleTime is how long an unused connection is kept. Default 5 min, or [Forever]. A store that nobody uses
	// has no connection after that time.
	ConnMaxIdleTime time.Duration

	// ConnMaxLifetime is how long a connection is used. A limit makes connections move after a failover, or when a
	// load balancer has new servers. Default 30 min, or [Forever].
	ConnMaxLifetime time.Duration

	// Logger receives reports that no call returns: messages that were dropped because they belong to no instance,
	// messages that were set aside because they could not be decoded, unless the fetch has a SetAside, as a worker's
	// has, and, with AutoMigrate, each step and each object that somebody edited on the server. Payloads are never
	// logged. Default nil: no log.
	Logger *slog.Logger

	// MaxOpenConns is the most connections that the store opens. Default 10. A worker that waits holds none. Of more
	// than three, two are kept for renewing leases. [New] ignores it, and ConnMaxIdleTime and ConnMaxLifetime with it.
	MaxOpenConns int

	// MaxRetries is how often the store repeats a call that failed without any effect, such as a deadlock's victim.
	// Calls that only read or renew a lease are also repeated when their connection broke. Default 5, or [None].
	// Unless it is None, a call that meets a database in Azure which resumes after a pause or moves (error 40613) is
	// repeated for a minute, however often that is.
	MaxRetries int

	// MinPollInterval and MaxPollInterval limit the time between two polls of this process for work of other
	// processes. Polling begins at the shorter interval. The interval doubles after each poll that finds nothing, up to
	// the longer one, and begins again at the shorter one when there is work. Each pause is random, between half of the
	// interval and all of it. So a process learns of such work after MaxPollInterval at the latest, and after about as
	// long as it has found none if that is less. Defaults: 20 ms and 5 s, with which an idle worker makes a call every
	// 3.75 s on average. One call of a worker polls for turns and activities, and one fetch for all fetches that wait
	// for the same work. A process without a worker does not poll.
	//
	// Work that this process sends or makes ready itself is found at once, whatever the interval, unless it was sent in
	// a transaction of the caller ([Store.EnqueueTx]).
	//
	// A MaxPollInterval of [Never] switches polling off, for a schema that no other process uses. Work that this
	// process has not sent itself, such as a timer from before it started, and work whose lease has ended, is then
	// found only by the next call that claims work.
	MinPollInterval, MaxPollInterval time.Duration

	// RetryBackoff is the longest pause before the first repetition of a call. It doubles with each repetition, up to
	// 2 s. Each pause is random, between half of that time and all of it. Default 20 ms.
	RetryBackoff time.Duration

	// Schema is the schema of the tables and procedures. Default "duroxide". Each schema is a separate store, for
	// example one for each tenant.
	Schema string
}

// Values of [Options] in place of a number or a time. The comment of a field says which of them it takes.
const (
	// None is no repetition.
	None int = -1
	// Never is for what does not happen at all.
	Never time.Duration = -1
	// Forever is for what has no time limit.
	Forever time.Duration = -1
)

// The defaults that are not zero.
const (
	defaultCallTimeout     = time.Minute
	defaultConnMaxIdleTime = 5 * time.Minute
	defaultConnMaxLifetime = 30 * time.Minute
	defaultMaxOpenConns    = 10
	defaultMaxRetries      = 5
	defaultMinPollInterval = 20 * time.Millisecond
	defaultMaxPollInterval = 5 * time.Second
	defaultRetryBackoff    = 20 * time.Millisecond
)

// longestPause is where the pauses between repetitions stop doubling.
const longestPause = 2 * time.Second

// withDefaults returns a copy with every default filled in but that of MaxOpenConns, and
// what is negative made zero, which then stands for "none". Error:
// [provider.ErrInvalidArgument].
func (o Options) withDefaults() (Options, error) {
	o.Schema = cmp.Or(o.Schema, DefaultSchema)
	if err := migrate.CheckSchemaName(o.Schema); err != nil {
		return Options{}, invalid("Options.Schema: %v", err)
	}
	if err := o.checkNegative(); err != nil {
		return Options{}, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.CallTimeout = orNone(o.CallTimeout, defaultCallTimeout)
	o.ConnMaxIdleTime = orNone(o.ConnMaxIdleTime, defaultConnMaxIdleTime)
	o.ConnMaxLifetime = orNone(o.ConnMaxLifetime, defaultConnMaxLifetime)
	o.MaxRetries = orNone(o.MaxRetries, defaultMaxRetries)
	o.RetryBackoff = cmp.Or(o.RetryBackoff, defaultRetryBackoff)
	o.MinPollInterval = max(cmp.Or(o.MinPollInterval, defaultMinPollInterval), time.Millisecond)
	o.MaxPollInterval = orNone(o.MaxPollInterval, defaultMaxPollInterval)
	if o.MaxPollInterval > 0 {
		o.MaxPollInterval = max(o.MaxPollInterval, o.MinPollInterval)
	}
	return o, nil
}

// forOpen is withDefaults for opening: with the schema of the connection string, if it
// has one, and the number of connections.
func (o Options) forOpen(schema string) (Options, error) {
	if schema != "" {
		if o.Schema != "" && o.Schema != schema {
			return Options{}, invalid("the connection string says schema=%s and Options.Schema says %s: remove one of them", schema, o.Schema)
		}
		o.Schema = schema
	}
	o.MaxOpenConns = cmp.Or(o.MaxOpenConns, defaultMaxOpenConns)
	return o.withDefaults()
}

// checkNegative refuses negative values, except the constant that an option takes.
func (o Options) checkNegative() error {
	for _, n := range []struct {
		name  string
		value int64
		// off is the constant.
		off string
	}{
		{"CallTimeout", int64(o.CallTimeout), "Forever"},
		{"ConnMaxIdleTime", int64(o.ConnMaxIdleTime), "Forever"},
		{"ConnMaxLifetime", int64(o.ConnMaxLifetime), "Forever"},
		{"MaxOpenConns", int64(o.MaxOpenConns), ""},
		{"MaxRetries", int64(o.MaxRetries), "None"},
		{"MinPollInterval", int64(o.MinPollInterval), ""},
		{"MaxPollInterval", int64(o.MaxPollInterval), "Never"},
		{"RetryBackoff", int64(o.RetryBackoff), ""},
	} {
		switch {
		case n.value >= 0 || n.value == -1 && n.off != "":
		case n.off == "":
			return invalid("Options.%s is negative", n.name)
		default:
			return invalid("Options.%s is negative; the only negative value that it takes is mssql.%s", n.name, n.off)
		}
	}
	return nil
}

// orNone is the default for 0, and 0 for less.
func orNone[T int | time.Duration](value, otherwise T) T {
	return max(cmp.Or(value, otherwise), 0)
}
