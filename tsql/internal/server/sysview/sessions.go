package sysview

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// installed stands for when something was made that has always been there.
var installed = time.Date(2022, 10, 8, 6, 31, 57, 0, time.UTC)

// session is a row of sys.dm_exec_sessions and of its relatives.
type session struct {
	*Session
	c *Context
}

// listSessions lists all sessions, or for who may not see the others, the own one.
func listSessions(c *Context) ([]session, error) {
	if c.Activity == nil {
		return nil, nil
	}
	if !c.mayServer() {
		if own := c.Activity.Session(c.Activity.Self()); own != nil {
			return []session{{own, c}}, nil
		}
		return nil, nil
	}
	var list []session
	for _, s := range c.Activity.Sessions() {
		list = append(list, session{s, c})
	}
	return list, nil
}

// findSession lists the session of a number, if keep is nil or true for it.
func findSession(keep func(s session) bool) func(c *Context, id Value) ([]session, error) {
	return func(c *Context, id Value) ([]session, error) {
		if c.Activity == nil || !c.mayServer() && int(id.Int()) != c.Activity.Self() {
			return nil, nil
		}
		found := c.Activity.Session(int(id.Int()))
		if found == nil || keep != nil && !keep(session{found, c}) {
			return nil, nil
		}
		return []session{{found, c}}, nil
	}
}

// only lists the sessions for which keep is true.
func only(keep func(s session) bool) func(c *Context) ([]session, error) {
	return func(c *Context) ([]session, error) {
		list, err := listSessions(c)
		return slices.DeleteFunc(list, func(s session) bool { return !keep(s) }), err
	}
}

func isExecuting(s session) bool { return s.Request != nil }

func isWaiting(s session) bool { return s.Request != nil && s.Request.Wait != nil }

// status is what a session does.
func (s session) status() string {
	switch {
	case s.Request == nil:
		return "sleeping"
	case s.Request.Wait != nil:
		return "suspended"
	default:
		return "running"
	}
}

// option reads a SET option.
func (s session) option(name string) Value { return flag(s.IsOn != nil && s.IsOn(name)) }

// elapsed is how long the session has been at its request, or was at the last one.
func (s session) elapsed() time.Duration {
	end := s.RequestEnd
	if s.Request != nil {
		end = s.c.Now
	}
	if end.Before(s.RequestStart) {
		return 0
	}
	return end.Sub(s.RequestStart)
}

// wait is what a session waits for; all zero if it doesn't.
func (s session) wait() Wait {
	if !isWaiting(s) {
		return Wait{}
	}
	return *s.Request.Wait
}

func (s session) waited() Value {
	if !isWaiting(s) {
		return number(0)
	}
	return milliseconds(s.c.Now.Sub(s.Request.Wait.Since))
}

// handle stands for a text: the number of the session that executes it.
func handle(id int) Value {
	b := make([]byte, 20)
	b[0] = 2
	binary.BigEndian.PutUint64(b[12:], uint64(id))
	return value.OfBytes(b)
}

// fromHandle finds the session that a handle stands for; 0 for none.
func fromHandle(v Value) int {
	if v.IsNull() || len(v.Bytes()) != 20 {
		return 0
	}
	return int(binary.BigEndian.Uint64(v.Bytes()[12:]))
}

// lockTimeout is SET LOCK_TIMEOUT: -1 for none.
func lockTimeout(d time.Duration) Value {
	if d < 0 {
		return number(-1)
	}
	return milliseconds(d)
}

func databaseID(db *schema.Database) Value {
	if db == nil {
		return number(0)
	}
	return number(db.ID)
}

// sessionRow has the columns of dm_exec_sessions, dm_exec_requests and dm_exec_connections together.
var sessionRow = getters[session]{
	"session_id":                  func(s session) Value { return number(s.ID) },
	"login_time":                  func(s session) Value { return moment(s.LoginTime) },
	"host_name":                   func(s session) Value { return orNull(s.Host) },
	"program_name":                func(s session) Value { return orNull(s.Program) },
	"client_interface_name":       func(s session) Value { return orNull(s.Library) },
	"security_id":                 func(s session) Value { return value.OfBytes(s.Login.Identifier()) },
	"login_name":                  func(s session) Value { return str(s.Login.Name) },
	"status":                      func(s session) Value { return str(s.status()) },
	"context_info":                func(s session) Value { return value.OfBytes(s.Context) },
	"total_elapsed_time":          func(s session) Value { return milliseconds(s.elapsed()) },
	"last_request_start_time":     func(s session) Value { return moment(s.RequestStart) },
	"last_request_end_time":       func(s session) Value { return moment(s.RequestEnd) },
	"start_time":                  func(s session) Value { return moment(s.RequestStart) },
	"reads":                       func(s session) Value { return number(s.Reads) },
	"writes":                      func(s session) Value { return number(s.Writes) },
	"logical_reads":               func(s session) Value { return number(s.LogicalReads) },
	"text_size":                   func(s session) Value { return number(s.TextSize) },
	"language":                    func(s session) Value { return orNull(s.Language) },
	"date_format":                 func(s session) Value { return orNull(s.DateFormat) },
	"date_first":                  func(s session) Value { return number(s.DateFirst) },
	"quoted_identifier":           func(s session) Value { return s.option("QUOTED_IDENTIFIER") },
	"arithabort":                  func(s session) Value { return s.option("ARITHABORT") },
	"ansi_null_dflt_on":           func(s session) Value { return s.option("ANSI_NULL_DFLT_ON") },
	"ansi_defaults":               func(s session) Value { return s.option("ANSI_DEFAULTS") },
	"ansi_warnings":               func(s session) Value { return s.option("ANSI_WARNINGS") },
	"ansi_padding":                func(s session) Value { return s.option("ANSI_PADDING") },
	"ansi_nulls":                  func(s session) Value { return s.option("ANSI_NULLS") },
	"concat_null_yields_null":     func(s session) Value { return s.option("CONCAT_NULL_YIELDS_NULL") },
	"transaction_isolation_level": func(s session) Value { return number(s.Isolation) },
	"lock_timeout":                func(s session) Value { return lockTimeout(s.LockTimeout) },
	"deadlock_priority":           func(s session) Value { return number(s.DeadlockPriority) },
	"row_count":                   func(s session) Value { return number(s.RowCount) },
	"prev_error":                  func(s session) Value { return number(s.LastError) },
	"database_id":                 func(s session) Value { return databaseID(s.Database) },
	"open_transaction_count":      func(s session) Value { return number(s.OpenTransactions) },
	"transaction_id":              func(s session) Value { return number(s.TransactionID) },
	"client_net_address":          func(s session) Value { return orNull(s.Address) },
	"most_recent_session_id":      func(s session) Value { return number(s.ID) },
	"encrypt_option":              func(s session) Value { return str(strings.ToUpper(strconv.FormatBool(s.Encrypted))) },
	"connect_time":                func(s session) Value { return moment(s.LoginTime) },
	"most_recent_sql_handle":      func(s session) Value { return handle(s.ID) },
	"last_read":                   func(s session) Value { return moment(s.RequestStart) },
	"last_write":                  func(s session) Value { return moment(s.RequestEnd) },
	"request_id":                  func(s session) Value { return number(s.Request.ID) },
	"command":                     func(s session) Value { return str(s.Request.Command) },
	"sql_handle":                  func(s session) Value { return handle(s.ID) },
	"user_id":                     func(session) Value { return number(1) },
	"blocking_session_id":         func(s session) Value { return number(s.wait().BlockedBy) },
	"wait_type":                   func(s session) Value { return orNull(s.wait().Type) },
	"wait_time":                   session.waited,
	"wait_resource":               func(s session) Value { return str(s.wait().Resource) },
	// Of dm_os_waiting_tasks.
	"wait_duration_ms":     session.waited,
	"resource_description": func(s session) Value { return orNull(s.wait().Description) },
	"waiting_task_address": func(s session) Value { return handle(s.ID) },
	"blocking_task_address": func(s session) Value {
		if s.wait().BlockedBy == 0 {
			return Value{}
		}
		return handle(s.wait().BlockedBy)
	},
}

// waitingRow tells that nobody is in the way by NULL, where dm_exec_requests has 0.
var waitingRow = getters[session]{
	"blocking_session_id": func(s session) Value { return optional(s.wait().BlockedBy) },
}

const sessionColumns = `
	session_id smallint, login_time datetime, host_name nvarchar(128)?, program_name nvarchar(128)?
	host_process_id int? = NULL, client_version int? = 7, client_interface_name nvarchar(32)?, security_id varbinary(85)
	login_name nvarchar(128), nt_domain nvarchar(128)? = NULL, nt_user_name nvarchar(128)? = NULL, status nvarchar(30)
	context_info varbinary(128)?, cpu_time int = 0, memory_usage int = 0, total_scheduled_time int = 0
	total_elapsed_time int, endpoint_id int = 4, last_request_start_time datetime, last_request_end_time datetime?
	reads bigint, writes bigint, logical_reads bigint, is_user_process bit = 1, text_size int, language nvarchar(128)?
	date_format nvarchar(3)?, date_first smallint, quoted_identifier bit, arithabort bit, ansi_null_dflt_on bit
	ansi_defaults bit, ansi_warnings bit, ansi_padding bit, ansi_nulls bit, concat_null_yields_null bit
	transaction_isolation_level smallint, lock_timeout int, deadlock_priority int, row_count bigint, prev_error int
	original_security_id varbinary(85), original_login_name nvarchar(128), last_successful_logon datetime? = NULL
	last_unsuccessful_logon datetime? = NULL, unsuccessful_logons bigint? = NULL, group_id int = 2, database_id smallint
	authenticating_database_id int? = 1, open_transaction_count int, page_server_reads bigint = 0`

const requestColumns = `
	session_id smallint, request_id int, start_time datetime, status nvarchar(30), command nvarchar(32)
	sql_handle varbinary(64)?, statement_start_offset int? = 0, statement_end_offset int? = -1
	plan_handle varbinary(64)? = NULL, database_id smallint, user_id int, connection_id uniqueidentifier? = NULL
	blocking_session_id smallint?, wait_type nvarchar(60)?, wait_time int, last_wait_type nvarchar(60)
	wait_resource nvarchar(256), open_transaction_count int, open_resultset_count int = 1, transaction_id bigint
	context_info varbinary(128)?, percent_complete real = 0, estimated_completion_time bigint = 0, cpu_time int = 0
	total_elapsed_time int, scheduler_id int? = 0, task_address varbinary(8)? = NULL, reads bigint, writes bigint
	logical_reads bigint, text_size int, language nvarchar(128)?, date_format nvarchar(3)?, date_first smallint
	quoted_identifier bit, arithabort bit, ansi_null_dflt_on bit, ansi_defaults bit, ansi_warnings bit, ansi_padding bit
	ansi_nulls bit, concat_null_yields_null bit, transaction_isolation_level smallint, lock_timeout int
	deadlock_priority int, row_count bigint, prev_error int, nest_level int = 0, granted_query_memory int = 0
	executing_managed_code bit = 0, group_id int = 2, query_hash binary(8)? = NULL, query_plan_hash binary(8)? = NULL
	statement_sql_handle varbinary(64)? = NULL, statement_context_id bigint? = NULL, dop int = 1
	parallel_worker_count int? = NULL, external_script_request_id uniqueidentifier? = NULL, is_resumable bit = 0
	page_resource binary(8)? = NULL, page_server_reads bigint = 0, dist_statement_id uniqueidentifier? = NULL`

const connectionColumns = `
	session_id int?, most_recent_session_id int?, connect_time datetime, net_transport nvarchar(40) = 'TCP'
	protocol_type nvarchar(40)? = 'TSQL', protocol_version int? = 1946157060, endpoint_id int? = 4
	encrypt_option nvarchar(40), auth_scheme nvarchar(40) = 'SQL', node_affinity smallint = 0
	num_reads int? = NULL, num_writes int? = NULL, last_read datetime?, last_write datetime?
	net_packet_size int? = 4096, client_net_address varchar(48)?, client_tcp_port int? = NULL
	local_net_address varchar(48)? = NULL, local_tcp_port int? = NULL, connection_id uniqueidentifier? = NULL
	parent_connection_id uniqueidentifier? = NULL, most_recent_sql_handle varbinary(64)?`

const processColumns = `
	spid smallint, kpid smallint = 0, blocked smallint, waittype binary(2), waittime bigint, lastwaittype nchar(32)
	waitresource nchar(256), dbid smallint, uid smallint, cpu int = 0, physical_io bigint, memusage int = 0
	login_time datetime, last_batch datetime, ecid smallint = 0, open_tran smallint, status nchar(30)
	sid binary(86)?, hostname nchar(128), program_name nchar(128), hostprocess nchar(10) = '', cmd nchar(26)
	nt_domain nchar(128) = '', nt_username nchar(128) = '', net_address nchar(12) = '', net_library nchar(12) = 'TCP/IP'
	loginame nchar(128), context_info binary(128), sql_handle binary(20), stmt_start int = 0, stmt_end int = -1
	request_id int`

// padded is a text of fixed length.
func padded(s string, length int) Value {
	for len(s) < length {
		s += " "
	}
	return str(s)
}

// processRow has the columns of sysprocesses, which pads its texts.
var processRow = getters[session]{
	"spid":    sessionRow["session_id"],
	"blocked": sessionRow["blocking_session_id"],
	"waittype": func(s session) Value {
		if !isWaiting(s) {
			return value.OfBytes([]byte{0, 0})
		}
		return value.OfBytes([]byte{0, 1})
	},
	"waittime":     session.waited,
	"lastwaittype": func(s session) Value { return padded(lastWait(s), 32) },
	"waitresource": func(s session) Value { return padded(s.wait().Resource, 256) },
	"dbid":         sessionRow["database_id"],
	"uid":          func(session) Value { return number(1) },
	"physical_io":  func(s session) Value { return number(s.Reads + s.Writes) },
	"last_batch":   func(s session) Value { return moment(s.RequestStart) },
	"open_tran":    sessionRow["open_transaction_count"],
	"status":       func(s session) Value { return padded(s.status(), 30) },
	"sid":          sessionRow["security_id"],
	"hostname":     func(s session) Value { return padded(s.Host, 128) },
	"program_name": func(s session) Value { return padded(s.Program, 128) },
	"cmd": func(s session) Value {
		if s.Request == nil {
			return padded("AWAITING COMMAND", 26)
		}
		return padded(s.Request.Command, 26)
	},
	"loginame": func(s session) Value { return padded(s.Login.Name, 128) },
	"context_info": func(s session) Value {
		return value.OfBytes(append(slices.Clone(s.Context), make([]byte, 128-len(s.Context))...))
	},
	"request_id": func(s session) Value {
		if s.Request == nil {
			return number(0)
		}
		return number(s.Request.ID)
	},
}

func lastWait(s session) string {
	if w := s.wait().Type; w != "" {
		return w
	}
	return "MISCELLANEOUS"
}

func sessionViews() []*View {
	row := []getters[session]{sessionRow, {
		"original_security_id": func(s session) Value { return sid(s.Original) },
		"original_login_name":  func(s session) Value { return str(s.Original.Name) },
		"last_wait_type":       func(s session) Value { return str(lastWait(s)) },
	}}
	return []*View{
		keyed(relation("sys.dm_exec_sessions", sessionColumns, listSessions, row...), "session_id", findSession(nil), row...),
		keyed(relation("sys.dm_exec_requests", requestColumns, only(isExecuting), row...), "session_id", findSession(isExecuting), row...),
		relation("sys.dm_exec_connections", connectionColumns, requires(serverState, listSessions), row...),
		relation("sys.dm_os_waiting_tasks", `
			waiting_task_address varbinary(8), session_id smallint?, exec_context_id int? = 0, wait_duration_ms bigint?
			wait_type nvarchar(60)?, resource_address varbinary(8)? = NULL, blocking_task_address varbinary(8)?
			blocking_session_id smallint?, blocking_exec_context_id int? = NULL, resource_description nvarchar(3072)?`,
			requires(serverState, only(isWaiting)), append(row, waitingRow)...),
		relation("sys.sysprocesses", processColumns, listSessions, sessionRow, processRow),
	}
}
