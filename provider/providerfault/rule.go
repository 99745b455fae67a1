package providerfault

import (
	"sync"

	"github.com/duroxide/duroxide-go/provider"
)

// Operation names a method of provider.Provider the way errors and metrics do.
type Operation string

// The operations.
const (
	FetchOrchestrationItem     Operation = "fetch_orchestration_item"
	AckOrchestrationItem       Operation = "ack_orchestration_item"
	AbandonOrchestrationItem   Operation = "abandon_orchestration_item"
	RenewOrchestrationItemLock Operation = "renew_orchestration_item_lock"
	Read                       Operation = "read"
	ReadWithExecution          Operation = "read_with_execution"
	AppendWithExecution        Operation = "append_with_execution"
	EnqueueForWorker           Operation = "enqueue_for_worker"
	EnqueueForOrchestrator     Operation = "enqueue_for_orchestrator"
	FetchWorkItem              Operation = "fetch_work_item"
	AckWorkItem                Operation = "ack_work_item"
	RenewWorkItemLock          Operation = "renew_work_item_lock"
	AbandonWorkItem            Operation = "abandon_work_item"
	RenewSessionLock           Operation = "renew_session_lock"
	CleanupOrphanedSessions    Operation = "cleanup_orphaned_sessions"
	GetCustomStatus            Operation = "get_custom_status"
	GetKVValue                 Operation = "get_kv_value"
	GetKVAllValues             Operation = "get_kv_all_values"
	GetInstanceStats           Operation = "get_instance_stats"
	LostWorkItems              Operation = "lost_work_items"
	KeepHeartbeat              Operation = "keep_heartbeat"
	ReadProgress               Operation = "read_progress"
)

// Call is a call that a rule may apply to, with what is known of it.
type Call struct {
	Operation Operation
	// Instance is the instance a read is about, or an item is addressed to.
	Instance string
	// LockToken is the token an ack, abandon or renewal presents.
	LockToken string
	// Item is what is enqueued, or an activity's completion, which may be nil.
	Item provider.WorkItem
	// Turn holds the effects of AckOrchestrationItem.
	Turn *provider.AckOrchestrationParams
}

// Rule says what happens to some calls.
type Rule struct {
	// Operation is the method the rule is about; empty is every method.
	Operation Operation
	// If narrows the rule to certain calls; nil is all. It is called under a lock and
	// must not call the store.
	If func(call Call) bool
	// Skip lets that many calls through first.
	Skip int
	// Times ends the rule after that many calls; 0 is never.
	Times int
	Fault
}

// script finds the rule for a call. It is safe for concurrent use.
type script struct {
	mu    sync.Mutex
	rules []*activeRule
	calls map[Operation]int
}

type activeRule struct {
	Rule
	// seen counts the calls that the rule is about.
	seen int
}

func (s *script) add(rules []Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rule := range rules {
		s.rules = append(s.rules, &activeRule{Rule: rule})
	}
}

// next counts the call and returns what is to happen to it: the fault of the first
// rule that is in force for it. Every rule that is about the call counts it.
func (s *script) next(call Call) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[call.Operation]++
	var fault Fault
	found := false
	for _, rule := range s.rules {
		if rule.about(call) {
			rule.seen++
			if !found && rule.inForce() {
				fault, found = rule.Fault, true
			}
		}
	}
	return fault
}

func (s *script) count(operation Operation) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[operation]
}

func (r *activeRule) about(call Call) bool {
	return (r.Operation == "" || r.Operation == call.Operation) && (r.If == nil || r.If(call))
}

// inForce is for the call just counted.
func (r *activeRule) inForce() bool {
	return r.seen > r.Skip && (r.Times == 0 || r.seen <= r.Skip+r.Times)
}
