package columns

// HolderOperations are those that whoever holds a lock token makes. An error of theirs that is permanent says that what
// is held is at fault: the orchestration fails, the activity is cancelled.
var HolderOperations = []string{
	"ack_orchestration_item", "renew_orchestration_item_lock", "abandon_orchestration_item",
	"ack_work_item", "renew_work_item_lock", "keep_heartbeat", "abandon_work_item", "renew_locks",
}
