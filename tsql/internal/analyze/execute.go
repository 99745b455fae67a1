package analyze

import (
	"fmt"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// ruleExec is the id of findings about calls of procedures.
const ruleExec = "exec"

// systemProcedures lists procedures of the server that send no result set, with what they do.
//
// A system procedure that is not in it counts as unknown: many send sets (sp_help, sp_who), some only with certain
// arguments. What they do is noted for the reader, who wants to judge whether the entry is right.
var systemProcedures = map[string]string{
	"sp_add_job":                "a job",
	"sp_add_jobschedule":        "a job",
	"sp_add_jobserver":          "a job",
	"sp_add_jobstep":            "a job",
	"sp_add_schedule":           "a job",
	"sp_addapprole":             "a principal",
	"sp_addextendedproperty":    "a note on an object",
	"sp_addlinkedserver":        "a definition",
	"sp_addlinkedsrvlogin":      "a definition",
	"sp_addlogin":               "a principal",
	"sp_addmessage":             "a message for RAISERROR",
	"sp_addrole":                "a principal",
	"sp_addrolemember":          "a principal",
	"sp_addsrvrolemember":       "a principal",
	"sp_addtype":                "a definition",
	"sp_adduser":                "a principal",
	"sp_altermessage":           "a message for RAISERROR",
	"sp_attach_schedule":        "a job",
	"sp_bindefault":             "a definition",
	"sp_bindrule":               "a definition",
	"sp_control_plan_guide":     "plans",
	"sp_create_plan_guide":      "plans",
	"sp_delete_job":             "a job",
	"sp_delete_jobschedule":     "a job",
	"sp_delete_jobserver":       "a job",
	"sp_delete_jobstep":         "a job",
	"sp_delete_schedule":        "a job",
	"sp_detach_schedule":        "a job",
	"sp_dropextendedproperty":   "a note on an object",
	"sp_droplinkedsrvlogin":     "a definition",
	"sp_droplogin":              "a principal",
	"sp_dropmessage":            "a message for RAISERROR",
	"sp_droprolemember":         "a principal",
	"sp_dropserver":             "a definition",
	"sp_dropuser":               "a principal",
	"sp_getapplock":             "a lock; its status says whether it was granted",
	"sp_grantdbaccess":          "a principal",
	"sp_invalidate_textptr":     "text pointers",
	"sp_oacreate":               "an object, as an OUTPUT value",
	"sp_oadestroy":              "an object",
	"sp_oasetproperty":          "a property of an object",
	"sp_oastop":                 "the objects",
	"sp_procoption":             "a definition",
	"sp_recompile":              "plans",
	"sp_refreshsqlmodule":       "a definition",
	"sp_refreshview":            "a definition",
	"sp_releaseapplock":         "a lock",
	"sp_rename":                 "a definition",
	"sp_send_dbmail":            "a message; a query's result goes into it",
	"sp_sequence_get_range":     "numbers, as OUTPUT values",
	"sp_serveroption":           "a definition",
	"sp_set_session_context":    "a value for the session",
	"sp_settriggerorder":        "a definition",
	"sp_start_job":              "a job",
	"sp_stop_job":               "a job",
	"sp_tableoption":            "a definition",
	"sp_trace_generateevent":    "an event",
	"sp_unbindefault":           "a definition",
	"sp_unbindrule":             "a definition",
	"sp_update_job":             "a job",
	"sp_update_jobstep":         "a job",
	"sp_update_schedule":        "a job",
	"sp_updateextendedproperty": "a note on an object",
	"sp_updatestats":            "plans",
	"sp_xml_preparedocument":    "a handle, as an OUTPUT value",
	"sp_xml_removedocument":     "a handle",
	"xp_logevent":               "a line in a log",
}

// exec follows EXECUTE in a module. There are three cases:
//
//   - a procedure of the scripts: its own flow takes the place of the call, and its parameters are known;
//   - a procedure of the server that is known to send nothing;
//   - dynamic SQL, or a procedure that nobody here knows, or an excluded one that can't be typed: WITH RESULT SETS or
//     gen:columns says what is sent.
//
// EXEC AT a linked server, and a name with a server or a database in it, are of the third kind: no script says what is
// there.
func (w *walker) exec(s *syntax.Exec, at int) int {
	if f := w.executedFunction(s); f != nil {
		return w.execFunction(s, f, at)
	}
	w.status(s)
	if w.body.module == inFunction {
		w.fail(s, ruleStatement, "make it a procedure", "a function cannot call procedures")
	}
	switch {
	case len(s.SQL) > 0:
		for _, x := range s.SQL {
			w.value(x)
		}
		w.looseArguments(s)
		return w.dynamic(s, at)
	case s.ProcVar != nil:
		w.value(s.ProcVar)
		w.looseArguments(s)
		return w.opaque(s, at, "which procedure "+s.ProcVar.Name+" names is not known")
	}
	if callee := w.callee(s.Name); callee != nil {
		w.arguments(s, callee)
		return w.call(s, callee, at)
	}
	w.looseArguments(s)
	name := catalog.Fold(s.Name.Last().Value)
	switch {
	case systemProcedures[name] != "":
		return w.resultSetsOfNone(s, at)
	case name == "sp_executesql":
		return w.dynamic(s, at)
	case name == "xp_cmdshell":
		return w.shell(s, at)
	default:
		return w.opaque(s, at, "the procedure "+w.e.file.Slice(s.Name.Span)+" is not defined in the scripts")
	}
}

// executedFunction returns the scalar function of the scripts that an EXEC calls: EXEC @x = dbo.f 1. It is nil if it
// calls a procedure.
func (w *walker) executedFunction(s *syntax.Exec) *catalog.Function {
	if s.Name == nil {
		return nil
	}
	name, err := w.a.resolve(w.e, s.Name)
	if err != nil {
		return nil
	}
	if f := w.cat.Function(name); f != nil && f.Def.Returns != nil {
		return f
	}
	return nil
}

// execFunction follows the EXEC of a scalar function. Its value goes into the variable, and nothing is sent.
func (w *walker) execFunction(s *syntax.Exec, f *catalog.Function, at int) int {
	w.arguments(s, &catalog.Procedure{Name: f.Name, Params: f.Params})
	if s.Status != nil && f.Returns.Kind != sqltype.Invalid {
		w.a.assignVariable(w.e, s.Status, "=", typed{Type: f.Returns, Nullable: true}, s.Status)
	}
	return w.resultSetsOfNone(s, at)
}

// shell follows xp_cmdshell, which sends what the command writes, a row for each line, unless no_output is the second
// argument.
func (w *walker) shell(s *syntax.Exec, at int) int {
	if s.ResultSets != nil || w.directive(s, directive.Columns) != nil || len(s.Args) == 0 || len(s.Args) > 2 {
		return w.opaque(s, at, "what xp_cmdshell sends is not known")
	}
	if len(s.Args) == 2 {
		lit, ok := s.Args[1].X.(*syntax.Literal)
		if word, name := s.Args[1].X.(*syntax.ColumnRef); name {
			ok, lit = true, &syntax.Literal{Value: word.Last().Value}
		}
		if !ok || !same(lit.Value, "no_output") {
			return w.opaque(s, at, "what xp_cmdshell sends is not known")
		}
		return at
	}
	if w.body.module != inProcedure {
		return at
	}
	output := Column{Name: "output", Type: nvarchar(255), Nullable: true, Span: s.Span}
	return w.sendSet(s, at, w.override(s, rowset{Columns: []Column{output}, Rows: Many}, nil))
}

// status checks the variable of EXEC @rc = p.
func (w *walker) status(s *syntax.Exec) {
	if s.Status != nil {
		w.a.assignVariable(w.e, s.Status, "=", typed{Type: sqltype.Type{Kind: sqltype.Int}}, s.Status)
	}
}

// callee finds a procedure of the scripts by its name, through synonyms.
//
// The name is looked up in the schema of the calling procedure first, as the names of tables are.
func (w *walker) callee(name *syntax.ObjectName) *catalog.Procedure {
	resolved, err := w.a.resolve(w.e, name)
	if err != nil {
		return nil // of another database: the caller finds that nothing is known about it
	}
	return w.cat.Procedure(resolved)
}

// resultSetsOfNone handles WITH RESULT SETS on a procedure that is known to send nothing.
func (w *walker) resultSetsOfNone(s *syntax.Exec, at int) int {
	if rs := s.ResultSets; rs != nil && !rs.Undefined {
		w.fail(rs, ruleOverride, "remove the clause", "the procedure is known to send no result set")
	}
	return at
}

// opaque follows an EXEC whose result sets only WITH RESULT SETS or gen:columns can tell.
//
// It may raise any number, so that headers can list what they know it raises. In a script or a trigger nothing need be
// known of its sets.
func (w *walker) opaque(s *syntax.Exec, at int, why string) int {
	w.raisesUnknown()
	if w.body.module != inProcedure {
		return at
	}
	if rs := s.ResultSets; rs != nil && !rs.Undefined {
		return w.defined(s, at)
	}
	if d := w.directive(s, directive.Columns); d != nil {
		if d.None {
			return at
		}
		return w.sendSet(s, at, w.override(s, rowset{bad: true}, nil))
	}
	fix := "add WITH RESULT SETS ((column type, …)) or WITH RESULT SETS NONE, or above it -- gen:columns (…) or -- gen:columns none"
	w.fail(s, ruleExec, fix, "%s", why)
	w.body.opaque = true
	// A procedure that is not there is a slip of the pen more often than one of another database.
	if s.Name != nil {
		if name, err := w.a.resolve(w.e, s.Name); err == nil {
			w.a.meantObject(name, " If not, "+fix)
		}
	}
	return at
}

// defined follows an EXEC by its WITH RESULT SETS clause alone.
//
// The server holds the call to the clause: other columns, or another number of sets, are an error at run time (11535 to
// 11538). So it can be believed.
func (w *walker) defined(s *syntax.Exec, at int) int {
	defs := s.ResultSets.Sets
	for i := range defs {
		columns, ok := w.definedColumns(&defs[i])
		set := w.resultSet(s, rowset{Columns: columns, bad: !ok})
		if d := w.directive(s, directive.Result); d != nil && len(defs) == 1 {
			w.nameSet(d, &set, false)
		}
		at = w.sendSet(s, at, set)
	}
	return at
}

// call follows the EXEC of a procedure of the scripts.
//
// The callee's graph takes the place of the call, and is not summed up as a list of sets: that a and b alternate, or
// that b comes only after a, must still be known at the caller. With
//
//	CREATE PROCEDURE dbo.either @x int AS IF @x = 1 SELECT 1 AS a; ELSE SELECT 2 AS b;
//
// EXEC dbo.either @x; SELECT 3 AS c; yields (a | b) c.
func (w *walker) call(s *syntax.Exec, callee *catalog.Procedure, at int) int {
	// The callee is walked now, if it has not been: the order of the scripts does not matter.
	b, done := w.procedureBody(callee, w.e.settings)
	w.body.throws.call(b, !w.swallowed)
	if !done {
		// The callee is being walked: it calls itself. Whether that matters is known when its walk is over.
		w.recursive[callee] = append(w.recursive[callee], site{file: w.e.file, span: s.Span})
		return at
	}
	if b.unknown != "" {
		return w.opaque(s, at, fmt.Sprintf("%s calls %s, which is excluded, and what that sends is not known: %s",
			w.body.name, callee.Name, b.unknown))
	}
	return w.callBody(s, b, at)
}

// callBody follows the EXEC of what a body does.
func (w *walker) callBody(s *syntax.Exec, b *body, at int) int {
	w.body.opaque = w.body.opaque || b.opaque
	if _, _ = w.shape(b); b.broken {
		return at // reported where it is wrong, and not once more in every caller
	}
	if s.ResultSets != nil && !s.ResultSets.Undefined {
		return w.redefined(s, b, at)
	}
	if w.body.module != inProcedure || len(b.graph.sets) == 0 {
		return w.silent(s, b, at)
	}
	g := b.graph
	if len(w.body.graph.sets)+len(g.sets) > maxSets {
		w.fail(s, ruleShape, "collect rows in a table variable", "with this call the procedure has more than %d statements that send sets", maxSets)
		return at
	}
	// A copy, so that two calls are two steps of the caller with results of their own.
	to := w.node()
	w.body.graph.splice(w.renamed(s, b), site{w.e.file, s.Span}, at, to, w.caught)
	return to
}

// silent follows a call that sends nothing, or nothing that is read here.
//
// A callee that always fails is like THROW: what comes after the call is not reached, unless by a CATCH.
func (w *walker) silent(s *syntax.Exec, callee *body, at int) int {
	if w.body.module != inProcedure && len(callee.graph.sets) > 0 {
		return w.sendSet(s, at, ResultSet{})
	}
	if at == nowhere || callee.graph.returns() {
		return at
	}
	return nowhere // it always fails
}

// renamed returns the callee's graph with the name and the number of rows that a gen:result above the call gives its
// result set.
//
// The copy shares the links with the callee, which splice only reads. A name belongs to one set: with more than one it
// would not say which.
func (w *walker) renamed(s *syntax.Exec, callee *body) *graph {
	if d := w.directive(s, directive.Columns); d != nil {
		w.fail(d, ruleOverride, "put it above the statement in the procedure, or use WITH RESULT SETS",
			"gen:columns above the call of a procedure whose result sets are known is not needed")
	}
	d := w.directive(s, directive.Result)
	if d == nil {
		return callee.graph
	}
	results, _ := w.shape(callee)
	if len(results) != 1 {
		w.fail(d, ruleOverride, "name them in the procedure",
			"the procedure has %d result sets, so that one name does not do", len(results))
		return callee.graph
	}
	named := results[0]
	w.nameSet(d, &named, true)
	out := &graph{links: callee.graph.links, sets: slices.Clone(callee.graph.sets)}
	for i := range out.sets {
		out.sets[i].Name, out.sets[i].Stream = named.Name, named.Stream
		if d.Command != "" {
			out.sets[i].Rows = named.Rows
		}
	}
	return out
}

// redefined follows the EXEC of a known procedure with a WITH RESULT SETS clause, which must fit what it sends.
//
// The clause can rename columns and convert them, which makes it useful even here. Only when it changes nothing is it
// one more place to keep up to date, and refused.
func (w *walker) redefined(s *syntax.Exec, callee *body, at int) int {
	rs := s.ResultSets
	results, flow := w.shape(callee)
	if len(results) == 0 && len(rs.Sets) == 0 {
		w.fail(rs, ruleOverride, "remove the clause", "the procedure is known to send no result set")
		return w.silent(s, callee, at)
	}
	// The server fails a call that sends more or fewer sets than are defined, so every way through the callee must send
	// exactly as many.
	steps, ok := flow.steps()
	if !ok || len(steps) != len(rs.Sets) {
		w.fail(rs, ruleOverride, "define as many sets as the procedure sends in every case",
			"%s defined here, but the procedure sends %s", diag.Count(len(rs.Sets), "result set"), counted(steps, ok))
		return w.defined(s, at)
	}
	needed := false
	for i, fields := range steps {
		columns, ok := w.definedColumns(&rs.Sets[i])
		if !ok {
			needed = true
			continue
		}
		// Each set that can come in this place has to fit the one definition.
		for _, f := range fields {
			w.fits(&rs.Sets[i], columns, results[f].Columns)
			needed = needed || !sameColumns(columns, results[f].Columns)
		}
		set := w.resultSet(s, rowset{Columns: columns, Rows: results[fields[0]].Rows})
		for _, f := range fields {
			set.Rows = min(set.Rows, results[f].Rows)
		}
		if d := w.directive(s, directive.Result); d != nil && len(steps) == 1 {
			w.nameSet(d, &set, true)
		}
		at = w.sendSet(s, at, set)
	}
	if !needed {
		w.fail(rs, ruleOverride, "remove the clause", "the procedure sends exactly these columns without it")
	}
	return at
}

// counted says in a message how many result sets a procedure sends.
func counted(steps [][]int, always bool) string {
	switch {
	case !always:
		return "more in some cases than in others"
	case len(steps) == 0:
		return "none"
	default:
		return diag.Count(len(steps), "set")
	}
}

// steps lists which fields may come first, second and so on. It is not ok if calls differ in how many sets they send.
//
// For (a | b) c it is [[a b] [c]]. It goes through the automaton in steps: after n sets, at which states can a call be?
// If it can end at one of them, it must end at all.
func (f Flow) steps() ([][]int, bool) {
	var steps [][]int
	at := []int{0}
	for {
		var fields, next []int
		final := 0
		for _, s := range at {
			if f.States[s].Final {
				final++
			}
			for _, e := range f.States[s].Edges {
				fields = append(fields, e.Set)
				next = append(next, e.To)
			}
		}
		if final > 0 {
			return steps, len(fields) == 0
		}
		if len(next) == 0 {
			return steps, true // a procedure that always fails
		}
		slices.Sort(fields)
		slices.Sort(next)
		steps = append(steps, slices.Compact(fields))
		at = slices.Compact(next)
	}
}

// fits checks that the columns of a definition can take those that the procedure sends.
//
// The server converts as in an assignment.
func (w *walker) fits(def *syntax.ResultSetDef, columns, sent []Column) {
	if len(columns) != len(sent) {
		w.fail(def, ruleOverride, "", "%s defined here, but the procedure sends %d", diag.Count(len(columns), "column"), len(sent))
		return
	}
	for i, c := range columns {
		if c.Type.Kind != sqltype.Invalid && sent[i].Type.Kind != sqltype.Invalid && sqltype.Assignable(sent[i].Type, c.Type) != nil {
			w.fail(part{c.Span}, ruleOverride, "", "column %s is %s, which %s cannot become", c.Name, c.Type, sent[i].Type)
		}
	}
}

// sameColumns reports whether two lists of columns are the same to a client.
func sameColumns(xs, ys []Column) bool {
	return slices.EqualFunc(xs, ys, func(x, y Column) bool {
		return x.Name == y.Name && x.Type == y.Type && x.Nullable == y.Nullable
	})
}
