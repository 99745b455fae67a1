package session

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsqltest/internal/lock"
	"github.com/duroxide/duroxide-go/tsqltest/internal/schema"
	"github.com/duroxide/duroxide-go/tsqltest/internal/store"
	"github.com/duroxide/duroxide-go/tsqltest/internal/sysview"
)

// activity tells the views what goes on in the server.
type activity struct{ s *Session }

// Self is the session that asks.
func (a activity) Self() int { return int(a.s.id) }

// Sessions are all sessions by their numbers.
func (a activity) Sessions() []*sysview.Session {
	waits := a.waits()
	var list []*sysview.Session
	for _, s := range a.s.server.Sessions() {
		list = append(list, s.described(waits[int(s.id)]))
	}
	return list
}

// Session is one of them; nil if there is none.
func (a activity) Session(id int) *sysview.Session {
	for _, s := range a.Sessions() {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// waits are what sessions wait for, by their numbers.
func (a activity) waits() map[int]*sysview.Wait {
	waits := map[int]*sysview.Wait{}
	for _, l := range a.s.server.engine.Locks().List() {
		if l.Status == lock.StatusGrant {
			continue
		}
		waits[int(l.Session)] = &sysview.Wait{
			Type: "LCK_M_" + strings.ReplaceAll(l.Mode.String(), "-", "_"), Since: a.s.server.now(),
			Resource: sysview.WaitResource(l.Resource), BlockedBy: int(l.Blocker),
		}
	}
	return waits
}

// levels number the isolation levels as the views do.
var levels = map[store.Isolation]int{
	store.ReadUncommitted: 1, store.ReadCommitted: 2, store.RepeatableRead: 3, store.Serializable: 4, store.SnapshotIsolation: 5,
}

// described is the session as the views have it.
func (s *Session) described(wait *sysview.Wait) *sysview.Session {
	options := map[string]bool{}
	for _, name := range []string{"ANSI_NULLS", "ANSI_PADDING", "ANSI_WARNINGS", "ARITHABORT", "CONCAT_NULL_YIELDS_NULL", "QUOTED_IDENTIFIER", "XACT_ABORT", "NOCOUNT"} {
		options[name] = s.Option(name) == "ON"
	}
	out := &sysview.Session{
		ID: int(s.id), Login: s.Login(), Original: s.login, Database: s.db, LoginTime: s.opened, Host: s.host, Program: s.app,
		Isolation: levels[s.options.isolation], LockTimeout: s.options.lockTimeout, DeadlockPriority: s.options.deadlockPriority,
		RowCount: s.rowCount, LastError: s.lastError, OpenTransactions: s.transaction.count, TransactionID: s.store.TransactionID(),
		DateFirst: s.options.dateFirst, TextSize: int(s.options.textSize), Language: s.options.language, DateFormat: s.options.dateFormat,
		Options: options, Context: s.info, LastText: s.text, RequestStart: s.began,
		LogicalReads: s.store.Reads(),
	}
	if s.executing {
		out.Request = &sysview.Request{Command: "EXECUTE", Text: s.text, Wait: wait}
	}
	return out
}

// Locks are all that are held or waited for.
func (a activity) Locks() []*sysview.Lock {
	var list []*sysview.Lock
	for _, l := range a.s.server.engine.Locks().List() {
		list = append(list, sysview.LockOf(l, a.s.server.catalog))
	}
	return list
}

// Transactions are the open ones.
func (a activity) Transactions() []*sysview.Transaction {
	var list []*sysview.Transaction
	for _, s := range a.s.server.Sessions() {
		if s.transaction.count == 0 {
			continue
		}
		name := s.transaction.name
		if name == "" {
			name = "user_transaction"
		}
		list = append(list, &sysview.Transaction{
			ID: s.store.TransactionID(), Session: int(s.id), Name: name, Began: s.transaction.began, Database: s.db,
			Snapshot: s.transaction.snapshot,
		})
	}
	return list
}

// owner is who owns an object.
func owner(o schema.Object) *schema.Principal {
	if h := o.Head(); h.Owner != nil {
		return h.Owner
	}
	return o.Head().Schema.Owner
}
