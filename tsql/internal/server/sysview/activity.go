package sysview

import (
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
)

// Activity is what goes on in the server.
type Activity interface {
	// Self is the number of the session that asks.
	Self() int
	// Sessions returns all sessions by their numbers, and Session one of them; it is nil if there is none.
	Sessions() []*Session
	Session(id int) *Session
	// Locks returns every lock that is held or waited for.
	Locks() []*Lock
	// Transactions returns the open transactions, in the order in which they began.
	Transactions() []*Transaction
}

// Session is a connection.
type Session struct {
	ID                              int
	Login                           *schema.Login // who acts
	Original                        *schema.Login // who has connected
	Encrypted                       bool
	Database                        *schema.Database
	LoginTime                       time.Time
	RequestStart, RequestEnd        time.Time // of the last one; End is zero before the first has ended
	Host, Program, Library, Address string
	Isolation                       int           // 1 READ UNCOMMITTED to 5 SNAPSHOT
	LockTimeout                     time.Duration // negative: none
	DeadlockPriority                int
	RowCount                        int64
	LastError                       int32
	OpenTransactions                int // @@TRANCOUNT
	TransactionID                   int64
	LogicalReads, Reads, Writes     int64
	DateFirst                       int
	TextSize                        int
	Language, DateFormat            string
	// IsOn says of SET options by their names whether they are on: "ANSI_NULLS", "XACT_ABORT", … Nil: none is.
	IsOn func(option string) bool
	// Context is CONTEXT_INFO.
	Context []byte
	Request *Request // nil between two requests
	// LastText is the text of the last request.
	LastText string
}

// Request is what a session executes.
type Request struct {
	ID      int
	Command string // "SELECT", "EXECUTE", …
	Text    string // of the batch or of the module
	Wait    *Wait  // nil unless the session waits
}

// Wait is what a session waits for.
type Wait struct {
	Type     string // "LCK_M_S", "WAITFOR", …
	Since    time.Time
	Resource string // as wait_resource has it: "KEY: 5:72057594045 (8194443284a0)"
	// Description is the resource as sys.dm_os_waiting_tasks has it: "keylock hobtid=72057594045 dbid=5 …".
	Description string
	BlockedBy   int // the session that holds what is waited for; 0 if none does
}

// Lock is a lock that is held or waited for.
type Lock struct {
	Session       int
	Type          string // "DATABASE", "OBJECT", "KEY", "RID", "PAGE", "HOBT", "METADATA", "APPLICATION"
	Subtype       string
	Database      *schema.Database
	Description   string // which key of the index, or which name of an application lock
	Entity        int64  // the id of an object; of a key, the [HoBT] of its index
	Mode          string // "S", "RangeS-U", "Sch-M", …
	Status        string // "GRANT", "CONVERT", "WAIT"
	Owner         string // "TRANSACTION", "SESSION", "SHARED_TRANSACTION_WORKSPACE", …
	TransactionID int64
	Count         int // how often it was asked for
}

// Transaction is an open transaction.
type Transaction struct {
	ID       int64
	Session  int
	Name     string // "user_transaction" unless it has one
	Began    time.Time
	Database *schema.Database
	Implicit bool // begun by a statement, not by BEGIN TRANSACTION
	Writes   bool
	Snapshot bool
}

// HoBT is the number of the heap or B-tree that an index is, by which locks name it. It stands for partition ids too,
// as every index has one partition.
func HoBT(object, index int32) int64 {
	const first = 1 << 56 // SQL Server's user tables begin there
	return first + int64(object)<<8 + int64(index)
}
