package providertest

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// calls are a store's methods, one by one, so that a mutant can replace some of them.
type calls struct {
	FetchOrchestrationItem     func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error)
	AckOrchestrationItem       func(ctx context.Context, params provider.AckOrchestrationParams) error
	AbandonOrchestrationItem   func(ctx context.Context, params provider.AbandonParams) error
	RenewOrchestrationItemLock func(ctx context.Context, lockToken string, extendFor time.Duration) error
	Read                       func(ctx context.Context, instance string) ([]provider.Event, error)
	ReadWithExecution          func(ctx context.Context, instance string, executionID uint64) ([]provider.Event, error)
	AppendWithExecution        func(ctx context.Context, instance string, executionID uint64, events []provider.Event) error
	EnqueueForWorker           func(ctx context.Context, item provider.WorkItem) error
	EnqueueForOrchestrator     func(ctx context.Context, item provider.WorkItem, delay time.Duration) error
	FetchWorkItem              func(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error)
	AckWorkItem                func(ctx context.Context, lockToken string, completion provider.WorkItem) error
	RenewWorkItemLock          func(ctx context.Context, lockToken string, extendFor time.Duration) error
	AbandonWorkItem            func(ctx context.Context, params provider.AbandonParams) error
	RenewSessionLock           func(ctx context.Context, params provider.RenewSessionParams) (int, error)
	CleanupOrphanedSessions    func(ctx context.Context, idleTimeout time.Duration) (int, error)
	GetCustomStatus            func(ctx context.Context, instance string, lastSeenVersion uint64) (*provider.CustomStatus, error)
	GetKVValue                 func(ctx context.Context, instance, key string) (*string, error)
	GetKVAllValues             func(ctx context.Context, instance string) (map[string]string, error)
	GetInstanceStats           func(ctx context.Context, instance string) (*provider.InstanceStats, error)
	ListInstances              func(ctx context.Context) ([]string, error)
	ListInstancesByStatus      func(ctx context.Context, status provider.Status) ([]string, error)
	ListExecutions             func(ctx context.Context, instance string) ([]uint64, error)
	ReadHistoryWithExecutionID func(ctx context.Context, instance string, executionID uint64) ([]provider.Event, error)
	ReadHistory                func(ctx context.Context, instance string) ([]provider.Event, error)
	LatestExecutionID          func(ctx context.Context, instance string) (uint64, error)
	GetInstanceInfo            func(ctx context.Context, instance string) (provider.InstanceInfo, error)
	GetExecutionInfo           func(ctx context.Context, instance string, executionID uint64) (provider.ExecutionInfo, error)
	GetSystemMetrics           func(ctx context.Context) (provider.SystemMetrics, error)
	GetQueueDepths             func(ctx context.Context) (provider.QueueDepths, error)
	ListChildren               func(ctx context.Context, instance string) ([]string, error)
	GetParentID                func(ctx context.Context, instance string) (*string, error)
	GetInstanceTree            func(ctx context.Context, instance string) (provider.InstanceTree, error)
	DeleteInstance             func(ctx context.Context, instance string, force bool) (provider.DeleteInstanceResult, error)
	DeleteInstancesAtomic      func(ctx context.Context, instances []string, force bool) (provider.DeleteInstanceResult, error)
	DeleteInstanceBulk         func(ctx context.Context, filter provider.InstanceFilter) (provider.DeleteInstanceResult, error)
	PruneExecutions            func(ctx context.Context, instance string, options provider.PruneOptions) (provider.PruneResult, error)
	PruneExecutionsBulk        func(ctx context.Context, filter provider.InstanceFilter, options provider.PruneOptions) (provider.PruneResult, error)
	Claim                      func(ctx context.Context, params provider.ClaimParams) (provider.Claimed, error)
	AckTurnAndClaim            func(ctx context.Context, ack provider.AckOrchestrationParams, params provider.ClaimParams) (provider.Claimed, error)
	AckWorkAndClaim            func(ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams) ([]error, provider.Claimed, error)
	WorkReady                  func() (turns, activities <-chan struct{}, stop func())
	KeepHeartbeat              func(ctx context.Context, lockToken string, extendFor time.Duration, details string) error
	RenewLocks                 func(ctx context.Context, locks []provider.LockRenewal) ([]error, error)
	StartInstance              func(ctx context.Context, start provider.StartOrchestrationItem) (*provider.IDUse, error)
	FindInstance               func(ctx context.Context, instance string) (*provider.IDUse, error)
	UnknownCode                func(ctx context.Context, unknownFor time.Duration) ([]provider.UnknownCode, error)
	WaitingForCode             func(ctx context.Context, instance string, unknownFor time.Duration) ([]provider.WaitingInstance, error)
	KnownVersions              func(ctx context.Context, name string, since time.Duration) ([]string, error)
	ListHeldInstances          func(ctx context.Context) ([]provider.HeldInstance, error)
	GetHeldInstance            func(ctx context.Context, instance string) (*provider.HeldInstance, error)
	RetryHeldInstance          func(ctx context.Context, instance string) (bool, error)
	CountDeadLetters           func(ctx context.Context) (uint64, error)
	ListDeadLetters            func(ctx context.Context, query provider.DeadLetterQuery) ([]provider.DeadLetter, error)
	GetDeadLetter              func(ctx context.Context, id uint64) (*provider.DeadLetter, error)
	RequeueDeadLetter          func(ctx context.Context, id uint64) (bool, error)
	DeleteDeadLetter           func(ctx context.Context, id uint64) (bool, error)
	ListInstancePage           func(ctx context.Context, query provider.PageQuery) (provider.InstancePage, error)
	StartInstanceWith          func(ctx context.Context, start provider.StartOrchestrationItem, messages []provider.WorkItem, toUser bool) (*provider.IDUse, error)
}

// callsOf returns the methods of a store as they are.
func callsOf(p provider.Store) *calls {
	return &calls{
		FetchOrchestrationItem:     p.FetchOrchestrationItem,
		AckOrchestrationItem:       p.AckOrchestrationItem,
		AbandonOrchestrationItem:   p.AbandonOrchestrationItem,
		RenewOrchestrationItemLock: p.RenewOrchestrationItemLock,
		Read:                       p.Read,
		ReadWithExecution:          p.ReadWithExecution,
		AppendWithExecution:        p.AppendWithExecution,
		EnqueueForWorker:           p.EnqueueForWorker,
		EnqueueForOrchestrator:     p.EnqueueForOrchestrator,
		FetchWorkItem:              p.FetchWorkItem,
		AckWorkItem:                p.AckWorkItem,
		RenewWorkItemLock:          p.RenewWorkItemLock,
		AbandonWorkItem:            p.AbandonWorkItem,
		RenewSessionLock:           p.RenewSessionLock,
		CleanupOrphanedSessions:    p.CleanupOrphanedSessions,
		GetCustomStatus:            p.GetCustomStatus,
		GetKVValue:                 p.GetKVValue,
		GetKVAllValues:             p.GetKVAllValues,
		GetInstanceStats:           p.GetInstanceStats,
		ListInstances:              p.ListInstances,
		ListInstancesByStatus:      p.ListInstancesByStatus,
		ListExecutions:             p.ListExecutions,
		ReadHistoryWithExecutionID: p.ReadHistoryWithExecutionID,
		ReadHistory:                p.ReadHistory,
		LatestExecutionID:          p.LatestExecutionID,
		GetInstanceInfo:            p.GetInstanceInfo,
		GetExecutionInfo:           p.GetExecutionInfo,
		GetSystemMetrics:           p.GetSystemMetrics,
		GetQueueDepths:             p.GetQueueDepths,
		ListChildren:               p.ListChildren,
		GetParentID:                p.GetParentID,
		GetInstanceTree:            p.GetInstanceTree,
		DeleteInstance:             p.DeleteInstance,
		DeleteInstancesAtomic:      p.DeleteInstancesAtomic,
		DeleteInstanceBulk:         p.DeleteInstanceBulk,
		PruneExecutions:            p.PruneExecutions,
		PruneExecutionsBulk:        p.PruneExecutionsBulk,
		Claim:                      p.Claim,
		AckTurnAndClaim:            p.AckTurnAndClaim,
		AckWorkAndClaim:            p.AckWorkAndClaim,
		WorkReady:                  p.WorkReady,
		KeepHeartbeat:              p.KeepHeartbeat,
		RenewLocks:                 p.RenewLocks,
		StartInstance:              p.StartInstance,
		FindInstance:               p.FindInstance,
		UnknownCode:                p.UnknownCode,
		WaitingForCode:             p.WaitingForCode,
		KnownVersions:              p.KnownVersions,
		ListHeldInstances:          p.ListHeldInstances,
		GetHeldInstance:            p.GetHeldInstance,
		RetryHeldInstance:          p.RetryHeldInstance,
		CountDeadLetters:           p.CountDeadLetters,
		ListDeadLetters:            p.ListDeadLetters,
		GetDeadLetter:              p.GetDeadLetter,
		RequeueDeadLetter:          p.RequeueDeadLetter,
		DeleteDeadLetter:           p.DeleteDeadLetter,
		ListInstancePage:           p.ListInstancePage,
		StartInstanceWith:          p.StartInstanceWith,
	}
}

// broken is a store that consists of calls, and of the rest of a store.
type broken struct {
	*calls
	provider.Store
}

func (broken) Name() string            { return "broken" }
func (broken) Version() string         { return "0.0.0" }
func (b broken) Admin() provider.Admin { return b }

func (b broken) UnknownCode(ctx context.Context, unknownFor time.Duration) ([]provider.UnknownCode, error) {
	return b.calls.UnknownCode(ctx, unknownFor)
}

func (b broken) WaitingForCode(ctx context.Context, instance string, unknownFor time.Duration) ([]provider.WaitingInstance, error) {
	return b.calls.WaitingForCode(ctx, instance, unknownFor)
}

func (b broken) KnownVersions(ctx context.Context, name string, since time.Duration) ([]string, error) {
	return b.calls.KnownVersions(ctx, name, since)
}

func (b broken) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	return b.calls.FetchOrchestrationItem(ctx, params)
}

func (b broken) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	return b.calls.AckOrchestrationItem(ctx, params)
}

func (b broken) AbandonOrchestrationItem(ctx context.Context, params provider.AbandonParams) error {
	return b.calls.AbandonOrchestrationItem(ctx, params)
}

func (b broken) RenewOrchestrationItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	return b.calls.RenewOrchestrationItemLock(ctx, lockToken, extendFor)
}

func (b broken) Read(ctx context.Context, instance string) ([]provider.Event, error) {
	return b.calls.Read(ctx, instance)
}

func (b broken) ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]provider.Event, error) {
	return b.calls.ReadWithExecution(ctx, instance, executionID)
}

func (b broken) AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []provider.Event) error {
	return b.calls.AppendWithExecution(ctx, instance, executionID, events)
}

func (b broken) EnqueueForWorker(ctx context.Context, item provider.WorkItem) error {
	return b.calls.EnqueueForWorker(ctx, item)
}

func (b broken) EnqueueForOrchestrator(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
	return b.calls.EnqueueForOrchestrator(ctx, item, delay)
}

func (b broken) FetchWorkItem(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	return b.calls.FetchWorkItem(ctx, params)
}

func (b broken) AckWorkItem(ctx context.Context, lockToken string, completion provider.WorkItem) error {
	return b.calls.AckWorkItem(ctx, lockToken, completion)
}

func (b broken) RenewWorkItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	return b.calls.RenewWorkItemLock(ctx, lockToken, extendFor)
}

func (b broken) AbandonWorkItem(ctx context.Context, params provider.AbandonParams) error {
	return b.calls.AbandonWorkItem(ctx, params)
}

func (b broken) RenewSessionLock(ctx context.Context, params provider.RenewSessionParams) (int, error) {
	return b.calls.RenewSessionLock(ctx, params)
}

func (b broken) CleanupOrphanedSessions(ctx context.Context, idleTimeout time.Duration) (int, error) {
	return b.calls.CleanupOrphanedSessions(ctx, idleTimeout)
}

func (b broken) GetCustomStatus(ctx context.Context, instance string, lastSeenVersion uint64) (*provider.CustomStatus, error) {
	return b.calls.GetCustomStatus(ctx, instance, lastSeenVersion)
}

func (b broken) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	return b.calls.GetKVValue(ctx, instance, key)
}

func (b broken) GetKVAllValues(ctx context.Context, instance string) (map[string]string, error) {
	return b.calls.GetKVAllValues(ctx, instance)
}

func (b broken) GetInstanceStats(ctx context.Context, instance string) (*provider.InstanceStats, error) {
	return b.calls.GetInstanceStats(ctx, instance)
}

func (b broken) Claim(ctx context.Context, params provider.ClaimParams) (provider.Claimed, error) {
	return b.calls.Claim(ctx, params)
}

func (b broken) AckTurnAndClaim(ctx context.Context, ack provider.AckOrchestrationParams, params provider.ClaimParams) (provider.Claimed, error) {
	return b.calls.AckTurnAndClaim(ctx, ack, params)
}

func (b broken) AckWorkAndClaim(ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams) ([]error, provider.Claimed, error) {
	return b.calls.AckWorkAndClaim(ctx, acks, params)
}

func (b broken) WorkReady() (turns, activities <-chan struct{}, stop func()) {
	return b.calls.WorkReady()
}

func (b broken) KeepHeartbeat(ctx context.Context, lockToken string, extendFor time.Duration, details string) error {
	return b.calls.KeepHeartbeat(ctx, lockToken, extendFor, details)
}

func (b broken) RenewLocks(ctx context.Context, locks []provider.LockRenewal) ([]error, error) {
	return b.calls.RenewLocks(ctx, locks)
}

func (b broken) ListInstances(ctx context.Context) ([]string, error) {
	return b.calls.ListInstances(ctx)
}

func (b broken) ListInstancesByStatus(ctx context.Context, status provider.Status) ([]string, error) {
	return b.calls.ListInstancesByStatus(ctx, status)
}

func (b broken) ListExecutions(ctx context.Context, instance string) ([]uint64, error) {
	return b.calls.ListExecutions(ctx, instance)
}

func (b broken) ReadHistoryWithExecutionID(ctx context.Context, instance string, executionID uint64) ([]provider.Event, error) {
	return b.calls.ReadHistoryWithExecutionID(ctx, instance, executionID)
}

func (b broken) ReadHistory(ctx context.Context, instance string) ([]provider.Event, error) {
	return b.calls.ReadHistory(ctx, instance)
}

func (b broken) LatestExecutionID(ctx context.Context, instance string) (uint64, error) {
	return b.calls.LatestExecutionID(ctx, instance)
}

func (b broken) GetInstanceInfo(ctx context.Context, instance string) (provider.InstanceInfo, error) {
	return b.calls.GetInstanceInfo(ctx, instance)
}

func (b broken) GetExecutionInfo(ctx context.Context, instance string, executionID uint64) (provider.ExecutionInfo, error) {
	return b.calls.GetExecutionInfo(ctx, instance, executionID)
}

func (b broken) GetSystemMetrics(ctx context.Context) (provider.SystemMetrics, error) {
	return b.calls.GetSystemMetrics(ctx)
}

func (b broken) GetQueueDepths(ctx context.Context) (provider.QueueDepths, error) {
	return b.calls.GetQueueDepths(ctx)
}

func (b broken) ListChildren(ctx context.Context, instance string) ([]string, error) {
	return b.calls.ListChildren(ctx, instance)
}

func (b broken) GetParentID(ctx context.Context, instance string) (*string, error) {
	return b.calls.GetParentID(ctx, instance)
}

func (b broken) GetInstanceTree(ctx context.Context, instance string) (provider.InstanceTree, error) {
	return b.calls.GetInstanceTree(ctx, instance)
}

func (b broken) DeleteInstance(ctx context.Context, instance string, force bool) (provider.DeleteInstanceResult, error) {
	return b.calls.DeleteInstance(ctx, instance, force)
}

func (b broken) DeleteInstancesAtomic(ctx context.Context, instances []string, force bool) (provider.DeleteInstanceResult, error) {
	return b.calls.DeleteInstancesAtomic(ctx, instances, force)
}

func (b broken) DeleteInstanceBulk(ctx context.Context, filter provider.InstanceFilter) (provider.DeleteInstanceResult, error) {
	return b.calls.DeleteInstanceBulk(ctx, filter)
}

func (b broken) PruneExecutions(ctx context.Context, instance string, options provider.PruneOptions) (provider.PruneResult, error) {
	return b.calls.PruneExecutions(ctx, instance, options)
}

func (b broken) PruneExecutionsBulk(ctx context.Context, filter provider.InstanceFilter, options provider.PruneOptions) (provider.PruneResult, error) {
	return b.calls.PruneExecutionsBulk(ctx, filter, options)
}

func (b broken) ListHeldInstances(ctx context.Context) ([]provider.HeldInstance, error) {
	return b.calls.ListHeldInstances(ctx)
}

func (b broken) ListInstancePage(ctx context.Context, query provider.PageQuery) (provider.InstancePage, error) {
	return b.calls.ListInstancePage(ctx, query)
}

func (b broken) GetHeldInstance(ctx context.Context, instance string) (*provider.HeldInstance, error) {
	return b.calls.GetHeldInstance(ctx, instance)
}

func (b broken) RetryHeldInstance(ctx context.Context, instance string) (bool, error) {
	return b.calls.RetryHeldInstance(ctx, instance)
}

func (b broken) CountDeadLetters(ctx context.Context) (uint64, error) {
	return b.calls.CountDeadLetters(ctx)
}

func (b broken) ListDeadLetters(ctx context.Context, query provider.DeadLetterQuery) ([]provider.DeadLetter, error) {
	return b.calls.ListDeadLetters(ctx, query)
}

func (b broken) GetDeadLetter(ctx context.Context, id uint64) (*provider.DeadLetter, error) {
	return b.calls.GetDeadLetter(ctx, id)
}

func (b broken) RequeueDeadLetter(ctx context.Context, id uint64) (bool, error) {
	return b.calls.RequeueDeadLetter(ctx, id)
}

func (b broken) DeleteDeadLetter(ctx context.Context, id uint64) (bool, error) {
	return b.calls.DeleteDeadLetter(ctx, id)
}

func (b broken) StartInstance(ctx context.Context, start provider.StartOrchestrationItem) (*provider.IDUse, error) {
	return b.calls.StartInstance(ctx, start)
}

func (b broken) FindInstance(ctx context.Context, instance string) (*provider.IDUse, error) {
	return b.calls.FindInstance(ctx, instance)
}

func (b broken) StartInstanceWith(
	ctx context.Context, start provider.StartOrchestrationItem, messages []provider.WorkItem, toUser bool,
) (*provider.IDUse, error) {
	return b.calls.StartInstanceWith(ctx, start, messages, toUser)
}
