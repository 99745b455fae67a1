package sysview

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

func listLocks(c *Context) ([]*Lock, error) {
	if c.Activity == nil {
		return nil, nil
	}
	return c.Activity.Locks(), nil
}

const lockColumns = `
	resource_type nvarchar(60), resource_subtype nvarchar(60), resource_database_id int
	resource_description nvarchar(256), resource_associated_entity_id bigint?, resource_lock_partition int = 0
	request_mode nvarchar(60), request_type nvarchar(60) = 'LOCK', request_status nvarchar(60)
	request_reference_count smallint, request_lifetime int = 0, request_session_id int
	request_exec_context_id int = 0, request_request_id int = 0, request_owner_type nvarchar(60)
	request_owner_id bigint?, request_owner_guid uniqueidentifier? = NULL, request_owner_lockspace_id nvarchar(32) = ''
	lock_owner_address varbinary(8) = NULL`

var lockRow = getters[*Lock]{
	"resource_type":                 func(l *Lock) Value { return str(l.Type) },
	"resource_subtype":              func(l *Lock) Value { return str(l.Subtype) },
	"resource_database_id":          func(l *Lock) Value { return databaseID(l.Database) },
	"resource_description":          func(l *Lock) Value { return str(l.Description) },
	"resource_associated_entity_id": func(l *Lock) Value { return number(l.Entity) },
	"request_mode":                  func(l *Lock) Value { return str(l.Mode) },
	"request_status":                func(l *Lock) Value { return str(l.Status) },
	"request_reference_count":       func(l *Lock) Value { return number(l.Count) },
	"request_session_id":            func(l *Lock) Value { return number(l.Session) },
	"request_owner_type":            func(l *Lock) Value { return str(l.Owner) },
	"request_owner_id":              func(l *Lock) Value { return number(l.TransactionID) },
}

// transaction is a row of the views of transactions.
type transaction struct {
	*Transaction
	c *Context
}

func listTransactions(c *Context) ([]transaction, error) {
	if c.Activity == nil {
		return nil, nil
	}
	var list []transaction
	for _, t := range c.Activity.Transactions() {
		list = append(list, transaction{t, c})
	}
	return list, nil
}

// ofUsers leaves out what statements have begun by themselves.
func ofUsers(c *Context) ([]transaction, error) {
	all, err := listTransactions(c)
	var list []transaction
	for _, t := range all {
		if !t.Implicit {
			list = append(list, t)
		}
	}
	return list, err
}

// transactionKind is 1 for one that writes and 2 for one that only reads.
func transactionKind(t transaction) Value {
	if t.Writes {
		return number(1)
	}
	return number(2)
}

var transactionRow = getters[transaction]{
	"transaction_id":         func(t transaction) Value { return number(t.ID) },
	"session_id":             func(t transaction) Value { return number(t.Session) },
	"transaction_descriptor": func(t transaction) Value { return value.OfBytes(fixed(t.ID)) },
	"is_snapshot":            func(t transaction) Value { return flag(t.Snapshot) },
	"open_transaction_count": func(t transaction) Value {
		if s := t.c.Activity.Session(t.Session); s != nil {
			return number(s.OpenTransactions)
		}
		return number(1)
	},
	"name": func(t transaction) Value {
		if t.Name == "" {
			return str("user_transaction")
		}
		return str(t.Name)
	},
	"transaction_begin_time":          func(t transaction) Value { return moment(t.Began) },
	"transaction_type":                transactionKind,
	"database_id":                     func(t transaction) Value { return databaseID(t.Database) },
	"database_transaction_begin_time": func(t transaction) Value { return moment(t.Began) },
	"database_transaction_type":       transactionKind,
	"transaction_sequence_num":        func(t transaction) Value { return number(t.ID) },
	"elapsed_time_seconds":            func(t transaction) Value { return number(int64(t.c.Now.Sub(t.Began).Seconds())) },
}

// fixed is a number as eight bytes, the lowest first.
func fixed(n int64) []byte {
	b := make([]byte, 8)
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
	return b
}

func lockViews() []*View {
	return []*View{
		relation("sys.dm_tran_locks", lockColumns, requires(serverState, listLocks), lockRow),
		relation("sys.dm_tran_session_transactions", `
			session_id int, transaction_id bigint, transaction_descriptor binary(8), enlist_count int = 0
			is_user_transaction bit = 1, is_local bit = 1, is_enlisted bit = 0, is_bound bit = 0, open_transaction_count int`,
			requires(serverState, ofUsers), transactionRow),
		relation("sys.dm_tran_active_transactions", `
			transaction_id bigint, name nvarchar(32), transaction_begin_time datetime, transaction_type int
			transaction_uow uniqueidentifier? = NULL, transaction_state int = 2, transaction_status int = 0
			transaction_status2 int = 0, dtc_state int = 0, dtc_status int = 0, dtc_isolation_level int = -1
			filestream_transaction_id varbinary(128)? = NULL`, requires(serverState, listTransactions), transactionRow),
		relation("sys.dm_tran_database_transactions", `
			transaction_id bigint, database_id int, database_transaction_begin_time datetime?
			database_transaction_type int, database_transaction_state int = 4, database_transaction_status int = 0
			database_transaction_log_record_count bigint = 0, database_transaction_log_bytes_used bigint = 0`,
			requires(serverState, listTransactions), transactionRow),
		relation("sys.dm_tran_active_snapshot_database_transactions", `
			transaction_id bigint, transaction_sequence_num bigint, commit_sequence_num bigint? = NULL, session_id int
			is_snapshot bit, first_snapshot_sequence_num bigint? = NULL, max_version_chain_traversed int = 0
			average_version_chain_traversed real = 0, elapsed_time_seconds bigint`,
			requires(serverState, func(c *Context) ([]transaction, error) {
				all, err := listTransactions(c)
				var list []transaction
				for _, t := range all {
					if t.Snapshot {
						list = append(list, t)
					}
				}
				return list, err
			}), transactionRow),
	}
}
