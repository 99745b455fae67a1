package worker

import (
	"context"
	"errors"
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// notices are the answers to parents that tried to start a child under this instance's
// id: without one each would wait for ever. They go out with whatever settles the batch
// (contract §7.5, colliding child starts). An error is logged and means that the turn must be
// tried again.
func (t *turn) notices(ctx context.Context) ([]provider.WorkItem, error) {
	if n := t.batch().Ignored(); n > 0 {
		t.logger.WarnContext(ctx, "starts of an instance that has begun are ignored", "starts", n)
	}
	refused, text := t.batch().Refused()
	var notices []provider.WorkItem
	for _, m := range refused {
		notice, err := t.notice(ctx, m, text)
		if err != nil {
			return nil, err
		}
		if notice != nil {
			notices = append(notices, notice)
		}
	}
	return notices, nil
}

// notice tells a parent that its child's id is taken; nil when nobody waits.
func (t *turn) notice(ctx context.Context, m provider.StartOrchestrationItem, text string) (provider.WorkItem, error) {
	item := provider.SubOrchFailedItem{
		ParentInstance: *m.ParentInstance, ParentID: *m.ParentID,
		Details: provider.ApplicationFailure{Kind: provider.AppOrchestrationFailed, Message: text},
	}
	if m.ParentExecutionID != nil {
		item.ParentExecutionID = *m.ParentExecutionID
	}
	message, err := t.addressParent(ctx, item)
	if message != nil {
		t.logger.WarnContext(ctx, "a sub-orchestration is not started, its id is taken",
			"parent_instance", item.ParentInstance, "parent_event_id", item.ParentID)
	}
	return message, err
}

// ackNoticing is ack with the notices added. A parent's id that the store refuses must
// not cost this instance its turn: then it is committed without them.
func (t *turn) ackNoticing(ctx context.Context, params provider.AckOrchestrationParams, notices []provider.WorkItem) error {
	own := params.OrchestratorItems
	params.OrchestratorItems = slices.Concat(own, notices)
	err := t.ack(ctx, params)
	if len(notices) > 0 && errors.Is(err, provider.ErrInvalidArgument) {
		params.OrchestratorItems = own
		err = t.ack(ctx, params)
	}
	return err
}
