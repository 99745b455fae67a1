package mssql

import (
	"cmp"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

// DefaultSchema is the schema that a store uses unless it is told otherwise.
const DefaultSchema = "duroxide"

// PoolEnv is the environment variable that holds the number of connections for stores
// that do not set [Config.MaxOpenConns].
const PoolEnv = "DUROXIDE_SQL_POOL_MAX"

// Config adjusts a store. The zero value, like a nil *Config, is the default for
// everything.
type Config struct {
	// AutoMigrate makes Open create the schema or bring it up to date. It takes the
	// rights of an owner; without it, Open only checks that the schema is the one this
	// program needs. [New] ignores it.
	AutoMigrate bool

	// CallTimeout bounds each try of a call. Default 60 s; -1 is no bound. A call that
	// was cut off may still have been carried out, so its error is retryable and no call
	// repeats it by itself.
	CallTimeout time.Duration

	// ConnMaxIdleTime is how long an unused connection is kept. Default 5 min; -1
	// keeps it.
	ConnMaxIdleTime time.Duration

	// ConnMaxLifetime is how long a connection is used, so that connections move on
	// after a failover or when a load balancer has new servers. Default 30 min; -1 is
	// no bound.
	ConnMaxLifetime time.Duration

	// DisableWakeups makes waiting fetches notice what calls of this process do only
	// as they notice what other processes do: by polling.
	DisableWakeups bool

	// Logger receives what nobody else would be told: messages set aside because
	// they could not be decoded, messages dropped because they belong to no instance,
	// and, with AutoMigrate, each step and what was edited on the server. Payloads are
	// never logged. nil discards.
	Logger *slog.Logger

	// MaxOpenConns is the most connections that the store opens. Default: the number in
	// the environment variable DUROXIDE_SQL_POOL_MAX, or 10. A fetch that waits holds
	// none. [New] ignores it, and ConnMaxIdleTime and ConnMaxLifetime with it.
	MaxOpenConns int

	// MaxRetries is how often a call is repeated that failed without having changed
	// anything, such as a deadlock's victim, or, if it reads or renews a lease, whose
	// connection broke. Default 5; -1 never repeats.
	MaxRetries int

	// MinPollInterval and MaxPollInterval bound the time between two looks for what
	// other processes have done. The looks begin at the shorter interval, take twice
	// the time after each that found nothing, up to the longer one, and begin again
	// when there is something. One fetch of this process looks for all that wait for
	// the same. Default 20 ms and 1 s; a MaxPollInterval of -1 never looks between the
	// beginning of a fetch and its end, for a schema that no other process uses. What
	// this process has not sent itself, such as a timer from before it was started, is
	// then found by the next fetch that begins.
	MinPollInterval, MaxPollInterval time.Duration

	// RetryBackoff is the longest pause before the first repetition of a call; it
	// doubles with each, up to 2 s. The pauses are random, from half of that on.
	// Default 20 ms.
	RetryBackoff time.Duration

	// Schema holds the tables and procedures. Default "duroxide". Each schema is a
	// store of its own: tenants that share a database have one each.
	Schema string
}

// The defaults that are not zero.
const (
	defaultCallTimeout     = time.Minute
	defaultConnMaxIdleTime = 5 * time.Minute
	defaultConnMaxLifetime = 30 * time.Minute
	defaultMaxOpenConns    = 10
	defaultMaxRetries      = 5
	defaultMinPollInterval = 20 * time.Millisecond
	defaultMaxPollInterval = time.Second
	defaultRetryBackoff    = 20 * time.Millisecond
)

// longestPause is where the pauses between repetitions stop doubling.
const longestPause = 2 * time.Second

// withDefaults returns a copy with every default filled in but that of MaxOpenConns, and
// what is negative made zero, which then stands for "none"; c may be nil. Error:
// [provider.ErrInvalidArgument].
func (c *Config) withDefaults() (Config, error) {
	var config Config
	if c != nil {
		config = *c
	}
	config.Schema = cmp.Or(config.Schema, DefaultSchema)
	if err := migrate.CheckSchemaName(config.Schema); err != nil {
		return Config{}, invalid("Config.Schema: %v", err)
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	config.CallTimeout = orNone(config.CallTimeout, defaultCallTimeout)
	config.ConnMaxIdleTime = orNone(config.ConnMaxIdleTime, defaultConnMaxIdleTime)
	config.ConnMaxLifetime = orNone(config.ConnMaxLifetime, defaultConnMaxLifetime)
	config.MaxRetries = orNone(config.MaxRetries, defaultMaxRetries)
	config.RetryBackoff = max(cmp.Or(config.RetryBackoff, defaultRetryBackoff), 0)
	config.MinPollInterval = max(cmp.Or(config.MinPollInterval, defaultMinPollInterval), time.Millisecond)
	config.MaxPollInterval = orNone(config.MaxPollInterval, defaultMaxPollInterval)
	if config.MaxPollInterval > 0 {
		config.MaxPollInterval = max(config.MaxPollInterval, config.MinPollInterval)
	}
	return config, nil
}

// forOpen is withDefaults for opening: with the schema of the connection string, if it
// has one, and the number of connections.
func (c *Config) forOpen(schema string) (Config, error) {
	var config Config
	if c != nil {
		config = *c
	}
	if schema != "" {
		if config.Schema != "" && config.Schema != schema {
			return Config{}, invalid("the connection string says schema=%s and Config.Schema says %s: remove one of them", schema, config.Schema)
		}
		config.Schema = schema
	}
	if config.MaxOpenConns <= 0 {
		var err error
		if config.MaxOpenConns, err = PoolSize(); err != nil {
			return Config{}, err
		}
	}
	return config.withDefaults()
}

// orNone is the default for 0, and 0 for less.
func orNone[T int | time.Duration](value, otherwise T) T {
	return max(cmp.Or(value, otherwise), 0)
}

// PoolSize is the number of connections of a store that does not set
// [Config.MaxOpenConns]: what the environment asks for ([PoolEnv]), or the default.
func PoolSize() (int, error) {
	text, ok := os.LookupEnv(PoolEnv)
	if !ok || text == "" {
		return defaultMaxOpenConns, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, invalid("the environment variable %s must be a number of connections from 1 on, and is %q", PoolEnv, text)
	}
	return n, nil
}
