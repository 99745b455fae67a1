package columns

import (
	"fmt"

	"github.com/duroxide/duroxide-go/provider"
)

// The operations whose lock tokens are those of activities.
const (
	ackWork     = "ack_work_item"
	abandonWork = "abandon_work_item"
	renewWork   = "renew_work_item_lock"
	heartbeat   = "keep_heartbeat"
)

// Closed is what every call on a closed store returns.
func Closed(operation string) error {
	return provider.Permanent(operation, "store is closed: open it again to go on", provider.ErrClosed)
}

// InvalidToken is a token that nobody holds.
func InvalidToken(operation string) error {
	return provider.Permanent(operation, InvalidTokenText(operation), provider.ErrInvalidLockToken)
}

// InvalidTokenText says, after the phrase that contract §2.3 fixes, what may have become of a
// token that nobody holds.
func InvalidTokenText(operation string) string {
	switch operation {
	case abandonWork:
		return "Invalid lock token or already acked: the activity was cancelled, acknowledged, or somebody else has it"
	case ackWork, renewWork, heartbeat:
		return "Invalid lock token: the activity was cancelled, was already acknowledged, or its lock expired and somebody else has it"
	}
	return "Invalid lock token: the turn was already acknowledged or abandoned, its lease ended and somebody else has the instance, or the instance was deleted"
}

// LockExpired is a token whose lease has ended.
func LockExpired(operation string) error {
	return provider.Permanent(operation, LockExpiredText(operation), provider.ErrLockExpired)
}

// LockExpiredText says, after the phrase that contract §2.3 fixes, what follows from a lease that
// has ended.
func LockExpiredText(operation string) string {
	switch operation {
	case abandonWork, ackWork, renewWork, heartbeat:
		return "Activity lock expired: the activity took longer than its lease and will be delivered again"
	}
	return "Instance lock expired: the turn took longer than its lease; its messages will be delivered again"
}

// InstanceNotFound is an instance without a row. The text begins as contract §6.2 says.
func InstanceNotFound(operation, instance string) error {
	return provider.Permanent(operation, fmt.Sprintf("Instance %s not found", instance), provider.ErrNotFound)
}

// ExecutionNotFound is an execution without a row (contract §6.9).
func ExecutionNotFound(operation, instance string, executionID uint64) error {
	return provider.Permanent(operation,
		fmt.Sprintf("Execution %d not found for instance %s", executionID, instance), provider.ErrNotFound)
}

// SubOrchestration is a child where a deletion takes a root (contract §6.15).
func SubOrchestration(operation, instance string) error {
	return provider.Permanent(operation, fmt.Sprintf(
		"Cannot delete sub-orchestration %s directly. Delete root instance instead.", instance),
		provider.ErrSubOrchestration)
}

// StillRunning is a running instance in a deletion without force (contract §6.16).
func StillRunning(operation, instance string) error {
	return provider.Permanent(operation, fmt.Sprintf(
		"Instance %s is still running. Use force=true to delete anyway, or cancel first.", instance),
		provider.ErrStillRunning)
}

// OrphanedChild is a child that a deletion would leave without its parent (contract §6.16).
func OrphanedChild(operation, child, parent string) error {
	return provider.Permanent(operation, fmt.Sprintf(
		"Instance %s is a child of %s and not in the list: it would be orphaned. Fetch the instance tree again and retry.",
		child, parent), provider.ErrOrphanedChild)
}
