package worker

import (
	"errors"
	"log/slog"
	"time"

	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/retry"
)

// FrameworkVersion is the version of the Duroxide core whose semantics this runtime implements. An execution records
// the version of the runtime that started it. A worker does not run executions that a newer core started, see
// Options.SupportedVersions.
const FrameworkVersion = "0.1.32"

// Options configure a worker. The zero value of each field means its default.
type Options struct {
	// OrchestrationConcurrency is the number of turns that run at the same time. Default 2, at most 100,000; -1 runs
	// none, for a worker that runs only activities.
	OrchestrationConcurrency int
	// ActivityConcurrency is the number of activities that run at the same time. Default 2, at most 100,000; -1 runs
	// none, for a worker that runs only orchestrations. They cannot both be -1.
	//
	// A worker fetches work ahead when its work is short compared with its calls to the store: up to 32 turns and 32
	// activities wait for a free slot, or for the store. Work that waits for a slot longer than 100 ms, or a quarter of
	// its lease, is given back; that does not count as an attempt. A worker that has run an activity in a session
	// fetches no activities ahead.
	ActivityConcurrency int

	// OrchestrationLockTimeout is the lease of a turn, default 5 s. A worker that
	// dies delays its turns by up to that long.
	OrchestrationLockTimeout time.Duration
	// OrchestrationRenewalBuffer is how long before its end a lease of at least 15 s is renewed, default 2 s. A
	// shorter lease is renewed after half of it.
	OrchestrationRenewalBuffer time.Duration
	// ActivityLockTimeout is the lease of an activity, default 30 s. A result that the store does not accept is sent
	// again until the lease ends. Meanwhile the slot runs other activities; a slot with 16 such results fetches no
	// more. A result whose lease has ended is kept, the latest 16 of each slot. If the activity comes back to this
	// worker, the worker sends the kept result and does not run the activity again.
	//
	// If the lease of a running activity ends because the store is unreachable, the activity continues. If a fetch
	// brings it back to this worker, it gets the new lease; that does not count as an attempt. It is told to stop
	// when the store reports that another worker has it. Until then both may run it.
	ActivityLockTimeout time.Duration
	// ActivityRenewalBuffer is like OrchestrationRenewalBuffer, default 5 s. The store can be unreachable for at
	// least this long before another worker can take a running activity.
	ActivityRenewalBuffer time.Duration

	// PollTimeout is how long a fetch may wait inside the store, default 30 s. Only fetches of turns wait.
	PollTimeout time.Duration

	// MaxAttempts is how often work is tried before it is poison, which means that it fails without another attempt.
	// Default 10. Attempts that end in a crash or an expired lease count.
	MaxAttempts uint32
	// UnregisteredBackoff is the delay before work is offered again whose code this worker does not have, or whose
	// function blocked. The delay doubles up to UnregisteredBackoffMax. Defaults: 1 s, and 60 s or
	// UnregisteredBackoff if that is longer. A [provider.Store] gives a worker only work whose code the worker
	// has registered. Other stores may offer more, and the worker gives it back; that does not count as an attempt.
	UnregisteredBackoff    time.Duration
	UnregisteredBackoffMax time.Duration
	// UnknownCodeTimeout is how long work waits for an orchestration, a version of it, or an activity that no worker
	// has registered. Default 0: it is held until a worker has the code. `duroxide status` and the log say what it
	// waits for. A request to cancel ends such an instance, unless it has code that cleans up.
	//
	// With a time, an orchestration fails after it as [provider.Configuration] with an error that names the missing
	// code, and an activity fails its orchestration. A worker fails no such work until it has itself run for that
	// long without an outage, so that a stopped fleet has time to come back. Give all workers of a store the same
	// value. A store that does not know what workers have registered offers them all work; the time then counts from
	// when this worker is first offered it.
	UnknownCodeTimeout time.Duration

	// FailMisfits fails an instance whose code does not fit its history, and after MaxAttempts one whose history cannot
	// be decoded. By default such an instance is held: its turn is given back and offered again after
	// UnregisteredBackoff, until a worker has code that fits, for example after a rollback, or somebody has mended the
	// history. The log, [Worker.Held] and `duroxide status` give the reason, and `duroxide retry` tries the instance
	// again at once. A request to cancel ends the instance, unless it has code that cleans up.
	FailMisfits bool

	// BlockedTimeout is how long an orchestration function may run without a wait through its context, default 1 s,
	// at least 1 ms; -1 is for ever. A function that blocks for longer, on a channel, a lock, a sleep or I/O, loses
	// its slot. The log names the line. The instance is tried again after UnregisteredBackoff, and at the last of
	// MaxAttempts it fails with that line. A function that computes gets ten times as long. Go cannot end the
	// function: its goroutine stays until it returns or uses its context.
	//
	// The slot is free for other turns after an eighth of the time: up to 32 turns of each slot continue outside it.
	BlockedTimeout time.Duration

	// ActivityRetry is the retry policy of activities that are called without [orchestration.WithRetry], default
	// none. It is part of the orchestrations' code: give all workers of a store the same policy. Changing it affects
	// instances that wait for a failing activity, as a change of their code does.
	ActivityRetry *retry.Policy

	// MaxTurnActions is how many actions an orchestration function may ask for in one turn, default 10,000; -1 is no
	// limit. Each activity, timer, wait, sub-orchestration, change of the custom status and change of a key is one
	// action. It also limits how many blocks of [orchestration.Go] may wait at the same time. The log warns at half
	// of MaxTurnActions, MaxHistoryEvents and MaxHistoryBytes; at the limit the instance fails.
	MaxTurnActions int
	// MaxHistoryEvents limits the events in the history of a running execution, default 50,000; -1 is no limit.
	// ContinueAsNew begins a new history.
	MaxHistoryEvents int
	// MaxHistoryBytes limits the total size of the inputs, results, messages and values in the history of a running
	// execution, in UTF-8 bytes, default 64 MiB; -1 is no limit.
	MaxHistoryBytes int
	// MaxNesting is how many sub-orchestrations may be nested in each other, default 100; -1 is no limit. A call that
	// would go deeper fails its instance, so that a recursion without end does. Sub-orchestrations with an id of their
	// own ([orchestration.WithInstanceID]) are not counted.
	MaxNesting int

	// CachedInstances is how many waiting instances stay in memory between their turns, default 1,000; -1 is none.
	// The function of a cached instance continues where it waits, and the store sends only new events, so a step
	// costs the same however long the history is. Any other instance runs again from its start, with its whole
	// history. There is no other difference: events that another worker has added meanwhile are replayed first. When
	// the cache is full, the instance that has waited longest leaves it. Executions that a framework version before
	// 0.1.31 started always run again from their start.
	CachedInstances int
	// CachedBytes limits the memory of the cached instances. It is an estimate: about 8 KiB for each instance, 300
	// bytes for each event, and the payloads. Memory that the functions themselves hold is not counted. Default 64
	// MiB; -1 is no limit.
	CachedBytes int

	// QuietTime is how long something may wait before the log warns once, default 5 min; -1 never warns. The warnings
	// are about activities that do not return, about sessions from which this worker's orchestrations get no results,
	// and about work that no live worker can take, whatever the reason: nobody has its code, or nobody who has it
	// takes its tag.
	QuietTime time.Duration

	// CancellationPoll is how often the worker asks the store whether other processes have cancelled activities that
	// run here, default 2 s; -1 is never. One call asks for all activities that have run for a while; without such
	// activities there is no call. Cancellations by this process reach all its workers on the same store at once.
	CancellationPoll time.Duration
	// CancellationGracePeriod is how long an activity may take to return after it was cancelled or has reached its
	// RunTimeout, default 10 s. Then its slot is given to another activity.
	CancellationGracePeriod time.Duration
	// ShutdownTimeout is how long running work may take to finish after Run's context ended, default 1 s; -1 does not
	// wait.
	ShutdownTimeout time.Duration

	// Tags selects the activities to run, default those without a tag.
	Tags provider.TagFilter
	// SupportedVersions are the framework versions whose executions this worker runs, default 0.0.0 to
	// [FrameworkVersion]. It must not be empty unless it is nil. Do not include versions above FrameworkVersion: this
	// worker would apply its own rules to executions of a newer version.
	SupportedVersions []provider.VersionRange

	// NodeID is a stable name under which this process owns sessions; all its slots share them. At most 256 bytes.
	// Default: each slot owns sessions of its own, which others may have when Run has returned.
	NodeID string
	// MaxSessions is the number of sessions worked on at once, default 10. It must
	// not be negative.
	MaxSessions int
	// SessionLockTimeout is the lease of a session, default 30 s. It is renewed SessionRenewalBuffer before its end,
	// default 5 s.
	SessionLockTimeout   time.Duration
	SessionRenewalBuffer time.Duration
	// SessionIdleTimeout is how long a session without activities is kept, default 5 min.
	SessionIdleTimeout time.Duration
	// SessionCleanupInterval is how often expired sessions are removed, default
	// 5 min.
	SessionCleanupInterval time.Duration

	// Hook is called for turns, activities and calls to the store, default nil. See [hook.Hook].
	Hook hook.Hook

	// Codec encodes payloads before they go to the store. Default nil: they stay plain. All workers and clients of a
	// store need the same codec. MaxHistoryBytes counts plain payloads. Work with a payload that cannot be decoded is
	// given back and offered again after UnregisteredBackoff; that does not count as an attempt.
	Codec *codec.Codec

	// Logger receives the worker's log, default slog.Default(). It never gets a
	// payload, except with LogApplicationErrors.
	Logger *slog.Logger
	// LogApplicationErrors logs the texts of errors of activities and orchestrations, as the attribute "error". They
	// may quote payloads, even if Codec encrypts payloads. By default the log says only that something failed.
	LogApplicationErrors bool
}

// ErrInvalidOptions is returned by New for a nil store, and for options that are invalid or contradict each other.
var ErrInvalidOptions = errors.New("invalid worker options")

// withDefaults returns the options with every zero value replaced, or what is
// wrong with them.
func (o Options) withDefaults() (Options, error) {
	setDefault(&o.OrchestrationConcurrency, 2)
	setDefault(&o.ActivityConcurrency, 2)
	setDefault(&o.OrchestrationLockTimeout, 5*time.Second)
	setDefault(&o.OrchestrationRenewalBuffer, 2*time.Second)
	setDefault(&o.ActivityLockTimeout, 30*time.Second)
	setDefault(&o.ActivityRenewalBuffer, 5*time.Second)
	setDefault(&o.PollTimeout, 30*time.Second)
	setDefault(&o.MaxAttempts, 10)
	setDefault(&o.UnregisteredBackoff, time.Second)
	setDefault(&o.UnregisteredBackoffMax, max(time.Minute, o.UnregisteredBackoff))
	setDefault(&o.BlockedTimeout, time.Second)
	setDefault(&o.MaxTurnActions, replay.DefaultLimits.Actions)
	setDefault(&o.MaxHistoryEvents, replay.DefaultLimits.Events)
	setDefault(&o.MaxHistoryBytes, replay.DefaultLimits.Bytes)
	setDefault(&o.MaxNesting, replay.DefaultLimits.Nesting)
	setDefault(&o.CachedInstances, 1000)
	setDefault(&o.CachedBytes, 64<<20)
	setDefault(&o.QuietTime, 5*time.Minute)
	setDefault(&o.CancellationPoll, 2*time.Second)
	setDefault(&o.CancellationGracePeriod, 10*time.Second)
	setDefault(&o.ShutdownTimeout, time.Second)
	setDefault(&o.MaxSessions, 10)
	setDefault(&o.SessionLockTimeout, 30*time.Second)
	setDefault(&o.SessionRenewalBuffer, 5*time.Second)
	setDefault(&o.SessionIdleTimeout, 5*time.Minute)
	setDefault(&o.SessionCleanupInterval, 5*time.Minute)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.SupportedVersions == nil {
		own, err := provider.ParseVersion(FrameworkVersion)
		if err != nil {
			return o, err
		}
		o.SupportedVersions = []provider.VersionRange{{Max: own}}
	}
	return o, o.check()
}

func setDefault[T int | uint32 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
