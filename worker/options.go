package worker

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// FrameworkVersion is the version of the Duroxide core whose semantics this
// runtime implements. Executions it starts are pinned to it, and it does not touch
// executions that a newer core started (§7.15).
const FrameworkVersion = "0.1.32"

// Options configure a worker. The zero value of each field means its default.
type Options struct {
	// OrchestrationConcurrency is the number of turns that run at the same time.
	// Default 2; -1 runs none, for a worker of activities.
	OrchestrationConcurrency int
	// ActivityConcurrency is the number of activities that run at the same time.
	// Default 2; -1 runs none, for a worker of orchestrations. Not both can be -1.
	ActivityConcurrency int

	// OrchestrationLockTimeout is the lease of a turn, default 5 s. A worker that
	// dies delays its turns by up to that long.
	OrchestrationLockTimeout time.Duration
	// OrchestrationRenewalBuffer is how long before its end a lease of at least
	// 15 s is renewed, default 2 s. Shorter ones are renewed at half time.
	OrchestrationRenewalBuffer time.Duration
	// ActivityLockTimeout is the lease of an activity, default 30 s. A cancelled
	// activity learns of it at the next renewal.
	ActivityLockTimeout time.Duration
	// ActivityRenewalBuffer is as OrchestrationRenewalBuffer, default 5 s.
	ActivityRenewalBuffer time.Duration

	// PollTimeout is how long a fetch may wait inside the store, default 30 s.
	PollTimeout time.Duration
	// MinPollInterval is the least time between two fetches that found nothing,
	// for stores that do not wait. Default 100 ms.
	MinPollInterval time.Duration

	// MaxAttempts is how often work is tried before it counts as poison, default
	// 10. Attempts that a crash or an expired lease ended count.
	MaxAttempts uint32
	// UnregisteredBackoff is the delay before work that this worker has no handler
	// for is offered again: it doubles from base to max. Default 1 s and 60 s.
	UnregisteredBackoff    time.Duration
	UnregisteredBackoffMax time.Duration

	// CancellationGracePeriod is how long a cancelled activity may take to return
	// before its slot is given to another, default 10 s.
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

	// Logger receives the worker's log, default slog.Default(). It never gets a
	// payload.
	Logger *slog.Logger
}

// ErrInvalidOptions is returned by [New] for options that cannot work.
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
	setDefault(&o.UnregisteredBackoffMax, time.Minute)
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

// check names the first option that cannot work.
func (o Options) check() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"OrchestrationLockTimeout", o.OrchestrationLockTimeout},
		{"OrchestrationRenewalBuffer", o.OrchestrationRenewalBuffer},
		{"ActivityLockTimeout", o.ActivityLockTimeout},
		{"ActivityRenewalBuffer", o.ActivityRenewalBuffer},
		{"PollTimeout", o.PollTimeout},
		{"MinPollInterval", o.MinPollInterval},
		{"UnregisteredBackoff", o.UnregisteredBackoff},
		{"UnregisteredBackoffMax", o.UnregisteredBackoffMax},
		{"CancellationGracePeriod", o.CancellationGracePeriod},
		{"SessionLockTimeout", o.SessionLockTimeout},
		{"SessionRenewalBuffer", o.SessionRenewalBuffer},
		{"SessionIdleTimeout", o.SessionIdleTimeout},
		{"SessionCleanupInterval", o.SessionCleanupInterval},
	} {
		if d.value < 0 {
			return fmt.Errorf("%w: %s is negative (%v)", ErrInvalidOptions, d.name, d.value)
		}
	}
	if o.OrchestrationConcurrency < 0 && o.ActivityConcurrency < 0 {
		return fmt.Errorf("%w: OrchestrationConcurrency (%d) and ActivityConcurrency (%d) leave the worker nothing to run",
			ErrInvalidOptions, o.OrchestrationConcurrency, o.ActivityConcurrency)
	}
	if o.MaxSessions < 0 {
		return fmt.Errorf("%w: MaxSessions is negative (%d)", ErrInvalidOptions, o.MaxSessions)
	}
	// A session must not count as idle while one of its activities runs, and
	// activity is only noted when its lease is renewed (§7.1).
	if renewal := renewalInterval(o.ActivityLockTimeout, o.ActivityRenewalBuffer); o.SessionIdleTimeout <= renewal {
		return fmt.Errorf("%w: SessionIdleTimeout (%v) must exceed the interval at which activities are renewed (%v)",
			ErrInvalidOptions, o.SessionIdleTimeout, renewal)
	}
	return nil
}
