package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// An inbox is the stored answer to "may this instance be fetched?". Every
// transaction that adds or removes a message, ends a lease, or changes an instance
// or its execution calls refresh for the instances concerned, once, after
// everything else. The rules themselves stand in RefreshInbox, in SQL; that they
// are the contract's is what TestInboxesFollowTheRules checks.

// deliver stores a message, as send does, and refreshes the inbox.
func (t *tx) deliver(ctx context.Context, m columns.Message, delay int64) error {
	messages := []columns.Message{m}
	id, err := t.send(ctx, messages, delay)
	if err != nil {
		return err
	}
	return t.receive(ctx, messages, id, delay)
}

// deliverEach delivers visible messages, those of an instance together.
func (t *tx) deliverEach(ctx context.Context, messages []columns.Message) error {
	for len(messages) > 0 {
		var these, others []columns.Message
		for _, m := range messages {
			if m.Instance == messages[0].Instance {
				these = append(these, m)
			} else {
				others = append(others, m)
			}
		}
		first, err := t.send(ctx, these, 0)
		if err != nil {
			return err
		}
		if err := t.receive(ctx, these, first, 0); err != nil {
			return err
		}
		messages = others
	}
	return nil
}

// send stores messages, each visible after delay and not before its own time, and returns the
// first one's id: the others' follow one by one. The caller refreshes the inboxes, each once
// for all messages of an instance.
//
// A timer's due time comes from the runtime's clock, which in this store is the
// clock of the same host, so it can be taken as it is (contract §2.1).
func (t *tx) send(ctx context.Context, messages []columns.Message, delay int64) (first int64, err error) {
	rows := make([]sqlitedb.EnqueueMessageParams, len(messages))
	if err := t.lineUp(ctx, messages); err != nil {
		return 0, err
	}
	for i, m := range messages {
		code, err := t.codeID(ctx, m.Code)
		if err != nil {
			return 0, err
		}
		payload, err := t.payloadOf(ctx, m.Apart)
		if err != nil {
			return 0, err
		}
		rows[i] = sqlitedb.EnqueueMessageParams{
			InstanceID: m.Instance,
			Kind:       m.Kind,
			Queue:      m.Queue,
			CodeID:     code,
			WorkItem:   m.Body,
			PayloadID:  payload,
			VisibleAt:  max(m.NotBefore, t.now+delay),
			CreatedAt:  t.now,
		}
	}
	return addRows(ctx, t, enqueueMessages, rows, t.EnqueueMessage)
}

// receive refreshes the inbox that messages of one instance were sent to, the first with an id and
// the others with the next, at little cost where it can.
func (t *tx) receive(ctx context.Context, messages []columns.Message, first, delay int64) error {
	instance := messages[0].Instance
	if waits(messages) {
		t.drop(instance) // the inbox stays as it is
		return nil
	}
	for _, m := range messages {
		if m.Kind == columns.KindWaiting {
			return t.refresh(ctx, instance)
		}
		if max(m.NotBefore, t.now+delay) > t.now || m.Kind == columns.KindStart || m.Kind == columns.KindContinueAsNew {
			return t.refresh(ctx, instance)
		}
	}
	if done, err := t.keepMessages(ctx, messages, first); done || err != nil {
		return err
	}
	inbox, err := t.ReceiveMessage(ctx, first, instance)
	if errors.Is(err, sql.ErrNoRows) {
		return t.refresh(ctx, instance)
	}
	if err == nil {
		t.fetchable(instance, inbox.VersionID, inbox.CodeID, inbox.HeadID)
	}
	return err
}

// refresh stores anew whether the instance may be fetched (contract §5.1), and notes for the
// rest of the process what has come of it.
func (t *tx) refresh(ctx context.Context, instance string) error {
	t.drop(instance)
	inbox, err := t.RefreshInbox(ctx, &t.now, instance)
	if errors.Is(err, sql.ErrNoRows) {
		// Leased, or without messages: nothing to answer.
		return nil
	}
	if err == nil {
		t.refreshed(instance, inbox)
	}
	return err
}

// refreshed notes what has come of an instance's refreshed inbox.
func (t *tx) refreshed(instance string, inbox sqlitedb.RefreshInboxRow) {
	t.fetchable(instance, inbox.VersionID, inbox.CodeID, inbox.HeadID)
	if inbox.WakeAt != nil {
		t.wakeInstance(*inbox.WakeAt)
	}
}

// fetchable notes for the rest of the process that an instance may be fetched if it has a
// head.
func (t *tx) fetchable(instance string, version, code int64, head *int64) {
	if head != nil {
		t.instances = append(t.instances, instance)
		t.ready.instances.lower(version, code, *head)
	}
}
