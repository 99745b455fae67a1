package worker

import (
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/retry"
)

// settings are the options as the worker uses them: flat, with every default filled in, and checked. What is switched
// off is 0.
type settings struct {
	OrchestrationConcurrency, ActivityConcurrency int

	Tags                 provider.TagFilter
	ActivityRetry        *retry.Policy
	Codec                *codec.Codec
	Hook                 hook.Hook
	Logger               *slog.Logger
	LogApplicationErrors bool

	QuietTime, ShutdownTimeout time.Duration

	OrchestrationLockTimeout, OrchestrationRenewalBuffer time.Duration
	ActivityLockTimeout, ActivityRenewalBuffer           time.Duration

	MaxAttempts                                                   uint32
	BlockedTimeout                                                time.Duration
	MaxTurnActions, MaxHistoryEvents, MaxHistoryBytes, MaxNesting int

	UnregisteredBackoff, UnregisteredBackoffMax time.Duration
	UnknownCodeTimeout                          time.Duration
	FailMisfits                                 bool

	CachedInstances, CachedBytes int

	NodeID                                     string
	MaxSessions                                int
	SessionLockTimeout, SessionRenewalBuffer   time.Duration
	SessionIdleTimeout, SessionCleanupInterval time.Duration

	CancellationPoll, CancellationGracePeriod time.Duration

	PollTimeout       time.Duration
	SupportedVersions []provider.VersionRange
}

// maxSlots is how many turns or activities one worker may run at a time: a slot takes some
// kilobytes before it has any work.
const maxSlots = 100_000

// numbers is the table of all options that are numbers or times, in the order of [Options]: the name, the value given,
// the setting made of it, the default, the least and the most value (0 is no such bound), and the constant that
// switches the option off.
func (s *settings) numbers(o *Options) []number {
	const ms = time.Millisecond
	code := &o.Code
	return []number{
		row("OrchestrationConcurrency", o.OrchestrationConcurrency, &s.OrchestrationConcurrency, 2, 0, maxSlots, "None"),
		row("ActivityConcurrency", o.ActivityConcurrency, &s.ActivityConcurrency, 2, 0, maxSlots, "None"),
		row("QuietTime", o.QuietTime, &s.QuietTime, 5*time.Minute, 0, 0, "Never"),
		row("ShutdownTimeout", o.ShutdownTimeout, &s.ShutdownTimeout, time.Second, 0, 0, "AtOnce"),

		row("Leases.Orchestration", o.Leases.Orchestration, &s.OrchestrationLockTimeout, 5*time.Second, ms, 0, ""),
		row("Leases.OrchestrationRenewalBuffer", o.Leases.OrchestrationRenewalBuffer, &s.OrchestrationRenewalBuffer, 2*time.Second, 0, 0, ""),
		row("Leases.Activity", o.Leases.Activity, &s.ActivityLockTimeout, 30*time.Second, ms, 0, ""),
		row("Leases.ActivityRenewalBuffer", o.Leases.ActivityRenewalBuffer, &s.ActivityRenewalBuffer, 5*time.Second, 0, 0, ""),

		row("Limits.Attempts", o.Limits.Attempts, &s.MaxAttempts, 10, 0, math.MaxInt32, ""),
		row("Limits.BlockedTime", o.Limits.BlockedTime, &s.BlockedTimeout, time.Second, ms, 0, "Forever"),
		row("Limits.TurnActions", o.Limits.TurnActions, &s.MaxTurnActions, replay.DefaultLimits.Actions, 0, 0, "Unlimited"),
		row("Limits.HistoryEvents", o.Limits.HistoryEvents, &s.MaxHistoryEvents, replay.DefaultLimits.Events, 0, 0, "Unlimited"),
		row("Limits.HistoryBytes", o.Limits.HistoryBytes, &s.MaxHistoryBytes, replay.DefaultLimits.Bytes, 0, 0, "Unlimited"),
		row("Limits.Nesting", o.Limits.Nesting, &s.MaxNesting, replay.DefaultLimits.Nesting, 0, 0, "Unlimited"),

		row("Code.Backoff", code.Backoff, &s.UnregisteredBackoff, time.Second, 0, 0, ""),
		row("Code.MaxBackoff", code.MaxBackoff, &s.UnregisteredBackoffMax, max(time.Minute, code.Backoff), 0, 0, ""),
		row("Code.UnknownTimeout", code.UnknownTimeout, &s.UnknownCodeTimeout, 0, 0, 0, ""),

		row("Cache.Instances", o.Cache.Instances, &s.CachedInstances, 1000, 0, 0, "None"),
		row("Cache.Bytes", o.Cache.Bytes, &s.CachedBytes, 64<<20, 0, 0, "Unlimited"),

		row("Sessions.Max", o.Sessions.Max, &s.MaxSessions, 10, 0, 0, ""),
		row("Sessions.Lease", o.Sessions.Lease, &s.SessionLockTimeout, 30*time.Second, ms, 0, ""),
		row("Sessions.RenewalBuffer", o.Sessions.RenewalBuffer, &s.SessionRenewalBuffer, 5*time.Second, 0, 0, ""),
		row("Sessions.IdleTimeout", o.Sessions.IdleTimeout, &s.SessionIdleTimeout, 5*time.Minute, 0, 0, ""),
		row("Sessions.CleanupInterval", o.Sessions.CleanupInterval, &s.SessionCleanupInterval, 5*time.Minute, 0, 0, ""),

		row("Cancellation.PollInterval", o.Cancellation.PollInterval, &s.CancellationPoll, 2*time.Second, 0, 0, "Never"),
		row("Cancellation.GracePeriod", o.Cancellation.GracePeriod, &s.CancellationGracePeriod, 10*time.Second, 0, 0, ""),

		row("PollTimeout", o.PollTimeout, &s.PollTimeout, 30*time.Second, 0, 0, ""),
	}
}

// number is one row of the table.
type number struct {
	name                         string
	given, standard, least, most int64
	// off is the name of the constant that switches the option off, if there is one.
	off string
	set func(int64)
	// text writes a value: a time as 5s.
	text func(int64) string
}

func row[T int | time.Duration, S int | uint32 | time.Duration](name string, given T, to *S, standard, least, most T, off string) number {
	return number{
		name: name, given: int64(given), standard: int64(standard), least: int64(least), most: int64(most), off: off,
		set:  func(value int64) { *to = S(value) },
		text: func(value int64) string { return fmt.Sprint(T(value)) },
	}
}

// switchedOff is the value of all constants that switch an option off.
const switchedOff = int64(None)

// resolve fills the setting, or says what is wrong with the option.
func (n number) resolve() error {
	switch {
	case n.given == 0:
		n.set(n.standard)
	case n.given == switchedOff && n.off != "":
		n.set(0)
	case n.given < 0 && n.off != "":
		return invalid("%s is negative (%s); the only negative value that it takes is worker.%s", n.name, n.text(n.given), n.off)
	case n.given < 0:
		return invalid("%s is negative (%s)", n.name, n.text(n.given))
	case n.given < n.least:
		return invalid("%s is %s; the least is %s", n.name, n.text(n.given), n.text(n.least))
	case n.most > 0 && n.given > n.most:
		return invalid("%s is %s; the most is %s", n.name, n.text(n.given), n.text(n.most))
	default:
		n.set(n.given)
	}
	return nil
}

// resolve returns the settings that the options ask for. Error: [ErrInvalidOptions].
func (o Options) resolve() (settings, error) {
	s := settings{
		Tags: o.Tags, ActivityRetry: o.ActivityRetry, Codec: o.Codec, Hook: o.Hook,
		Logger: o.Logger, LogApplicationErrors: o.LogApplicationErrors,
		FailMisfits: o.Code.FailMisfits, NodeID: o.Sessions.NodeID, SupportedVersions: o.SupportedVersions,
	}
	for _, n := range s.numbers(&o) {
		if err := n.resolve(); err != nil {
			return settings{}, err
		}
	}
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	if s.SupportedVersions == nil {
		own, err := provider.ParseVersion(provider.FrameworkVersion)
		if err != nil {
			return settings{}, err
		}
		s.SupportedVersions = []provider.VersionRange{{Max: own}}
	}
	if err := s.check(); err != nil {
		return settings{}, err
	}
	return s, nil
}
