package analyze

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/internal/tsql/syntax"
)

// plain checks the statements that neither send sets nor change the flow of control. There is no default that accepts:
// a statement is harmless because a line here says so.
func (w *walker) plain(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.Declare:
		w.a.declareStmt(w.e, s)
	case *syntax.SetVariable:
		w.a.assignVariable(w.e, s.Variable, s.Op, w.a.scalar(w.e, s.X), s.X)
	case *syntax.SetOption:
		w.setOption(s)
	case *syntax.Print:
		w.a.scalar(w.e, s.X)
	case *syntax.Waitfor:
		w.a.scalar(w.e, s.X)
	case *syntax.Transaction:
		w.transaction(s)
	case *syntax.Truncate:
		w.truncate(s)
	case *syntax.CursorStmt:
		w.cursor(s)
	case *syntax.Permission:
		// No type depends on it. GRANT in a procedure sends nothing and changes no type.
	case *syntax.Use:
		w.use(s)
	case *syntax.Other:
		w.other(s)
	default:
		w.definition(s)
	}
}

// setOptions lists what SET may say in a body, by the words before the value, and why that changes no type and sends no
// set. Options not listed are refused.
//
// Some of these do matter to the meaning of a statement, as XACT_ABORT or ANSI_NULLS; the question here is whether the
// columns and the order of result sets can be others.
var setOptions = map[string]string{
	"ANSI_DEFAULTS":               "a group of those below",
	"ANSI_NULLS":                  "decides comparisons with NULL only",
	"ANSI_NULL_DFLT_OFF":          "columns of the scripts say NULL or NOT NULL; temp tables follow the default",
	"ANSI_NULL_DFLT_ON":           "the default of drivers",
	"ANSI_PADDING":                "trailing blanks",
	"ANSI_WARNINGS":               "errors and messages",
	"ARITHABORT":                  "errors",
	"ARITHIGNORE":                 "messages",
	"CONTEXT_INFO":                "a value for the session",
	"CURSOR_CLOSE_ON_COMMIT":      "cursors send nothing here",
	"DATEFIRST":                   "values of DATEPART",
	"DATEFORMAT":                  "how strings are read as dates",
	"DEADLOCK_PRIORITY":           "locking",
	"FORCEPLAN":                   "plans",
	"IDENTITY_INSERT":             "which columns can be inserted",
	"IMPLICIT_TRANSACTIONS":       "transactions",
	"LANGUAGE":                    "messages and how strings are read as dates",
	"LOCK_TIMEOUT":                "locking",
	"NOCOUNT":                     "counts of rows, which are no sets",
	"NUMERIC_ROUNDABORT":          "errors",
	"QUERY_GOVERNOR_COST_LIMIT":   "errors",
	"QUOTED_IDENTIFIER":           "the parser reads double quotes as names, as drivers set it",
	"REMOTE_PROC_TRANSACTIONS":    "transactions",
	"STATISTICS IO":               "messages",
	"STATISTICS TIME":             "messages",
	"TRANSACTION ISOLATION LEVEL": "locking",
	"XACT_ABORT":                  "what an error ends; a caller sees an error either way",
}

// refusedOptions says why some options are refused.
//
// They would make true what is generated only as long as nobody sets them. SET ROWCOUNT 1, say, makes a SELECT into an
// optional row, and a DELETE without a condition into one that looks harmless.
var refusedOptions = map[string]string{
	"CONCAT_NULL_YIELDS_NULL": "makes concatenation with NULL yield a string, so that nullability would be wrong",
	"FMTONLY":                 "sends result sets without rows",
	"NOEXEC":                  "keeps statements from running",
	"PARSEONLY":               "keeps statements from running",
	"ROWCOUNT":                "cuts result sets, and may not apply to INSERT, UPDATE and DELETE in the next version; use TOP",
	"SHOWPLAN_ALL":            "sends plans as result sets",
	"SHOWPLAN_TEXT":           "sends plans as result sets",
	"SHOWPLAN_XML":            "sends plans as result sets",
	"STATISTICS PROFILE":      "sends plans as result sets",
	"STATISTICS XML":          "sends plans as result sets",
	"TEXTSIZE":                "cuts long values that are sent",
}

// setOption checks SET.
//
// The parser puts the words before the value together: "TRANSACTION ISOLATION LEVEL", "IDENTITY_INSERT dbo.t".
func (w *walker) setOption(s *syntax.SetOption) {
	if s.X != nil {
		w.a.scalar(w.e, s.X)
	}
	name := s.Name
	if strings.HasPrefix(name, "IDENTITY_INSERT ") {
		name = "IDENTITY_INSERT"
	}
	if setOptions[name] != "" || name == "CONCAT_NULL_YIELDS_NULL" && s.Value == "ON" {
		return
	}
	if w.body.module == inScript && (name == "ROWCOUNT" || name == "TEXTSIZE") {
		return // nobody reads rows there
	}
	if why := refusedOptions[name]; why != "" {
		w.fail(s, ruleStatement, "remove it", "SET %s %s", name, why)
		return
	}
	w.fail(s, ruleStatement, "remove it", "it is not known what SET %s does to result sets", name)
}

// otherStatements lists statements with neither operands of interest nor results, by their leading words, and why they are
// harmless in a body.
//
// The list is of what people were seen to have in procedures, with a parser that reads them as words up to the next
// statement.
var otherStatements = map[string]string{
	"ALTER INDEX":           "storage and plans only",
	"ALTER SEQUENCE":        "the next number; the type cannot change",
	"BACKUP DATABASE":       "messages only",
	"BACKUP LOG":            "messages only",
	"BULK INSERT":           "writes a table; the file's columns are the server's to check",
	"CHECKPOINT":            "writes pages",
	"CLOSE ALL":             "the session's keys",
	"CLOSE MASTER":          "the session's keys",
	"CLOSE SYMMETRIC":       "the session's keys",
	"CREATE STATISTICS":     "plans only",
	"DBCC CHECKIDENT":       "a message",
	"DBCC DROPCLEANBUFFERS": "a message",
	"DBCC FREEPROCCACHE":    "a message",
	"DBCC TRACEOFF":         "a message",
	"DBCC TRACEON":          "a message",
	"DISABLE TRIGGER":       "triggers send nothing here",
	"DROP STATISTICS":       "plans only",
	"ENABLE TRIGGER":        "triggers send nothing here",
	"EXECUTE AS":            "permissions only",
	"KILL":                  "ends another session",
	"OPEN MASTER":           "the session's keys",
	"OPEN SYMMETRIC":        "the session's keys",
	"RECONFIGURE":           "a message",
	"RESTORE DATABASE":      "messages only",
	"RESTORE LOG":           "messages only",
	"REVERT":                "permissions only",
	"UPDATE STATISTICS":     "plans only",
}

// other checks what the parser only knows by its leading words.
func (w *walker) other(s *syntax.Other) {
	if otherStatements[s.Words] != "" || w.body.module == inScript {
		return // in a script nobody reads what it sends
	}
	w.fail(s, ruleStatement, "remove it, or keep it in a script of its own",
		"it is not known whether %s sends a result set", s.Words)
}

// use checks USE.
func (w *walker) use(s *syntax.Use) {
	if w.body.module != inScript {
		w.fail(s, ruleStatement, "qualify the names instead", "USE is not allowed in a %s", w.body.module)
	}
}

// transaction checks BEGIN, COMMIT, ROLLBACK and SAVE TRANSACTION.
func (w *walker) transaction(s *syntax.Transaction) {
	if w.body.module == inFunction {
		w.fail(s, ruleStatement, "", "a function cannot manage transactions")
	}
}

// truncate checks TRUNCATE TABLE.
func (w *walker) truncate(s *syntax.Truncate) {
	// TRUNCATE looks its table up as a DELETE without a condition does.
	target := &syntax.TableRef{Span: s.Table.Span, Name: s.Table}
	w.a.dml(w.e, &syntax.Delete{Span: s.Span, Target: target})
}

// cursor checks the statements on cursors. They send nothing, but for a FETCH without INTO.
//
// A cursor variable (SET @c = CURSOR FOR …) is a variable; what it yields is not followed.
func (w *walker) cursor(s *syntax.CursorStmt) {
	switch s.Verb {
	case "DECLARE":
		// Its columns need no names, as those that are sent do.
		out := w.a.queryIn(&scope{env: w.e, clause: inFrom}, s.Definition.Query)
		if out.none {
			w.fail(s.Definition.Query, ruleType, "", "a query that assigns variables or creates a table yields no rows to fetch")
		}
		w.e.declareCursor(s.Name, rowset{Columns: out.columns, bad: out.bad || out.none})
	case "FETCH":
		w.fetch(s)
	default:
		w.knownCursor(s)
	}
}

// knownCursor looks up the cursor of a statement.
func (w *walker) knownCursor(s *syntax.CursorStmt) (rowset, bool) {
	if r, ok := w.e.cursor(s.Name); ok {
		return r, true
	}
	if _, ok := w.e.variable(s.Name); !ok {
		w.fail(s, ruleName, "", "there is no cursor %s", s.Name)
	}
	return rowset{}, false
}

// fetch checks FETCH … INTO against the columns of the cursor.
//
// Each column is an assignment, so that a type that cannot be converted is found here rather than at the first row.
func (w *walker) fetch(s *syntax.CursorStmt) {
	if len(s.Into) == 0 {
		w.fail(s, ruleShape, "fetch INTO variables", "FETCH without INTO sends a result set for each row")
		return
	}
	r, ok := w.knownCursor(s)
	if !ok || r.bad {
		return
	}
	if len(s.Into) != len(r.Columns) {
		w.fail(s, ruleType, "", "the cursor %s has %d columns, but %d variables are given", s.Name, len(r.Columns), len(s.Into))
		return
	}
	for i, v := range s.Into {
		c := r.Columns[i]
		w.a.assignVariable(w.e, v, "=", typed{Type: c.Type, Nullable: c.Nullable}, v)
	}
}

// definition checks CREATE, ALTER and DROP. In a script the catalog has read them already; in a body only temp tables
// can be followed.
//
// A procedure may well create a table and fill it. But T-SQL compiles such a statement only when it is reached
// (deferred name resolution), and whether the table is there, and with which columns, then depends on what ran before.
func (w *walker) definition(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.CreateTable:
		if isTemp(s.Name) {
			w.a.createTemp(w.e, s)
			return
		}
	case *syntax.CreateIndex:
		if isTemp(s.Table) {
			return // an index of a temp table: no type depends on it
		}
	case *syntax.Drop:
		if w.drop(s) {
			return
		}
	case *syntax.AlterTable:
		if isTemp(s.Name) {
			w.fail(s, ruleStatement, "create the table with all its columns", "changes of a temp table are not followed")
			w.e.declareTable(lastPart(s.Name).Value, nil) // nobody knows its columns now
			return
		}
	}
	if w.body.module == inScript {
		return
	}
	w.fail(s, ruleStatement, "define it in a script of the schema",
		"a %s that changes the schema cannot be checked: what comes after it sees other objects", w.body.module)
}

// drop follows DROP as far as it is about temp tables only, and reports whether it is. A table that is dropped in one
// branch only stays known.
//
// Forgetting it would refuse what is right; keeping it overlooks a mistake that the server reports at the first run:
//
//	IF @x = 1 DROP TABLE #t;
//	SELECT a FROM #t;
//
// With IF EXISTS it is how many procedures begin, before they create the table.
func (w *walker) drop(s *syntax.Drop) bool {
	if s.Kind == "INDEX" && s.On != nil && isTemp(s.On) {
		return true
	}
	if s.Kind != "TABLE" || slices.ContainsFunc(s.Names, func(n *syntax.ObjectName) bool { return !isTemp(n) }) {
		return false
	}
	for _, n := range s.Names {
		if w.nested == 0 && !s.IfExists {
			w.e.dropTable(lastPart(n).Value)
		}
	}
	return true
}
