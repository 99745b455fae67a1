package worker

import (
	"context"
	"errors"
	"slices"

	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/provider"
)

// notices are the answers to parents that tried to start a child under this instance's
// id: without one each would wait for ever. They go out with whatever settles the batch
// (contract §7.5, colliding child starts). An error is logged and means that the turn must be
// tried again.
func (t *turn) notices(ctx context.Context) ([]provider.WorkItem, error) {
	if n := t.ignored(); n > 0 {
		t.logger.WarnContext(ctx, "starts of an instance that has begun are ignored", "starts", n)
	}
	colliding := t.colliding()
	if len(colliding) == 0 {
		return nil, nil
	}
	owner, text := t.existing()
	var notices []provider.WorkItem
	for _, m := range colliding {
		if t.repeats(owner, m) {
			continue
		}
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

// colliding are the starts of the batch that have a parent, but for the one that the
// instance begins with.
func (t *turn) colliding() []provider.StartOrchestrationItem {
	begins := len(t.item.History) == 0 && t.continueItem() == nil
	var starts []provider.StartOrchestrationItem
	for _, message := range t.item.Messages {
		m, ok := message.(provider.StartOrchestrationItem)
		if ok && !begins && m.ParentInstance != nil && m.ParentID != nil {
			starts = append(starts, m)
		}
		begins = begins && !ok
	}
	return starts
}

// ignored counts the starts of an instance that has begun and not ended.
func (t *turn) ignored() (n int) {
	if len(t.item.History) == 0 || t.end() == ended {
		return 0
	}
	for _, message := range t.item.Messages {
		if _, start := message.(provider.StartOrchestrationItem); start {
			n++
		}
	}
	return n
}

// existing is what a colliding start meets: the beginning of the instance as it is now,
// and the text for a parent whose child it is not. Of a finished instance nobody is the
// parent any more.
func (t *turn) existing() (provider.OrchestrationStarted, string) {
	text := history.TakenText(t.item.Instance)
	if t.end() != ended {
		b, _ := t.begin() // an error means that there is no beginning
		return b.started, text
	}
	if !continuedBefore(t.item.History) {
		text += history.TakenByFinished
	}
	return provider.OrchestrationStarted{}, text
}

// continuedBefore reports a history that an older worker ended with poison behind
// continue-as-new.
func continuedBefore(events []provider.Event) bool {
	for _, event := range events {
		if _, ok := event.Kind.(provider.OrchestrationContinuedAsNew); ok {
			return true
		}
	}
	return false
}

// repeats reports whether a start is the very call that the instance came from. Of a
// running instance that is only known by the parent stamps; two starts that arrive
// together are also compared without.
func (t *turn) repeats(owner provider.OrchestrationStarted, m provider.StartOrchestrationItem) bool {
	if owner.ParentInstance == nil || owner.ParentID == nil || *owner.ParentInstance != *m.ParentInstance || *owner.ParentID != *m.ParentID {
		return false
	}
	if owner.ParentExecutionID == nil || m.ParentExecutionID == nil {
		return len(t.item.History) == 0 && owner.ParentExecutionID == m.ParentExecutionID
	}
	return *owner.ParentExecutionID == *m.ParentExecutionID
}

// notice tells a parent that its child's id is taken; nil when nobody waits.
func (t *turn) notice(ctx context.Context, m provider.StartOrchestrationItem, text string) (provider.WorkItem, error) {
	item := provider.SubOrchFailedItem{
		ParentInstance: *m.ParentInstance, ParentID: *m.ParentID,
		Details: provider.Application{Kind: provider.AppOrchestrationFailed, Message: text},
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
