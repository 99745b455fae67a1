package worker

import (
	"errors"
	"log/slog"
	"time"

	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// FrameworkVersion is the version of the Duroxide core whose semantics this
// runtime implements. Executions it starts are pinned to it, and it does not touch
// executions that a newer core started.
const FrameworkVersion = "0.1.32"

// Options configure a worker. The zero value of each field means its default.
type Options struct {
	// OrchestrationConcurrency is the number of turns that run at the same time.
	// Default 2, at most 100,000; -1 runs none, for a worker of activities.
	OrchestrationConcurrency int
	// ActivityConcurrency is the number of activities that run at the same time.
	// Default 2, at most 100,000; -1 runs none, for a worker of orchestrations. Not both can be -1.
	//
	// On a store that is a [provider.Taker], a worker whose work is short beside its
	// calls of the store fetches some ahead: up to 32 turns and 32 activities wait for
	// a place, or for the store. Work that waits for a place longer than 100 ms, or a
	// quarter of its lease, is given back, which is no attempt. A worker that has run
	// an activity in a session takes no activities ahead.
	ActivityConcurrency int

	// OrchestrationLockTimeout is the lease of a turn, default 5 s. A worker that
	// dies delays its turns by up to that long.
	OrchestrationLockTimeout time.Duration
	// OrchestrationRenewalBuffer is how long before its end a lease of at least
	// 15 s is renewed, default 2 s. Shorter ones are renewed at half time.
	OrchestrationRenewalBuffer time.Duration
	// ActivityLockTimeout is the lease of an activity, default 30 s. A result that the
	// store does not take is sent again until the lease ends, while the slot works on;
	// a slot with 16 such results fetches no more. A result whose lease has ended is
	// kept (the latest 16 of a slot) and sent if the activity comes back to this
	// worker, which does not run it again. If the lease of a running activity ends
	// because the store is away, the activity runs on in its slot. If a fetch brings it
	// back to this worker, it gets the new lease, which is no further attempt. It is
	// told to stop when the store says that another worker has it; until then both may
	// run it.
	ActivityLockTimeout time.Duration
	// ActivityRenewalBuffer is as OrchestrationRenewalBuffer, default 5 s. It is how long
	// the store may be away at the least before another worker can take a running activity.
	ActivityRenewalBuffer time.Duration

	// PollTimeout is how long a fetch may wait inside the store, default 30 s. A store that is
	// a [provider.Taker] says when to look, and neither this nor the next option is used.
	PollTimeout time.Duration
	// MinPollInterval is the least time between two fetches that found nothing,
	// for stores that do not wait. Default 100 ms.
	MinPollInterval time.Duration

	// MaxAttempts is how often work is tried before it counts as poison, default
	// 10. Attempts that a crash or an expired lease ended count.
	MaxAttempts uint32
	// UnregisteredBackoff is the delay before work is offered again that this worker
	// was given without having its code, or whose function blocked. It doubles up to
	// UnregisteredBackoffMax. Default 1 s and 60 s, or UnregisteredBackoff if that is
	// longer. A store that is a [provider.CodeSelector] gives a worker only work whose
	// code it has registered. The worker gives other work back, which is no attempt.
	UnregisteredBackoff    time.Duration
	UnregisteredBackoffMax time.Duration
	// UnknownCodeTimeout is how long work waits for an orchestration, its version, or
	// an activity that no worker has, default [provider.DefaultUnknownFor], 5 min; -1
	// is for ever. Then it fails as [provider.Configuration], naming them; an activity
	// fails its orchestration. The log warns after a quarter of the time. A worker
	// fails nothing until it has worked for that long without an outage, so that a
	// stopped fleet has time to come back. Give all workers of a store the same value.
	//
	// On a store that is no [provider.CodeSelector], where no worker knows what others
	// have, it is how long this worker is offered the same work in vain.
	UnknownCodeTimeout time.Duration

	// HoldMisfits holds an instance whose code does not fit its history, instead of
	// failing it, which is the default. Its turn is given back and offered again after
	// UnregisteredBackoff, until a worker has code that fits, for example after a
	// rollback. The log, [Worker.Held] and a store that is a [provider.HeldAdmin] say
	// why; with such a store, `duroxide status` shows it and `duroxide retry` tries it
	// again at once. A cancel request ends the instance.
	HoldMisfits bool

	// BlockedTimeout is how long an orchestration function may keep control without
	// using its context, default 1 s; -1 is for ever. One that blocks for longer, on a
	// channel, a lock, a sleep or I/O, loses its slot. The log tells the line, and the
	// instance is tried again after UnregisteredBackoff and fails at the last of
	// MaxAttempts with that line. A function that computes gets ten times as long. Go
	// cannot end the function: its goroutine stays until it returns or uses its context.
	//
	// The slot itself is free sooner, after an eighth of the time: up to 32 turns for
	// each slot are waited for outside it.
	BlockedTimeout time.Duration

	// ActivityRetry is the policy of the activities that orchestrations call without
	// [orchestration.WithRetry], default none. It counts as part of their code: give
	// all workers of a store the same policy. A change of it affects instances that
	// wait for a failing activity, as a change of their code does.
	ActivityRetry *orchestration.RetryPolicy

	// MaxTurnActions is how much an orchestration function may ask for in one turn,
	// default 10,000; -1 is no limit. An activity, a timer, a wait, a child and a change
	// of status or a key are one each. As many blocks of [orchestration.Go] may wait at the
	// same time. Half of this and of the next two limits is told
	// in the log, and the limit fails the instance.
	MaxTurnActions int
	// MaxHistoryEvents is the number of events in the history of an execution that goes
	// on, default 50,000; -1 is no limit. ContinueAsNew begins a new history.
	MaxHistoryEvents int
	// MaxHistoryBytes is the sum of the inputs, results, messages and values in the
	// history of an execution that goes on, in UTF-8 bytes, default 64 MiB; -1 is no
	// limit.
	MaxHistoryBytes int

	// CachedInstances is how many waiting instances stay in memory between their turns,
	// default 1,000; -1 is none. The function of such an instance continues where it
	// waits, and the store sends only new events, so a step costs the same however long
	// the history is. Any other instance runs again from its start, with its whole
	// history. There is no other difference: what another worker has done meanwhile is
	// replayed first. The instance that has waited longest gives up its place first.
	// Instances of workers before 0.1.31 always run again.
	CachedInstances int
	// CachedBytes bounds their memory, by an estimate of about 8 KiB an instance, 300 bytes
	// an event and the payloads; what the functions themselves hold comes on top. Default
	// 64 MiB; -1 is no limit.
	CachedBytes int

	// QuietTime is how long something may wait before the log says so once, at Warn,
	// default 5 min; -1 is for ever. It is about activities that do not return, and about
	// tags and sessions from which this worker's orchestrations get no results.
	QuietTime time.Duration

	// CancellationPoll is how often the store is asked whether other processes have cancelled
	// activities that run here, default 2 s; -1 is never. It is one call for all activities
	// that have run for a while, and none when there are none. What this process cancels is
	// told at once, to all its workers on the same store. A store that is no
	// [provider.LeaseWatcher] is not asked, and what other processes cancel is told when the
	// lease is renewed.
	CancellationPoll time.Duration
	// CancellationGracePeriod is how long an activity that was cancelled, or has run for its
	// RunTimeout, may take to return before its slot is given to another, default 10 s.
	CancellationGracePeriod time.Duration
	// ShutdownTimeout is how long running work may take to finish after Run's
	// context ended, default 1 s; -1 is not at all.
	ShutdownTimeout time.Duration

	// Tags selects the activities to run, default those without a tag.
	Tags provider.TagFilter
	// SupportedVersions overrides the framework versions whose executions are
	// run, default 0.0.0 to [FrameworkVersion]. It must not go beyond that: this
	// worker would decide executions of newer workers by its own rules.
	SupportedVersions []provider.VersionRange

	// NodeID is a stable name for this process as owner of sessions; all its slots
	// share them. Default: each slot owns its own.
	NodeID string
	// MaxSessions is the number of sessions worked on at once, default 10. It must
	// not be negative.
	MaxSessions int
	// SessionLockTimeout is a session's lease, default 30 s, renewed
	// SessionRenewalBuffer, default 5 s, before its end.
	SessionLockTimeout   time.Duration
	SessionRenewalBuffer time.Duration
	// SessionIdleTimeout releases sessions without activity, default 5 min.
	SessionIdleTimeout time.Duration
	// SessionCleanupInterval is how often expired sessions are removed, default
	// 5 min.
	SessionCleanupInterval time.Duration

	// Hook is told of turns, activities and the calls of the store, default nil. See [hook.Hook].
	Hook hook.Hook

	// Codec encodes payloads on their way to the store, default nil: they stay plain. All
	// workers and clients of a store need the same. The limits above are about plain payloads.
	// Work with a payload that cannot be decoded is given back after UnregisteredBackoff, which
	// is no attempt.
	Codec *codec.Codec

	// Logger receives the worker's log, default slog.Default(). It never gets a
	// payload, except with LogApplicationErrors.
	Logger *slog.Logger
	// LogApplicationErrors puts the texts of the errors of activities and orchestrations into
	// the log, as "error". They may quote payloads, and codecs do not change that: default is to
	// log only that something failed.
	LogApplicationErrors bool
}

// ErrInvalidOptions is returned by [New] for options that cannot work, alone or together.
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
	setDefault(&o.MinPollInterval, 100*time.Millisecond)
	setDefault(&o.MaxAttempts, 10)
	setDefault(&o.UnregisteredBackoff, time.Second)
	setDefault(&o.UnregisteredBackoffMax, max(time.Minute, o.UnregisteredBackoff))
	setDefault(&o.UnknownCodeTimeout, provider.DefaultUnknownFor)
	setDefault(&o.BlockedTimeout, time.Second)
	setDefault(&o.MaxTurnActions, replay.DefaultLimits.Actions)
	setDefault(&o.MaxHistoryEvents, replay.DefaultLimits.Events)
	setDefault(&o.MaxHistoryBytes, replay.DefaultLimits.Bytes)
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
