package worker

import (
	"errors"
	"log/slog"
	"time"

	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/retry"
)

// Options configure a worker. The zero value of each field means its default. A few fields can be switched off, each by
// the constant that its comment names, for example [None]. Other negative values are refused with [ErrInvalidOptions].
// The first fields are those that programs set most often; the rest stands in groups.
type Options struct {
	// OrchestrationConcurrency is the number of turns that run at the same time. Default 2, at most 100,000. [None] is
	// for a worker that runs only activities.
	OrchestrationConcurrency int
	// ActivityConcurrency is the number of activities that run at the same time. Default 2, at most 100,000. [None] is
	// for a worker that runs only orchestrations. The two fields cannot both be None.
	//
	// A worker fetches work ahead when its work is short compared with its calls to the store: up to 32 turns and 32
	// activities wait for a free slot, or for the store. Work that waits for a slot longer than 100 ms, or a quarter of
	// its lease, is given back; that does not count as an attempt. A worker that has run an activity in a session
	// fetches no activities ahead.
	ActivityConcurrency int
	// Tags selects the activities to run, default those without a tag.
	Tags provider.TagFilter

	// ActivityRetry is the retry policy of activities that are called without orchestration.WithRetry, default
	// none. It is part of the orchestrations' code: give all workers of a store the same policy. Changing it affects
	// instances that wait for a failing activity, as a change of their code does.
	ActivityRetry *retry.Policy

	// Codec encodes payloads before they go to the store. Default nil: they stay plain. All workers and clients of a
	// store need the same codec. Limits.HistoryBytes counts plain payloads. Work with a payload that cannot be decoded
	// is given back and offered again after Code.Backoff; that does not count as an attempt.
	Codec *codec.Codec

	// Hook is called for turns, activities and calls to the store, default nil. See [hook.Hook].
	Hook hook.Hook

	// Logger receives the worker's log, default slog.Default(). It never gets a payload, except with
	// LogApplicationErrors.
	Logger *slog.Logger
	// LogApplicationErrors logs the texts of errors of activities and orchestrations, as the attribute "error". They
	// may quote payloads, even if Codec encrypts payloads. By default the log says only that something failed.
	LogApplicationErrors bool
	// QuietTime is how long something may wait before the log warns once. Default 5 min; with [Never] there is no such
	// warning. The warnings are about activities that do not return, about sessions from which this worker's
	// orchestrations get no results, and about work that no live worker can take, whatever the reason: nobody has its
	// code, or nobody who has it takes its tag.
	QuietTime time.Duration

	// ShutdownTimeout is how long running work may take to finish after Run's context ended. Default 1 s; with [AtOnce]
	// the worker does not wait.
	ShutdownTimeout time.Duration

	// Leases are how long the worker owns the turns and activities that it has fetched.
	Leases Leases
	// Limits bound what one orchestration may use, and how often work is tried.
	Limits Limits
	// Code says what happens to work whose code this worker does not have, or whose code does not fit.
	Code Code
	// Cache keeps waiting instances in memory between their turns.
	Cache Cache
	// Sessions are about activities that are called in a session, see orchestration.InSession.
	Sessions Sessions
	// Cancellation is about running activities that nobody needs any more.
	Cancellation Cancellation

	// PollTimeout is how long a fetch may wait inside the store, default 30 s. Only fetches of turns wait.
	PollTimeout time.Duration
	// SupportedVersions are the framework versions whose executions this worker runs, default 0.0.0 to
	// [provider.FrameworkVersion]. It must not be empty unless it is nil. Do not include versions above
	// FrameworkVersion: this worker would apply its own rules to executions of a newer version.
	SupportedVersions []provider.VersionRange
}

// Values of [Options] in place of a number or a time. The comment of a field says which of them it takes.
const (
	// None is no turn, no activity or no instance.
	None int = -1
	// Unlimited is no limit.
	Unlimited int = -1
	// Never is for what does not happen at all.
	Never time.Duration = -1
	// Forever is for what has no time limit.
	Forever time.Duration = -1
	// AtOnce is for what waits for nothing.
	AtOnce time.Duration = -1
)

// Leases are how long a worker owns the turns and activities that it has fetched. See [Options].
type Leases struct {
	// Orchestration is the lease of a turn. Default 5 s, at least 1 ms. A worker that dies delays its turns by up to
	// that long.
	Orchestration time.Duration
	// OrchestrationRenewalBuffer is how long before its end a lease of at least 15 s is renewed. Default 2 s. A shorter
	// lease is renewed after half of it.
	OrchestrationRenewalBuffer time.Duration
	// Activity is the lease of an activity. Default 30 s, at least 1 ms. A result that the store does not accept is
	// sent again until the lease ends. Meanwhile the slot runs other activities; a slot with 16 such results fetches no
	// more. A result whose lease has ended is kept, the latest 16 of each slot. If the activity comes back to this
	// worker, the worker sends the kept result and does not run the activity again.
	//
	// If the lease of a running activity ends because the store is unreachable, the activity continues. If a fetch
	// brings it back to this worker, it gets the new lease; that does not count as an attempt. It is told to stop
	// when the store reports that another worker has it. Until then both may run it.
	Activity time.Duration
	// ActivityRenewalBuffer is like OrchestrationRenewalBuffer. Default 5 s. The store can be unreachable for at least
	// this long before another worker can take a running activity.
	ActivityRenewalBuffer time.Duration
}

// Limits bound what one orchestration may use, and how often work is tried. The log warns at half of TurnActions,
// HistoryEvents and HistoryBytes; at the limit the instance fails. See [Options].
type Limits struct {
	// Attempts is how often work is tried before it is poison, which means that it fails without another attempt.
	// Default 10. Attempts that end in a crash or an expired lease count.
	Attempts int
	// BlockedTime is how long an orchestration function may run without a wait through its context. Default 1 s, at
	// least 1 ms; with [Forever] nobody looks. A function that blocks for longer, on a channel, a lock, a sleep or I/O,
	// loses its slot. The log names the line. The instance is tried again after Code.Backoff, and at the last of
	// Attempts it fails with that line. A function that computes gets ten times as long. Go cannot end the function:
	// its goroutine stays until it returns or uses its context.
	//
	// The slot is free for other turns after an eighth of the time: up to 32 turns of each slot continue outside it.
	BlockedTime time.Duration
	// TurnActions is how many actions an orchestration function may ask for in one turn. Default 10,000, or
	// [Unlimited]. Each activity, timer, wait, sub-orchestration, change of the custom status and change of a key is
	// one action. It also limits how many blocks of orchestration.Go may wait at the same time.
	TurnActions int
	// HistoryEvents limits the events in the history of a running execution. Default 50,000, or [Unlimited].
	// ContinueAsNew begins a new history.
	HistoryEvents int
	// HistoryBytes limits the total size of the inputs, results, messages and values in the history of a running
	// execution, in UTF-8 bytes. Default 64 MiB, or [Unlimited].
	HistoryBytes int
	// Nesting is how many sub-orchestrations may be nested in each other. Default 100, or [Unlimited]. A call that
	// would go deeper fails its instance, so that a recursion without end does. Sub-orchestrations with an id of their
	// own (orchestration.WithInstanceID) are not counted.
	Nesting int
}

// Code says what happens to work whose code a worker does not have, or whose code does not fit. See [Options].
type Code struct {
	// Backoff is the delay before work is offered again whose code this worker does not have, or whose function
	// blocked. Default 1 s. The delay doubles up to MaxBackoff. A [provider.Store] gives a worker only work whose code
	// the worker has registered. Other stores may offer more, and the worker gives it back; that does not count as an
	// attempt.
	Backoff time.Duration
	// MaxBackoff is the longest such delay. Default 60 s, or Backoff if that is longer.
	MaxBackoff time.Duration
	// UnknownTimeout is how long work waits for an orchestration, a version of it, or an activity that no worker has
	// registered. Default 0: it is held until a worker has the code. `duroxide status` and the log say what it waits
	// for. A request to cancel ends such an instance, unless it has code that cleans up.
	//
	// With a time, an orchestration fails after it as [provider.ConfigurationFailure] with an error that names the
	// missing code, and an activity fails its orchestration. A worker fails no such work until it has itself run for
	// that long without an outage, so that a stopped fleet has time to come back. Give all workers of a store the same
	// value. A store that does not know what workers have registered offers them all work; the time then counts from
	// when this worker is first offered it.
	UnknownTimeout time.Duration
	// FailMisfits fails an instance whose code does not fit its history, and after Limits.Attempts one whose history
	// cannot be decoded. By default such an instance is held: its turn is given back and offered again after Backoff,
	// until a worker has code that fits, for example after a rollback, or somebody has mended the history. The log,
	// [Worker.Held] and `duroxide status` give the reason, and `duroxide retry` tries the instance again at once. A
	// request to cancel ends the instance, unless it has code that cleans up.
	FailMisfits bool
}

// Cache keeps waiting instances in memory between their turns. See [Options].
type Cache struct {
	// Instances is how many waiting instances stay in memory between their turns. Default 1,000, or [None]. The
	// function of a cached instance continues where it waits, and the store sends only new events, so a step costs the
	// same however long the history is. Any other instance runs again from its start, with its whole history. There is
	// no other difference: events that another worker has added meanwhile are replayed first. When the cache is full,
	// the instance that has waited longest leaves it. Executions that a framework version before 0.1.31 started always
	// run again from their start.
	Instances int
	// Bytes limits the memory of the cached instances. Default 64 MiB, or [Unlimited]. It is an estimate: about 8 KiB
	// for each instance, 300 bytes for each event, and the payloads. Memory that the functions themselves hold is not
	// counted.
	Bytes int
}

// Sessions are about activities that are called in a session. See [Options].
type Sessions struct {
	// NodeID is a stable name under which this process owns sessions; all its slots share them. At most 256 bytes.
	// Default: each slot owns sessions of its own, which others may have when Run has returned.
	NodeID string
	// Max is the number of sessions worked on at once. Default 10.
	Max int
	// Lease is the lease of a session. Default 30 s, at least 1 ms.
	Lease time.Duration
	// RenewalBuffer is how long before its end the lease is renewed. Default 5 s.
	RenewalBuffer time.Duration
	// IdleTimeout is how long a session without activities is kept. Default 5 min. It must be longer than the interval
	// at which the leases of activities are renewed.
	IdleTimeout time.Duration
	// CleanupInterval is how often expired sessions are removed. Default 5 min.
	CleanupInterval time.Duration
}

// Cancellation is about running activities that nobody needs any more. See [Options].
type Cancellation struct {
	// PollInterval is how often the worker asks the store whether other processes have cancelled activities that run
	// here. Default 2 s, or [Never]. One call asks for all activities that have run for a while; without such
	// activities there is no call. Cancellations by this process reach all its workers on the same store at once.
	PollInterval time.Duration
	// GracePeriod is how long an activity may take to return after it was cancelled or has reached its RunTimeout.
	// Default 10 s. Then its slot is given to another activity.
	GracePeriod time.Duration
}

// ErrInvalidOptions is returned by New for a nil store, and for options that are invalid or contradict each other.
var ErrInvalidOptions = errors.New("invalid worker options")
