package worker

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/leases"
)

// check names the first option that cannot work.
func (o Options) check() error {
	for _, check := range []func() error{o.checkNegative, o.checkSlots, o.checkPairs, o.checkFilters, o.checkNode, o.checkRetry} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// invalid is the error of one option, or of several that contradict each other.
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalidOptions, fmt.Sprintf(format, args...))
}

// checkNegative refuses negative values, but -1 where that has a meaning.
func (o Options) checkNegative() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"OrchestrationLockTimeout", o.OrchestrationLockTimeout},
		{"OrchestrationRenewalBuffer", o.OrchestrationRenewalBuffer},
		{"ActivityLockTimeout", o.ActivityLockTimeout},
		{"ActivityRenewalBuffer", o.ActivityRenewalBuffer},
		{"PollTimeout", o.PollTimeout},
		{"UnknownCodeTimeout", o.UnknownCodeTimeout},
		{"UnregisteredBackoff", o.UnregisteredBackoff},
		{"UnregisteredBackoffMax", o.UnregisteredBackoffMax},
		{"CancellationGracePeriod", o.CancellationGracePeriod},
		{"SessionLockTimeout", o.SessionLockTimeout},
		{"SessionRenewalBuffer", o.SessionRenewalBuffer},
		{"SessionIdleTimeout", o.SessionIdleTimeout},
		{"SessionCleanupInterval", o.SessionCleanupInterval},
	} {
		if d.value < 0 {
			return invalid("%s is negative (%v)", d.name, d.value)
		}
	}
	if o.BlockedTimeout > 0 && o.BlockedTimeout < time.Millisecond {
		return invalid("BlockedTimeout (%v) is shorter than a millisecond; every function would count as blocked", o.BlockedTimeout)
	}
	if o.MaxSessions < 0 {
		return invalid("MaxSessions is negative (%d)", o.MaxSessions)
	}
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"OrchestrationConcurrency", int64(o.OrchestrationConcurrency)},
		{"ActivityConcurrency", int64(o.ActivityConcurrency)},
		{"MaxTurnActions", int64(o.MaxTurnActions)},
		{"MaxHistoryEvents", int64(o.MaxHistoryEvents)},
		{"MaxHistoryBytes", int64(o.MaxHistoryBytes)},
		{"MaxNesting", int64(o.MaxNesting)},
		{"CachedInstances", int64(o.CachedInstances)},
		{"CachedBytes", int64(o.CachedBytes)},
		{"BlockedTimeout", int64(o.BlockedTimeout)},
		{"QuietTime", int64(o.QuietTime)},
		{"CancellationPoll", int64(o.CancellationPoll)},
		{"ShutdownTimeout", int64(o.ShutdownTimeout)},
	} {
		if n.value < -1 {
			return invalid("%s is negative (%d); only -1 has a meaning", n.name, n.value)
		}
	}
	return nil
}

// maxSlots is how many turns or activities one worker may run at a time: a slot takes some
// kilobytes before it has any work.
const maxSlots = 100_000

// checkSlots refuses a worker without work, and one that would take all memory.
func (o Options) checkSlots() error {
	for _, n := range []struct {
		name  string
		slots int
	}{
		{"OrchestrationConcurrency", o.OrchestrationConcurrency},
		{"ActivityConcurrency", o.ActivityConcurrency},
	} {
		if n.slots > maxSlots {
			return invalid("%s is %d; a worker runs %d at the most", n.name, n.slots, maxSlots)
		}
	}
	if o.OrchestrationConcurrency < 0 && o.ActivityConcurrency < 0 {
		return invalid("OrchestrationConcurrency (%d) and ActivityConcurrency (%d) leave the worker nothing to run",
			o.OrchestrationConcurrency, o.ActivityConcurrency)
	}
	if o.OrchestrationConcurrency < 0 && o.Tags.Mode() == provider.TagNone {
		return invalid("OrchestrationConcurrency (%d) and Tags, which select no activities, leave the worker nothing to run",
			o.OrchestrationConcurrency)
	}
	return nil
}

// checkPairs refuses durations that contradict each other.
func (o Options) checkPairs() error {
	if o.UnregisteredBackoffMax < o.UnregisteredBackoff {
		return invalid("UnregisteredBackoffMax (%v) is shorter than UnregisteredBackoff (%v)", o.UnregisteredBackoffMax, o.UnregisteredBackoff)
	}
	for _, lease := range []struct {
		name            string
		timeout, buffer time.Duration
	}{
		{"Orchestration", o.OrchestrationLockTimeout, o.OrchestrationRenewalBuffer},
		{"Activity", o.ActivityLockTimeout, o.ActivityRenewalBuffer},
		{"Session", o.SessionLockTimeout, o.SessionRenewalBuffer},
	} {
		if lease.timeout < time.Millisecond {
			return invalid("%sLockTimeout (%v) is shorter than a millisecond, which is what stores count in", lease.name, lease.timeout)
		}
		// A shorter lease is renewed at half time, whatever the buffer.
		if lease.timeout >= leases.Buffered && lease.buffer >= lease.timeout {
			return invalid("%sRenewalBuffer (%v) must be shorter than %sLockTimeout (%v)", lease.name, lease.buffer, lease.name, lease.timeout)
		}
	}
	// A session must not count as idle while one of its activities runs, and
	// activity is only noted when its lease is renewed (contract §7.1).
	if renewal := leases.Interval(o.ActivityLockTimeout, o.ActivityRenewalBuffer); o.SessionIdleTimeout <= renewal {
		return invalid("SessionIdleTimeout (%v) must exceed the interval at which activities are renewed (%v)",
			o.SessionIdleTimeout, renewal)
	}
	return nil
}

// maxNodeID is how long a NodeID may be, in bytes: it fits every store.
const maxNodeID = 256

// checkNode refuses a NodeID that a store would refuse whenever the worker asks for activities.
func (o Options) checkNode() error {
	switch {
	case len(o.NodeID) > maxNodeID:
		return invalid("NodeID has %d bytes; at most %d are allowed", len(o.NodeID), maxNodeID)
	case !utf8.ValidString(o.NodeID) || strings.ContainsRune(o.NodeID, 0):
		return invalid("NodeID %q must be valid UTF-8 without NUL", o.NodeID)
	}
	return nil
}

// checkRetry refuses a policy that makes no sense.
func (o Options) checkRetry() error {
	if o.ActivityRetry == nil {
		return nil
	}
	if err := o.ActivityRetry.Validate(); err != nil {
		return invalid("ActivityRetry: %v", err)
	}
	return nil
}

// checkFilters refuses version ranges that hold nothing.
func (o Options) checkFilters() error {
	if len(o.SupportedVersions) == 0 && o.OrchestrationConcurrency > 0 {
		return invalid("SupportedVersions is empty, so the worker would run no orchestration; leave it nil for the default")
	}
	for _, r := range o.SupportedVersions {
		if r.Max.Compare(r.Min) < 0 {
			return invalid("SupportedVersions has a range that ends (%s) before it begins (%s)", r.Max, r.Min)
		}
	}
	return nil
}

// isNil reports a store that is nil or an interface around a nil pointer.
func isNil(store provider.Provider) bool {
	if store == nil {
		return true
	}
	value := reflect.ValueOf(store)
	return value.Kind() == reflect.Pointer && value.IsNil()
}

// limit turns an option into one of package replay, where 0 is no limit.
func limit(option int) int { return max(0, min(option, math.MaxInt32)) }
