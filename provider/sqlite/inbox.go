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

// send stores a message, visible after delay and not before its own time. The
// caller refreshes the inbox, once for all messages of an instance.
//
// A timer's due time comes from the runtime's clock, which in this store is the
// clock of the same host, so it can be taken as it is (§2.1).
func (t *tx) send(ctx context.Context, m columns.Message, delay int64) error {
	code, err := t.codeID(ctx, m.Code)
	if err != nil {
		return err
	}
	return t.EnqueueMessage(ctx, sqlitedb.EnqueueMessageParams{
		InstanceID: m.Instance,
		Kind:       m.Kind,
		CodeID:     code,
		WorkItem:   m.Body,
		VisibleAt:  max(m.NotBefore, t.now+delay),
		CreatedAt:  t.now,
	})
}

// refresh stores anew whether the instance may be fetched (§5.1), and notes for the
// rest of the process what has come of it.
func (t *tx) refresh(ctx context.Context, instance string) error {
	inbox, err := t.RefreshInbox(ctx, &t.now, instance)
	if errors.Is(err, sql.ErrNoRows) {
		// Leased, or without messages: nothing to answer.
		return nil
	}
	if err != nil {
		return err
	}
	if inbox.HeadID != nil {
		t.instances = append(t.instances, instance)
		t.ready.instances.lower(inbox.VersionID, inbox.CodeID, *inbox.HeadID)
	}
	if inbox.WakeAt != nil {
		t.wakeInstance(*inbox.WakeAt)
	}
	return nil
}
