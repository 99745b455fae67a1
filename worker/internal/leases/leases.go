// Package leases renews the locks of work while a worker works on it, and says when a lock is lost.
//
// [Hold] keeps one lease alive until [Lease.Stop]. A [Group] renews leases in one call that are due at about the same
// time. Neither knows what the lease is of: a turn, or an activity.
//
// Files: lease.go (one lease: when it is renewed, and when it counts as lost), together.go (a Group).
package leases

import "time"

// Buffered is the shortest lease that is renewed a buffer before its end.
const Buffered = 15 * time.Second

// Interval returns how long after a lease was taken it is renewed: the buffer before its end for a lease of at least
// 15 s, half of it for a shorter one. Unlike the reference it does not round up to seconds, which would renew short
// leases too late (contract §7.1).
func Interval(timeout, buffer time.Duration) time.Duration {
	if timeout >= Buffered {
		return max(time.Second, timeout-buffer)
	}
	return max(time.Millisecond, timeout/2)
}
