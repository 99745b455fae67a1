package analyze

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
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
	"ANSI_WARNINGS":               "what arithmetic that fails yields: see settings",
	"ARITHABORT":                  "what arithmetic that fails yields: see settings",
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
	"ROWCOUNT":                    "how many rows are left: one row is still one, or there may be any number",
	"STATISTICS IO":               "messages",
	"STATISTICS TIME":             "messages",
	"TRANSACTION ISOLATION LEVEL": "locking",
	"XACT_ABORT":                  "what an error ends; a caller sees an error either way",
}

// refusedOptions says why some options are refused.
//
// They would make true what is generated only as long as nobody sets them.
var refusedOptions = map[string]string{
	"CONCAT_NULL_YIELDS_NULL": "makes concatenation with NULL yield a string, so that nullability would be wrong",
	"FMTONLY":                 "sends result sets without rows",
	"NOEXEC":                  "keeps statements from running",
	"PARSEONLY":               "keeps statements from running",
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
	w.sets(s)
	if setOptions[name] != "" || name == "CONCAT_NULL_YIELDS_NULL" && s.Value == "ON" {
		return
	}
	if w.body.module == inScript && name == "TEXTSIZE" {
		return // nobody reads rows there
	}
	if why := refusedOptions[name]; why != "" {
		w.fail(s, ruleStatement, "remove it", "SET %s %s", name, why)
		return
	}
	w.fail(s, ruleStatement, "remove it", "it is not known what SET %s does to result sets", name)
}

// otherStatements lists statements with neither operands of interest nor results, by their leading words, and why they
// are harmless in a body.
//
// The list is of what people were seen to have in procedures, with a parser that reads them as words up to the next
// statement.
var otherStatements = map[string]string{
	"ALTER CERTIFICATE":         "the database's keys",
	"ALTER INDEX":               "storage and plans only",
	"ALTER MASTER KEY":          "the database's keys",
	"ALTER PARTITION FUNCTION":  "storage only",
	"ALTER PARTITION SCHEME":    "storage only",
	"ALTER SEQUENCE":            "the next number; the type cannot change",
	"BACKUP DATABASE":           "messages only",
	"BACKUP LOG":                "messages only",
	"BULK INSERT":               "writes a table; the file's columns are the server's to check",
	"CHECKPOINT":                "writes pages",
	"CLOSE ALL":                 "the session's keys",
	"CLOSE MASTER":              "the session's keys",
	"CLOSE SYMMETRIC":           "the session's keys",
	"CREATE ASYMMETRIC KEY":     "the database's keys",
	"CREATE CERTIFICATE":        "the database's keys",
	"CREATE MASTER KEY":         "the database's keys",
	"CREATE PARTITION FUNCTION": "storage only",
	"CREATE PARTITION SCHEME":   "storage only",
	"CREATE STATISTICS":         "plans only",
	"CREATE SYMMETRIC KEY":      "the database's keys",
	"DBCC CHECKIDENT":           "a message",
	"DBCC DROPCLEANBUFFERS":     "a message",
	"DBCC FREEPROCCACHE":        "a message",
	"DBCC TRACEOFF":             "a message",
	"DBCC TRACEON":              "a message",
	"DISABLE TRIGGER":           "triggers send nothing here",
	"DROP ASYMMETRIC KEY":       "the database's keys",
	"DROP CERTIFICATE":          "the database's keys",
	"DROP MASTER KEY":           "the database's keys",
	"DROP STATISTICS":           "plans only",
	"DROP SYMMETRIC KEY":        "the database's keys",
	"ENABLE TRIGGER":            "triggers send nothing here",
	"EXECUTE AS":                "permissions only",
	"KILL":                      "ends another session",
	"OPEN MASTER":               "the session's keys",
	"OPEN SYMMETRIC":            "the session's keys",
	"RECONFIGURE":               "a message",
	"RESTORE DATABASE":          "messages only",
	"RESTORE LOG":               "messages only",
	"REVERT":                    "permissions only",
	"UPDATE STATISTICS":         "plans only",
	"UPDATETEXT":                "a part of a value",
	"WRITETEXT":                 "a value",
}

// other checks what the parser only knows by its leading words.
func (w *walker) other(s *syntax.Other) {
	if otherStatements[s.Words] != "" {
		return
	}
	w.fail(s, ruleStatement, "remove it, or keep it in a script of its own",
		"it is not known whether %s sends a result set", s.Words)
}

// use checks USE.
func (w *walker) use(s *syntax.Use) {
	w.fail(s, ruleStatement, "qualify the names instead", "USE is not allowed in a %s", w.body.module)
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
		out := w.a.queryIn(&scope{env: w.e, level: level{Clause: lookup.InFrom}}, s.Definition.Query)
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

// keptByAlter are the forms of ALTER TABLE after which all types are what they were.
var keptByAlter = map[string]bool{
	"CHECK CONSTRAINT": true, "NOCHECK CONSTRAINT": true, "ENABLE TRIGGER": true, "DISABLE TRIGGER": true, "REBUILD": true,
	"SWITCH": true, // rows move to another table of the same columns
}

// definition checks CREATE, ALTER and DROP. In a script the catalog has read them already; in a body only temp tables
// and those that no script defines can be followed.
//
// A procedure may well create a table and fill it. But T-SQL compiles such a statement only when it is reached
// (deferred name resolution), and whether the table is there, and with which columns, then depends on what ran before.
func (w *walker) definition(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.CreateTable:
		if s.Name.IsTemp() {
			w.a.createTemp(w.e, s)
			return
		}
		if w.createWorking(s) {
			return
		}
	case *syntax.CreateType:
		// Statements that use a type that no script defines don't know it. One that is there isn't made.
		if _, ok := w.workingName(s.Name); ok && (w.nested > 0 || w.dropsUnknown("TYPE", s.Name)) {
			return
		}
	case *syntax.CreateIndex:
		return // no type depends on it, and one key more makes nothing wrong
	case *syntax.Drop:
		if w.drop(s) || w.dropWorking(s) {
			return
		}
	case *syntax.AlterTable:
		if keptByAlter[s.Other] {
			return
		}
		if s.Name.IsTemp() {
			w.alterTemp(s)
			return
		}
		if w.alterWorking(s) || w.alterKeeps(s) {
			return
		}
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
	if s.Kind == "INDEX" && s.On != nil && (s.On.IsTemp() || !w.dropsKey(s)) {
		return true
	}
	if s.Kind != "TABLE" || slices.ContainsFunc(s.Names, func(n *syntax.ObjectName) bool { return !n.IsTemp() }) {
		return false
	}
	for _, n := range s.Names {
		if w.nested == 0 && !s.IfExists {
			w.e.dropTable(n.Last().Value)
		}
	}
	return true
}

// alterTemp follows ALTER TABLE of a temp table. Under an IF, or in a loop, it may not be run.
func (w *walker) alterTemp(s *syntax.AlterTable) {
	name := s.Name.Last().Value
	table, known := w.e.table(name)
	switch {
	case !known:
		w.a.failGap(w.e, s.Name.Span, createTemp(name), "temp table %s isn't known here", name)
	case table == nil: // which is reported
	case w.nested > 0:
		w.fail(s, ruleStatement, "create the table with all its columns", "this need not be run, so that the columns of %s are not known", name)
		w.e.declareTable(name, nil)
	default:
		after, found := w.cat.Altered(w.e.file, table, s)
		*w.a.found = append(*w.a.found, found...)
		w.a.computeColumns(after)
		w.e.declareTable(name, after)
	}
}

// dropsKey reports whether DROP INDEX takes away a key that a number of rows was inferred from.
func (w *walker) dropsKey(s *syntax.Drop) bool {
	name, err := w.a.resolve(w.e, s.On)
	if err != nil {
		return false // of another database
	}
	table := w.cat.Table(name)
	return table != nil && slices.ContainsFunc(table.Indexes, func(i catalog.Index) bool {
		return i.Unique && slices.ContainsFunc(s.Names, func(n *syntax.ObjectName) bool { return same(i.Name, n.Last().Value) })
	})
}
