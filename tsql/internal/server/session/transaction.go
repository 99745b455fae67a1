package session

import (
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// transaction is the session's transaction, if count is not 0.
type transaction struct {
	count      int    // @@TRANCOUNT
	doomed     bool   // it can only be rolled back
	descriptor uint64 // what the client calls it
	name       string // of the outermost BEGIN
	savepoints []savepoint
	snapshot   bool // it began under SNAPSHOT
	began      time.Time
}

type savepoint struct {
	name string
	at   store.Savepoint
}

// statement is the execution of one statement, as far as it reads or writes. It has a transaction of its own if the
// session has none.
type statement struct {
	outer *statement
	store *store.Statement // nil until the statement first touches rows
	auto  bool             // the transaction is the statement's own
	now   time.Time        // what GETDATE and its like return in all of the statement; zero until one is asked
}

// begin begins a statement. Most touch no rows, so whatever costs something waits for [Session.Statement].
func (s *Session) begin() *statement {
	if n := len(s.spare); n > 0 {
		st := s.spare[n-1]
		s.spare = s.spare[:n-1]
		*st = statement{outer: s.current}
		s.current = st
	} else {
		s.current = &statement{outer: s.current}
	}
	return s.current
}

// Statement is the present statement's access to rows.
func (s *Session) Statement() *store.Statement {
	st := s.current
	if st.store == nil {
		if !s.store.InTransaction() {
			st.auto = true
			s.store.Begin(s.options.isolation)
			if s.options.implicitTransactions {
				st.auto = false
				s.adopt("")
			}
		}
		o := store.StatementOptions{
			Isolation: s.options.isolation, RowVersions: s.db.ReadCommittedSnapshot, Optimized: s.db.OptimizedLocking,
		}
		if o.Isolation == store.SnapshotIsolation {
			o.Admit = s.admitSnapshot
		}
		st.store = s.store.Statement(s.ctx, o)
	}
	return st.store
}

// admitSnapshot checks that a statement may use a table under SNAPSHOT isolation. SET of that level is never refused:
// it is the first look at a table that is.
func (s *Session) admitSnapshot(t *store.Table) error {
	if s.transaction.count > 0 && !s.transaction.snapshot {
		return fault.New(3951, t.DatabaseName)
	}
	if db := s.server.catalog.DatabaseByID(t.Database); db != nil && !db.AllowSnapshot {
		return fault.New(3952, db.Name)
	}
	return nil
}

// end ends a statement: its effects stay, or are undone if there is an error. The caller forgets it.
func (s *Session) end(st *statement, err error) error {
	rows, auto := st.store, st.auto
	s.current, s.spare = st.outer, append(s.spare, st)
	if rows != nil {
		rows.End(err)
		s.touch(rows.Counts())
		rows.Forget()
	}
	if auto && s.store.InTransaction() {
		if err != nil {
			s.store.Rollback()
		} else {
			s.commitStore()
		}
	}
	return err
}

// adopt says that the store's transaction is the session's from now on.
func (s *Session) adopt(name string) {
	s.transaction = transaction{count: 1, name: name, began: s.server.now(), snapshot: s.options.isolation == store.SnapshotIsolation, descriptor: uint64(s.store.TransactionID())}
	s.tell(func(sink request.Sink) error { return sink.TransactionBegan(s.transaction.descriptor) })
}

func (s *Session) commitStore() {
	s.server.scheduler.Yield(s.id, schedule.Point{Kind: "commit"})
	switch logged := s.store.Commit(); {
	case logged && s.delayed:
		s.server.delayed.Add(1)
	case logged:
		s.server.commits.Add(1)
	}
}

// beginTransaction is BEGIN TRANSACTION.
func (s *Session) beginTransaction(name string) error {
	if s.transaction.count > 0 {
		if s.transaction.doomed {
			return fault.New(3930)
		}
		s.transaction.count++
		return nil
	}
	if !s.store.InTransaction() {
		s.store.Begin(s.options.isolation)
	}
	s.adopt(name)
	return nil
}

// commit is COMMIT TRANSACTION, which ends only the outermost.
func (s *Session) commit() error {
	switch {
	case s.transaction.count == 0:
		return fault.New(3902)
	case s.transaction.doomed:
		return fault.New(3930)
	case s.transaction.count > 1:
		s.transaction.count--
		return nil
	}
	descriptor := s.transaction.descriptor
	s.transaction = transaction{}
	s.closeCursors(false)
	s.commitStore()
	s.tell(func(sink request.Sink) error { return sink.TransactionCommitted(descriptor) })
	return nil
}

// rollback ends the transaction, if there is one, and undoes it.
func (s *Session) rollback() {
	descriptor, open := s.transaction.descriptor, s.transaction.count > 0
	s.transaction = transaction{}
	if s.store.InTransaction() {
		s.store.Rollback()
	}
	if open {
		s.closeCursors(true)
		s.tell(func(sink request.Sink) error { return sink.TransactionRolledBack(descriptor) })
	}
}

// rollbackTo is ROLLBACK TRANSACTION with a name: that of a savepoint, or of the outermost BEGIN.
func (s *Session) rollbackTo(name string) error {
	if s.transaction.count == 0 {
		return fault.New(3903)
	}
	for i, p := range slices.Backward(s.transaction.savepoints) {
		if p.name != name {
			continue
		}
		if s.transaction.doomed {
			return fault.New(3931)
		}
		s.store.RollbackTo(p.at)
		s.transaction.savepoints = s.transaction.savepoints[:i+1]
		return nil
	}
	if name != s.transaction.name { // the case counts, whatever the collation
		return fault.New(6401, name)
	}
	s.rollback()
	return nil
}

// save is SAVE TRANSACTION.
func (s *Session) save(name string) error {
	switch {
	case s.transaction.count == 0:
		return fault.New(628)
	case s.transaction.doomed:
		return fault.New(3931)
	}
	s.transaction.savepoints = append(s.transaction.savepoints, savepoint{name, s.store.Save()})
	return nil
}

// maxTransactionName is how many characters of the name of a transaction or a savepoint count.
const maxTransactionName = 32

func (s *Session) transactionStatement(st *syntax.Transaction) error {
	s.rowCount = 0
	name := st.Name
	if len(name) > 1 && name[0] == '@' {
		a := s.top()
		v := a.unit.variables[fold(name)]
		if v == nil {
			return fault.New(137, name)
		}
		name = a.frame.Variables[v.Slot].Str()
	}
	name = string([]rune(name)[:min(maxTransactionName, len([]rune(name)))])
	switch st.Verb {
	case "BEGIN":
		if st.Distributed {
			return s.unsupported(s.top().unit, st.Span, "a distributed transaction")
		}
		implicit := s.options.implicitTransactions && s.transaction.count == 0
		err := s.beginTransaction(name)
		if err == nil && implicit {
			s.transaction.count++ // it is the second one: the statement itself has begun the first
		}
		return err
	case "COMMIT":
		if s.out.into != nil && s.transaction.count <= s.out.into.transactions {
			return fault.New(3916)
		}
		s.delayed = st.Delayed
		defer func() { s.delayed = false }()
		return s.commit()
	case "SAVE":
		return s.save(name)
	}
	if s.out.into != nil {
		return fault.New(3915)
	}
	if name != "" {
		return s.rollbackTo(name)
	}
	if s.transaction.count == 0 {
		return fault.New(3903)
	}
	s.rollback()
	return nil
}

// manage executes a request of the client's driver that begins or ends a transaction.
func (s *Session) manage(r request.Transaction) error {
	var err error
	switch r.Verb {
	case "BEGIN":
		if r.Isolation != "" {
			s.setIsolation(r.Isolation)
		}
		err = s.beginTransaction(r.Name)
	case "COMMIT":
		err = s.commit()
	case "ROLLBACK":
		switch {
		case r.Name != "":
			err = s.rollbackTo(r.Name)
		case s.transaction.count == 0:
			err = fault.New(3903)
		default:
			s.rollback()
		}
	case "SAVE":
		err = s.save(r.Name)
	}
	if err == nil && r.Begin {
		err = s.beginTransaction("")
	}
	if err != nil {
		return s.refuse(err)
	}
	return nil
}
