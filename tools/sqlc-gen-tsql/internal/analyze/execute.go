package analyze

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/syntax"
)

// ruleExec is the id of findings about calls of procedures.
const ruleExec = "exec"

// systemProcedures lists procedures of the server that send no result set, with what they do.
var systemProcedures = map[string]string{
	"sp_addapprole":             "a principal",
	"sp_addextendedproperty":    "a note on an object",
	"sp_addlinkedserver":        "a definition",
	"sp_addlogin":               "a principal",
	"sp_addmessage":             "a message for RAISERROR",
	"sp_addrole":                "a principal",
	"sp_addrolemember":          "a principal",
	"sp_addsrvrolemember":       "a principal",
	"sp_addtype":                "a definition",
	"sp_adduser":                "a principal",
	"sp_altermessage":           "a message for RAISERROR",
	"sp_bindefault":             "a definition",
	"sp_bindrule":               "a definition",
	"sp_create_plan_guide":      "plans",
	"sp_control_plan_guide":     "plans",
	"sp_dropextendedproperty":   "a note on an object",
	"sp_dropmessage":            "a message for RAISERROR",
	"sp_droprolemember":         "a principal",
	"sp_dropuser":               "a principal",
	"sp_getapplock":             "a lock; its status says whether it was granted",
	"sp_grantdbaccess":          "a principal",
	"sp_invalidate_textptr":     "text pointers",
	"sp_procoption":             "a definition",
	"sp_recompile":              "plans",
	"sp_refreshsqlmodule":       "a definition",
	"sp_refreshview":            "a definition",
	"sp_releaseapplock":         "a lock",
	"sp_rename":                 "a definition",
	"sp_send_dbmail":            "a message; a query's result goes into it",
	"sp_sequence_get_range":     "numbers, as OUTPUT values",
	"sp_set_session_context":    "a value for the session",
	"sp_settriggerorder":        "a definition",
	"sp_start_job":              "a job",
	"sp_stop_job":               "a job",
	"sp_tableoption":            "a definition",
	"sp_trace_generateevent":    "an event",
	"sp_unbindefault":           "a definition",
	"sp_unbindrule":             "a definition",
	"sp_updateextendedproperty": "a note on an object",
	"sp_updatestats":            "plans",
	"sp_xml_preparedocument":    "a handle, as an OUTPUT value",
	"sp_xml_removedocument":     "a handle",
	"xp_logevent":               "a line in a log",
}

// exec follows EXECUTE. There are four cases:
//
//   - a procedure of the scripts: its own flow takes the place of the call, and its parameters are known;
//   - a procedure of the server that is known to send nothing;
//   - dynamic SQL, or a procedure that nobody here knows: WITH RESULT SETS or gen:columns says what is sent;
//   - anything in a script: nobody reads it.
func (w *walker) exec(s *syntax.Exec, at int) int {
	w.status(s)
	if w.body.module == inFunction {
		w.fail(s, ruleStatement, "make it a procedure", "a function cannot call procedures")
	}
	switch {
	case len(s.SQL) > 0:
		for _, x := range s.SQL {
			w.a.scalar(w.e, x)
		}
		w.looseArguments(s)
		return w.opaque(s, at, "what dynamic SQL sends is not known")
	case s.ProcVar != nil:
		w.a.scalar(w.e, s.ProcVar)
		w.looseArguments(s)
		return w.opaque(s, at, "which procedure "+s.ProcVar.Name+" names is not known")
	}
	if callee := w.callee(s.Name); callee != nil {
		w.arguments(s, callee)
		return w.call(s, callee, at)
	}
	w.looseArguments(s)
	name := catalog.Fold(s.Name.Parts[len(s.Name.Parts)-1].Value)
	switch {
	case w.body.module == inScript:
		return at // nobody reads what it sends
	case systemProcedures[name] != "":
		return w.resultSetsOfNone(s, at)
	case name == "sp_executesql":
		return w.opaque(s, at, "what dynamic SQL sends is not known")
	default:
		return w.opaque(s, at, "the procedure "+w.e.file.Slice(s.Name.Span)+" is not defined in the scripts")
	}
}

// status checks the variable of EXEC @rc = p.
func (w *walker) status(s *syntax.Exec) {
	if s.Status != nil {
		w.a.assignVariable(w.e, s.Status, "=", typed{Type: sqltype.Type{Kind: sqltype.Int}}, s.Status)
	}
}

// callee finds a procedure of the scripts by its name, through synonyms.
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
func (w *walker) opaque(s *syntax.Exec, at int, why string) int {
	w.body.throws.dynamic = true
	if w.body.module != inProcedure {
		return at
	}
	if rs := s.ResultSets; rs != nil && !rs.Undefined {
		return w.defined(s, at)
	}
	if d := w.directive(s, directive.Columns); d != nil {
		return w.sendSet(s, at, w.override(s, rowset{bad: true}, nil))
	}
	fix := "add WITH RESULT SETS ((column type, …)) or WITH RESULT SETS NONE, or -- gen:columns above it"
	if near := w.nearProcedure(s.Name); near != "" {
		fix = near + " If not, " + fix
	}
	w.fail(s, ruleExec, fix, "%s", why)
	return at
}

// nearProcedure names what a misspelt procedure may have meant, or "".
func (w *walker) nearProcedure(name *syntax.ObjectName) string {
	if name == nil {
		return ""
	}
	resolved, err := w.a.resolve(w.e, name)
	if err != nil {
		return ""
	}
	return w.a.nearest(resolved)
}

// defined follows an EXEC by its WITH RESULT SETS clause alone.
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
func (w *walker) call(s *syntax.Exec, callee *catalog.Procedure, at int) int {
	// The callee is walked now, if it has not been: the order of the scripts does not matter.
	b, done := w.procedureBody(callee)
	w.body.calls = append(w.body.calls, b)
	if !done {
		// The callee is being walked: it calls itself. Whether that matters is known when its walk is over.
		w.recursive[callee] = append(w.recursive[callee], site{file: w.e.file, span: s.Span})
		return at
	}
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
func (w *walker) silent(s *syntax.Exec, callee *body, at int) int {
	if w.body.module != inProcedure && w.body.module != inScript && len(callee.graph.sets) > 0 {
		return w.sendSet(s, at, ResultSet{})
	}
	if at == nowhere || callee.graph.returns() {
		return at
	}
	return nowhere // it always fails
}

// renamed returns the callee's graph with the name and the number of rows that a gen:result above the call gives its
// result set.
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
			"%s defined here, but the procedure sends %s", count(len(rs.Sets), "result set"), counted(steps, ok))
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
		return count(len(steps), "set")
	}
}

// steps lists which fields may come first, second and so on. It is not ok if calls differ in how many sets they send.
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
func (w *walker) fits(def *syntax.ResultSetDef, columns, sent []Column) {
	if len(columns) != len(sent) {
		w.fail(def, ruleOverride, "", "%s defined here, but the procedure sends %d", count(len(columns), "column"), len(sent))
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

// arguments checks the arguments of a call against the parameters of a procedure.
func (w *walker) arguments(s *syntax.Exec, callee *catalog.Procedure) {
	// Positional arguments come first, which the parser has checked.
	given := make([]bool, len(callee.Params))
	for i := range s.Args {
		arg := &s.Args[i]
		at := i
		switch {
		case arg.Name != "":
			at = slices.IndexFunc(callee.Params, func(p catalog.Param) bool {
				return catalog.Fold(p.Name) == catalog.Fold(arg.Name)
			})
			if at < 0 {
				w.fail(arg, ruleExec, "", "%s has no parameter %s", callee.Name, arg.Name)
			}
		case i >= len(callee.Params):
			w.fail(arg, ruleExec, "", "%s has only %s", callee.Name, count(len(callee.Params), "parameter"))
			at = -1
		}
		if at < 0 {
			w.looseArgument(arg)
			continue
		}
		if given[at] {
			w.fail(arg, ruleExec, "", "the parameter %s is given twice", callee.Params[at].Name)
		}
		given[at] = true
		w.argument(arg, callee, &callee.Params[at])
	}
	var missing []string
	for i, p := range callee.Params {
		if !given[i] && p.Default == nil && p.Table == nil { // a table argument left out is an empty table
			missing = append(missing, p.Name)
		}
	}
	if len(missing) > 0 {
		w.fail(s, ruleExec, "", "%s also needs %s", callee.Name, strings.Join(missing, ", "))
	}
}

// argument checks one argument.
func (w *walker) argument(arg *syntax.ExecArg, callee *catalog.Procedure, p *catalog.Param) {
	if l, ok := arg.X.(*syntax.Literal); ok && l.Kind == syntax.DefaultLiteral {
		if p.Default == nil && p.Table == nil {
			w.fail(arg, ruleExec, "", "the parameter %s of %s has no default", p.Name, callee.Name)
		}
		return
	}
	if p.Table != nil {
		w.tableArgument(arg, p)
		return
	}
	if arg.Output && !p.Output {
		w.fail(arg, ruleExec, "remove OUTPUT here, or add it to the parameter", "the parameter %s of %s is not declared OUTPUT", p.Name, callee.Name)
	}
	x := w.looseArgument(arg)
	w.a.argument(w.e, x, p.Type, true, arg.X.Range(), "the parameter "+p.Name)
	// OUTPUT is an assignment the other way round, and any procedure can leave NULL in it.
	if v, ok := arg.X.(*syntax.Variable); ok && arg.Output && p.Output {
		w.a.assignVariable(w.e, v, "=", typed{Type: p.Type, Nullable: true}, arg)
	}
}

// tableArgument checks an argument for a table-valued parameter: a table variable of that very type.
func (w *walker) tableArgument(arg *syntax.ExecArg, p *catalog.Param) {
	v, ok := arg.X.(*syntax.Variable)
	if !ok {
		w.fail(arg, ruleExec, "", "the parameter %s needs a table variable of type %s", p.Name, p.Table.Name)
		return
	}
	t, ok := w.e.table(v.Name)
	switch {
	case !ok:
		w.fail(arg, ruleName, "", "there is no table variable %s", v.Name)
	case t.Name.Key() != p.Table.Name.Key():
		w.fail(arg, ruleType, "declare it AS "+p.Table.Name.String(), "%s is not of the table type %s", v.Name, p.Table.Name)
	}
}

// looseArguments checks the arguments of a call whose parameters are not known.
func (w *walker) looseArguments(s *syntax.Exec) {
	for i := range s.Args {
		arg := &s.Args[i]
		if v, ok := arg.X.(*syntax.Variable); ok {
			if _, table := w.e.table(v.Name); table {
				continue
			}
		}
		w.looseArgument(arg)
	}
}

// looseArgument types an argument as far as that can be done without its parameter.
func (w *walker) looseArgument(arg *syntax.ExecArg) typed {
	if x, ok := arg.X.(*syntax.Literal); ok && x.Kind == syntax.DefaultLiteral {
		return typed{}
	}
	return w.a.scalar(w.e, arg.X)
}

// insertExec checks INSERT … EXEC: what the procedure sends must fit the columns that are inserted.
func (w *walker) insertExec(s *syntax.Insert) {
	if w.body.insertExec == nil {
		w.body.insertExec = s
	}
	x := s.Exec
	w.status(x)
	callee := (*catalog.Procedure)(nil)
	if x.Name != nil {
		callee = w.callee(x.Name)
	}
	if callee == nil {
		for _, part := range x.SQL {
			w.a.scalar(w.e, part)
		}
		w.looseArguments(x)
		return // the columns are the server's to check
	}
	w.arguments(x, callee)
	b, done := w.procedureBody(callee)
	w.body.calls = append(w.body.calls, b)
	if !done {
		w.fail(x, ruleExec, "", "INSERT … EXEC cannot be nested, as it is when a procedure inserts what it sends itself")
		return
	}
	if inner := b.nested(map[*body]bool{}); inner != nil {
		w.fail(x, ruleExec, "let the procedure fill a temp table of the caller",
			"INSERT … EXEC cannot be nested, and %s has one", callee.Name)
		return
	}
	w.insertSets(s, b)
}

// insertSets checks each set of the procedure against the target columns of INSERT … EXEC.
func (w *walker) insertSets(s *syntax.Insert, callee *body) {
	results, _ := w.shape(callee)
	if callee.broken {
		return
	}
	if len(results) == 0 {
		w.fail(s.Exec, ruleExec, "call it with EXEC alone", "the procedure sends no result set that could be inserted")
		return
	}
	var target *source
	var columns []int
	w.a.quietly(func() { // dml reports what is wrong with the target
		sc := &scope{env: w.e, clause: inValues}
		w.a.with(sc, s.With)
		target = w.a.target(sc, s.Target, nil)
		columns = w.a.insertColumns(w.e, target, s.Columns)
	})
	for _, r := range results {
		if !target.bad && len(r.Columns) != len(columns) {
			w.fail(s.Exec, ruleExec, "", "the result set at %s has %s for %s",
				site{r.File, r.Span}, count(len(r.Columns), "column"), count(len(columns), "column"))
			continue
		}
		// What the callee sends is stored as the rows of a query would be.
		var out result
		for _, c := range r.Columns {
			c.Span = s.Exec.Span
			out.columns = append(out.columns, c)
			out.values = append(out.values, typed{Type: c.Type, Nullable: c.Nullable})
		}
		w.a.store(w.e, target, columns, out, s.Exec.Span)
	}
}

// nested finds an INSERT … EXEC in a body or what it calls.
func (b *body) nested(seen map[*body]bool) *syntax.Insert {
	if seen[b] {
		return nil
	}
	seen[b] = true
	if b.insertExec != nil {
		return b.insertExec
	}
	for _, c := range b.calls {
		if found := c.nested(seen); found != nil {
			return found
		}
	}
	return nil
}
