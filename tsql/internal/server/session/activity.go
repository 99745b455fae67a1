package session

import (
	"cmp"
	"fmt"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/sysview"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// activity tells the views what goes on in the server.
type activity struct{ s *Session }

// Self is the session that asks.
func (a activity) Self() int { return int(a.s.id) }

// Sessions are all sessions by their numbers.
func (a activity) Sessions() []*sysview.Session {
	a.s.server.observer.LookedAtAll()
	var list []*sysview.Session
	for _, s := range a.s.server.Sessions() {
		list = append(list, s.described())
	}
	return list
}

// Session is one of them; nil if there is none.
func (a activity) Session(id int) *sysview.Session {
	if s := a.s.server.sessions[schedule.ID(id)]; s != nil {
		if s != a.s {
			s.server.observer.LookedAtAll()
		}
		return s.described()
	}
	return nil
}

// wait is what the session waits for; nil if it does not wait.
func (s *Session) wait() *sysview.Wait {
	if i, ok := s.store.Client().Waiting(); ok {
		return sysview.WaitOf(i)
	}
	if !s.sleeps.IsZero() {
		return &sysview.Wait{Type: "WAITFOR", Since: s.sleeps}
	}
	if a, ok := s.server.waiting[s.id]; ok {
		return s.waitsAlone(a)
	}
	return nil
}

// waitsAlone is a wait until no other session is in a database.
func (s *Session) waitsAlone(a alone) *sysview.Wait {
	w := &sysview.Wait{Type: "LCK_M_X", Since: a.since, Resource: fmt.Sprintf("DATABASE: %d:0", a.db.ID)}
	for _, other := range s.server.Sessions() {
		if other != s && other.db == a.db {
			w.BlockedBy = int(other.id)
			break
		}
	}
	return w
}

// levels number the isolation levels as the views do.
var levels = map[store.Isolation]int{
	store.ReadUncommitted: 1, store.ReadCommitted: 2, store.RepeatableRead: 3, store.Serializable: 4, store.SnapshotIsolation: 5,
}

// described is the session as the views have it.
func (s *Session) described() *sysview.Session {
	out := &sysview.Session{
		ID: int(s.id), Login: s.Login(), Original: s.login, Encrypted: s.encrypted, Database: s.db,
		LoginTime: s.opened, Host: s.host, Program: s.app,
		Isolation: levels[s.options.isolation], LockTimeout: s.options.lockTimeout, DeadlockPriority: s.options.deadlockPriority,
		RowCount: s.rowCount, LastError: s.lastError, OpenTransactions: s.transaction.count, TransactionID: s.store.TransactionID(),
		DateFirst: s.options.dateFirst, TextSize: int(s.options.textSize), Language: s.options.language, DateFormat: s.options.dateFormat,
		IsOn: func(option string) bool { return s.Option(option) == "ON" }, Context: s.info, LastText: s.text, RequestStart: s.began,
		LogicalReads: s.store.Reads(),
	}
	if s.executing {
		out.Request = &sysview.Request{Command: commandOf(s.at), Text: s.text, Wait: s.wait()}
	}
	return out
}

// commandOf names the statement that a session executes, as sys.dm_exec_requests does.
func commandOf(stmt syntax.Stmt) string {
	if _, ok := stmt.(*syntax.Waitfor); ok {
		return "WAITFOR"
	}
	return cmp.Or(kindOf(stmt), "EXECUTE")
}

// Locks are all that are held or waited for, and the lock that every session has on its database.
func (a activity) Locks() []*sysview.Lock {
	a.s.server.observer.LookedAtAll()
	var list []*sysview.Lock
	for _, s := range a.s.server.Sessions() {
		list = append(list, &sysview.Lock{
			Session: int(s.id), Type: "DATABASE", Database: s.db, Mode: lock.S.String(), Status: string(lock.StatusGrant),
			Owner: "SHARED_TRANSACTION_WORKSPACE", Count: 1,
		})
	}
	for _, i := range a.s.server.engine.Locks().List() {
		l := sysview.LockOf(i, a.s.server.catalog)
		if s := a.s.server.sessions[i.Session]; s != nil && i.Owner == lock.ByTransaction {
			l.TransactionID = s.store.TransactionID()
		}
		list = append(list, l)
	}
	return list
}

// Transactions are the open ones.
func (a activity) Transactions() []*sysview.Transaction {
	a.s.server.observer.LookedAtAll()
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
