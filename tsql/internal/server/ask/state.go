package ask

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// stateFunctions answer what state the session is in.
var stateFunctions = map[string]Function{
	"SCOPE_IDENTITY":         {"", func(q *question) (execute.Value, error) { return q.session().ScopeIdentity(), nil }},
	"ROWCOUNT_BIG":           {"", func(q *question) (execute.Value, error) { return intValue(q.session().RowCount()) }},
	"XACT_STATE":             {"", fact("XACT_STATE")},
	"CURRENT_TRANSACTION_ID": {"", fact("TRANSACTION_ID")},
	"CURRENT_REQUEST_ID":     {"", func(*question) (execute.Value, error) { return intValue(0) }},
	"CONTEXT_INFO":           {"", fact("CONTEXT_INFO")},
	"SESSION_CONTEXT":        {"s", sessionContext},
	"APP_NAME":               {"", fact("APP_NAME")},
	"HOST_NAME":              {"", fact("HOST_NAME")},
	"HOST_ID":                {"", fact("HOST_ID")},
	"ORIGINAL_DB_NAME":       {"", fact("ORIGINAL_DB_NAME")},
	"GETANSINULL":            {"s", func(*question) (execute.Value, error) { return intValue(1) }},
	"MIN_ACTIVE_ROWVERSION":  {"", minActiveRowVersion},
	"CURSOR_STATUS":          {"ss", cursorStatus},
	"TRIGGER_NESTLEVEL":      {"iss", triggerLevel},
	"COLUMNS_UPDATED":        {"", columnsUpdated},
	"APPLOCK_MODE":           {"sss", applicationMode},
	"APPLOCK_TEST":           {"ssss", applicationTest},
	"ERROR_NUMBER":           {"", caught(func(e *execute.CaughtError) execute.Value { return value.OfInt(int64(e.Number)) })},
	"ERROR_SEVERITY":         {"", caught(func(e *execute.CaughtError) execute.Value { return value.OfInt(int64(e.Class)) })},
	"ERROR_STATE":            {"", caught(func(e *execute.CaughtError) execute.Value { return value.OfInt(int64(e.State)) })},
	"ERROR_LINE":             {"", caught(func(e *execute.CaughtError) execute.Value { return value.OfInt(int64(e.Line)) })},
	"ERROR_MESSAGE":          {"", caught(func(e *execute.CaughtError) execute.Value { return value.OfString(e.Message) })},
	"ERROR_PROCEDURE":        {"", caught(errorProcedure)},
}

// caught is a function about the error of the CATCH block; NULL outside of one.
func caught(f func(e *execute.CaughtError) execute.Value) answer {
	return func(q *question) (execute.Value, error) {
		e := q.session().CaughtError()
		if e == nil {
			return null, nil
		}
		return f(e), nil
	}
}

func errorProcedure(e *execute.CaughtError) execute.Value {
	if e.Procedure == "" {
		return null
	}
	return value.OfString(e.Procedure)
}

func sessionContext(q *question) (execute.Value, error) {
	key, ok := q.text(0)
	if !ok {
		return null, nil
	}
	return q.facts().SessionContext(key), nil
}

// minActiveRowVersion is the version that the next change gets. Those of open transactions are not told apart here.
func minActiveRowVersion(q *question) (execute.Value, error) {
	return q.db().LastRowVersion(), nil
}

func cursorStatus(q *question) (execute.Value, error) {
	if s, ok := q.session().(interface {
		CursorStatus(scope, name string) int64
	}); ok {
		name, _ := q.text(1)
		return intValue(s.CursorStatus(q.word(0), name))
	}
	return intValue(-3)
}

// triggerLevel is TRIGGER_NESTLEVEL(): how many triggers are being executed, or how often a given one is.
func triggerLevel(q *question) (execute.Value, error) {
	if len(q.args) == 0 {
		return intValue(q.facts().TriggerLevel(0))
	}
	id, ok := q.number(0)
	if !ok {
		return null, nil
	}
	return intValue(q.facts().TriggerLevel(id))
}

// columnsUpdated is COLUMNS_UPDATED(): a bit for each column that has been set, the first column's the lowest of the
// first byte. Outside of a trigger it is NULL.
func columnsUpdated(q *question) (execute.Value, error) {
	table := q.run.Frame.Inserted
	if table == nil {
		return null, nil
	}
	var bits []byte
	for i, c := range table.Columns {
		at := int(c.ID-1) / 8
		for len(bits) <= at {
			bits = append(bits, 0)
		}
		if q.run.Frame.Updated[i] {
			bits[at] |= 1 << ((c.ID - 1) % 8)
		}
	}
	return value.OfBytes(bits), nil
}

func applicationMode(q *question) (execute.Value, error) {
	principal, ok1 := q.text(0)
	resource, ok2 := q.text(1)
	owner, ok3 := q.text(2)
	if !ok1 || !ok2 || !ok3 {
		return null, nil
	}
	return textOrNull(q.facts().ApplicationMode(principal, resource, owner))
}

func applicationTest(q *question) (execute.Value, error) {
	principal, ok1 := q.text(0)
	resource, ok2 := q.text(1)
	mode, ok3 := q.text(2)
	owner, ok4 := q.text(3)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return null, nil
	}
	free, ok := q.facts().ApplicationFree(principal, resource, mode, owner)
	if !ok {
		return null, nil
	}
	return boolValue(free)
}
