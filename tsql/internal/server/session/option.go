package session

import (
	"strconv"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// options are the SET options of a session. A module finds its caller's, and what it sets ends with it.
type options struct {
	noCount, xactAbort, implicitTransactions, noExec, fmtOnly                                       bool
	ansiNulls, ansiPadding, ansiWarnings, arithAbort, concatNull, quotedIdentifier, ansiNullDefault bool
	numericRoundAbort, cursorCloseOnCommit, arithIgnore                                             bool
	isolation                                                                                       store.Isolation
	lockTimeout                                                                                     time.Duration // negative: for ever
	deadlockPriority                                                                                int
	rowCount, textSize                                                                              int64
	dateFirst                                                                                       int
	dateFormat, language                                                                            string
	identityInsert                                                                                  *schema.Table
}

// defaults are the options of a connection by the drivers of today.
func defaults() options {
	return options{
		ansiNulls: true, ansiPadding: true, ansiWarnings: true, arithAbort: true, concatNull: true, quotedIdentifier: true,
		ansiNullDefault: true, isolation: store.ReadCommitted, lockTimeout: -1, textSize: -1, dateFirst: 7, dateFormat: "mdy",
		language: "us_english",
	}
}

// applyOptions tells the store of the options that are its business.
func (s *Session) applyOptions() {
	s.store.LockTimeout = s.options.lockTimeout
	s.store.DeadlockPriority = s.options.deadlockPriority
}

// flags finds the options that are ON or OFF.
func (o *options) flag(name string) *bool {
	switch name {
	case "NOCOUNT":
		return &o.noCount
	case "XACT_ABORT":
		return &o.xactAbort
	case "IMPLICIT_TRANSACTIONS":
		return &o.implicitTransactions
	case "NOEXEC":
		return &o.noExec
	case "ANSI_NULLS":
		return &o.ansiNulls
	case "ANSI_PADDING":
		return &o.ansiPadding
	case "ANSI_WARNINGS":
		return &o.ansiWarnings
	case "ARITHABORT":
		return &o.arithAbort
	case "ARITHIGNORE":
		return &o.arithIgnore
	case "FMTONLY":
		return &o.fmtOnly
	case "CONCAT_NULL_YIELDS_NULL":
		return &o.concatNull
	case "QUOTED_IDENTIFIER":
		return &o.quotedIdentifier
	case "ANSI_NULL_DFLT_ON":
		return &o.ansiNullDefault
	case "NUMERIC_ROUNDABORT":
		return &o.numericRoundAbort
	case "CURSOR_CLOSE_ON_COMMIT":
		return &o.cursorCloseOnCommit
	default:
		return nil
	}
}

// refused are the options whose other value this server doesn't have: with it, what it executes would mean something
// else.
var refused = map[string]string{
	"ANSI_NULLS": "OFF", "ANSI_PADDING": "OFF", "CONCAT_NULL_YIELDS_NULL": "OFF", "ANSI_WARNINGS": "OFF", "ARITHABORT": "OFF",
	"NUMERIC_ROUNDABORT": "ON", "ANSI_NULL_DFLT_OFF": "ON", "PARSEONLY": "ON", "SHOWPLAN_ALL": "ON",
	"SHOWPLAN_TEXT": "ON", "SHOWPLAN_XML": "ON", "STATISTICS XML": "ON", "STATISTICS PROFILE": "ON", "REMOTE_PROC_TRANSACTIONS": "ON",
	"OFFSETS": "ON", "ARITHIGNORE": "ON", "QUOTED_IDENTIFIER": "OFF",
	"ANSI_NULL_DFLT_ON": "OFF",
}

// ignored are the options that change nothing but what a real server measures or prints.
var ignored = map[string]bool{
	"STATISTICS IO": true, "STATISTICS TIME": true, "PARSEONLY": true, "FORCEPLAN": true, "NO_BROWSETABLE": true,
	"SHOWPLAN_ALL": true, "SHOWPLAN_TEXT": true, "SHOWPLAN_XML": true, "STATISTICS XML": true, "STATISTICS PROFILE": true,
	"ANSI_NULL_DFLT_OFF": true, "REMOTE_PROC_TRANSACTIONS": true, "OFFSETS": true, "QUERY_GOVERNOR_COST_LIMIT": true,
}

// setOption executes SET of an option.
func (s *Session) setOption(a *activation, st *syntax.SetOption) error {
	s.rowCount = 0
	if st.Name == "CONTEXT_INFO" {
		return s.setContextInfo(a, st)
	}
	val := strings.ToUpper(st.Value)
	if st.X != nil {
		v, err := s.convert(a, st.X, printType)
		if err != nil {
			return err
		}
		val = v.Str()
	}
	if target, ok := strings.CutPrefix(st.Name, "IDENTITY_INSERT "); ok {
		return s.setIdentityInsert(a, target, val)
	}
	if refused[st.Name] == val && val != "" {
		return s.unsupported(a.unit, st.Span, "SET "+st.Name+" "+val)
	}
	if f := s.options.flag(st.Name); f != nil {
		*f = val == "ON"
		return nil
	}
	if ignored[st.Name] {
		return nil
	}
	if !s.setValue(st.Name, val) {
		return s.unsupported(a.unit, st.Span, "SET "+st.Name+" "+val)
	}
	s.applyOptions()
	return nil
}

// setValue sets an option that has a value other than ON and OFF.
func (s *Session) setValue(name, val string) bool {
	n, err := strconv.ParseInt(val, 10, 64)
	isNumber := err == nil
	switch name {
	case "TRANSACTION ISOLATION LEVEL":
		return s.setIsolation(val)
	case "LOCK_TIMEOUT":
		s.options.lockTimeout = time.Duration(n) * time.Millisecond
		if n < 0 {
			s.options.lockTimeout = -1
		}
		return isNumber
	case "DEADLOCK_PRIORITY":
		switch val {
		case "LOW":
			n = -5
		case "NORMAL":
			n = 0
		case "HIGH":
			n = 5
		}
		s.options.deadlockPriority = int(n)
		return n >= -10 && n <= 10
	case "ROWCOUNT":
		s.options.rowCount = n
		return isNumber && n >= 0
	case "TEXTSIZE":
		s.options.textSize = n
		return isNumber
	case "DATEFIRST":
		s.options.dateFirst = int(n)
		return n >= 1 && n <= 7
	case "DATEFORMAT":
		s.options.dateFormat = strings.ToLower(val)
		return s.options.dateFormat == "mdy"
	case "LANGUAGE":
		return strings.EqualFold(strings.Trim(val, "'"), "us_english")
	default:
		return false
	}
}

// contextType is the type of CONTEXT_INFO: as many bytes are given back, zeros behind those that were set.
var contextType = value.Type{Type: sqltype.Type{Kind: sqltype.Binary, Length: 128}}

// setContextInfo executes SET CONTEXT_INFO. What is set stays until the session ends, also if a procedure has set it.
func (s *Session) setContextInfo(a *activation, st *syntax.SetOption) error {
	if st.X == nil {
		return s.unsupported(a.unit, st.Span, "SET CONTEXT_INFO "+st.Value)
	}
	v, err := s.convert(a, st.X, contextType)
	if err != nil {
		return err
	}
	if v.IsNull() {
		return fault.New(2743, "SET CONTEXT_INFO", "varbinary (128) NOT NULL")
	}
	s.info = v.Bytes()
	return nil
}

// setIsolation sets the isolation level of what follows.
func (s *Session) setIsolation(level string) bool {
	switch level {
	case "READ UNCOMMITTED":
		s.options.isolation = store.ReadUncommitted
	case "READ COMMITTED":
		s.options.isolation = store.ReadCommitted
	case "REPEATABLE READ":
		s.options.isolation = store.RepeatableRead
	case "SERIALIZABLE":
		s.options.isolation = store.Serializable
	case "SNAPSHOT":
		s.options.isolation = store.SnapshotIsolation
	default:
		return false
	}
	return true
}

// setIdentityInsert allows one table of the session explicit values of its identity column.
func (s *Session) setIdentityInsert(a *activation, target, val string) error {
	t, err := s.tableNamed(a.unit, target)
	if err != nil {
		return err
	}
	switch {
	case val == "OFF":
		if s.options.identityInsert == t {
			s.options.identityInsert = nil
		}
	case t.Identity == nil:
		return fault.New(8106, target)
	case s.options.identityInsert != nil && s.options.identityInsert != t:
		return fault.New(8107, s.db.Name, s.options.identityInsert.Schema.Name, s.options.identityInsert.Name, target)
	default:
		s.options.identityInsert = t
	}
	return nil
}

// IdentityInsert is the table of SET IDENTITY_INSERT … ON; nil if there is none.
func (s *Session) IdentityInsert() *schema.Table { return s.options.identityInsert }

// onOff prints a flag.
func onOff(b bool) string {
	if b {
		return "ON"
	}
	return "OFF"
}

// Option is the value of a SET option.
func (s *Session) Option(name string) string {
	if f := s.options.flag(name); f != nil {
		return onOff(*f)
	}
	switch name {
	case "DATEFIRST":
		return strconv.Itoa(s.options.dateFirst)
	case "DATEFORMAT":
		return s.options.dateFormat
	case "LANGUAGE":
		return s.options.language
	case "TEXTSIZE":
		return strconv.FormatInt(s.options.textSize, 10)
	case "LOCK_TIMEOUT":
		if s.options.lockTimeout < 0 {
			return "-1"
		}
		return strconv.FormatInt(s.options.lockTimeout.Milliseconds(), 10)
	case "DEADLOCK_PRIORITY":
		return strconv.Itoa(s.options.deadlockPriority)
	default:
		return ""
	}
}
