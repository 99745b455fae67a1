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

// check names the first options that contradict each other, or that a store would refuse.
func (s *settings) check() error {
	for _, check := range []func() error{s.checkSlots, s.checkPairs, s.checkFilters, s.checkNode, s.checkRetry} {
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

// checkSlots refuses a worker without work.
func (s *settings) checkSlots() error {
	if s.OrchestrationConcurrency == 0 && s.ActivityConcurrency == 0 {
		return invalid("OrchestrationConcurrency and ActivityConcurrency are both None, which leaves the worker nothing to run")
	}
	if s.OrchestrationConcurrency == 0 && s.Tags.Mode() == provider.TagNone {
		return invalid("OrchestrationConcurrency is None and Tags select no activities, which leaves the worker nothing to run")
	}
	return nil
}

// checkPairs refuses durations that contradict each other.
func (s *settings) checkPairs() error {
	if s.UnregisteredBackoffMax < s.UnregisteredBackoff {
		return invalid("Code.MaxBackoff (%v) is shorter than Code.Backoff (%v)", s.UnregisteredBackoffMax, s.UnregisteredBackoff)
	}
	for _, lease := range []struct {
		name, bufferName string
		timeout, buffer  time.Duration
	}{
		{"Leases.Orchestration", "Leases.OrchestrationRenewalBuffer", s.OrchestrationLockTimeout, s.OrchestrationRenewalBuffer},
		{"Leases.Activity", "Leases.ActivityRenewalBuffer", s.ActivityLockTimeout, s.ActivityRenewalBuffer},
		{"Sessions.Lease", "Sessions.RenewalBuffer", s.SessionLockTimeout, s.SessionRenewalBuffer},
	} {
		// A shorter lease is renewed at half time, whatever the buffer.
		if lease.timeout >= leases.Buffered && lease.buffer >= lease.timeout {
			return invalid("%s (%v) must be shorter than %s (%v)", lease.bufferName, lease.buffer, lease.name, lease.timeout)
		}
	}
	// A session must not count as idle while one of its activities runs, and
	// activity is only noted when its lease is renewed (contract §7.1).
	if renewal := leases.Interval(s.ActivityLockTimeout, s.ActivityRenewalBuffer); s.SessionIdleTimeout <= renewal {
		return invalid("Sessions.IdleTimeout (%v) must exceed the interval at which activities are renewed (%v)",
			s.SessionIdleTimeout, renewal)
	}
	return nil
}

// maxNodeID is how long a NodeID may be, in bytes: it fits every store.
const maxNodeID = 256

// checkNode refuses a NodeID that a store would refuse whenever the worker asks for activities.
func (s *settings) checkNode() error {
	switch {
	case len(s.NodeID) > maxNodeID:
		return invalid("Sessions.NodeID has %d bytes; at most %d are allowed", len(s.NodeID), maxNodeID)
	case !utf8.ValidString(s.NodeID) || strings.ContainsRune(s.NodeID, 0):
		return invalid("Sessions.NodeID %q must be valid UTF-8 without NUL", s.NodeID)
	}
	return nil
}

// checkRetry refuses a policy that makes no sense.
func (s *settings) checkRetry() error {
	if s.ActivityRetry == nil {
		return nil
	}
	if err := s.ActivityRetry.Validate(); err != nil {
		return invalid("ActivityRetry: %v", err)
	}
	return nil
}

// checkFilters refuses version ranges that hold nothing.
func (s *settings) checkFilters() error {
	if len(s.SupportedVersions) == 0 && s.OrchestrationConcurrency > 0 {
		return invalid("SupportedVersions is empty, so the worker would run no orchestration; leave it nil for the default")
	}
	for _, r := range s.SupportedVersions {
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
func limit(option int) int { return min(option, math.MaxInt32) }
