package session

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/sysview"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// argument is what a caller passes for one parameter.
type argument struct {
	name     string // with the @; empty for a positional one
	typ      value.Type
	value    value.Value
	fallback bool          // DEFAULT
	table    *schema.Table // of a table-valued parameter
	rows     *rowsArgument // of one that came over the wire
	cursor   *cursorArgument
	// output takes the value that the parameter has in the end; nil without OUTPUT.
	output func(v value.Value, t value.Type) error
}

// maxLevel is how deep modules may call each other.
const maxLevel = 32

// exec executes EXECUTE.
func (s *Session) exec(a *activation, st *syntax.Exec) error {
	if st.SQL != nil {
		return s.redefined(a, st.ResultSets, func() error { return s.execText(a, st) })
	}
	if a.function {
		return fault.New(557)
	}
	parts, err := s.procedureName(a, st)
	if err != nil {
		return err
	}
	args := s.beginArguments(len(st.Args))
	defer s.endArguments(args)
	for i := range st.Args {
		if args[i], err = s.argumentOf(a, &st.Args[i]); err != nil {
			return err
		}
	}
	top := a.unit.module == nil && !a.unit.nests
	var status value.Value
	err = s.redefined(a, st.ResultSets, func() (err error) {
		status, err = s.invoke(st.Span, parts, args)
		return err
	})
	if err != nil {
		return err
	}
	if st.Status != nil {
		if err := s.set(a, st.Status.Name, status, intType); err != nil {
			return err
		}
	}
	if top && s.out.into == nil {
		s.tellStatus(status)
	}
	return nil
}

// execText executes EXECUTE of a text.
func (s *Session) execText(a *activation, st *syntax.Exec) error {
	for _, o := range st.Options {
		switch o.Name {
		case "AT":
			return fault.New(7202, o.Value)
		case "AT DATA_SOURCE":
			return s.unsupported(a.unit, o.Span, "an external data source")
		}
	}
	var text strings.Builder
	for _, x := range st.SQL {
		v, err := s.convert(a, x, textType)
		if err != nil {
			return err
		}
		if !v.IsNull() {
			text.WriteString(v.Str())
		}
	}
	before := len(s.identities)
	defer func() { s.revertTo(before) }()
	for _, o := range st.Options {
		kind, isName := strings.CutPrefix(o.Name, "AS ")
		if !isName {
			continue
		}
		id, err := s.impersonated(kind, constantText(o.Value))
		if err != nil {
			return err
		}
		s.assume(id)
	}
	return s.dynamic(unitKey{text: text.String(), dynamic: true}, nil, nil)
}

// constantText is the text of a string as it stands in a statement.
func constantText(literal string) string {
	inner := strings.TrimSuffix(literal[strings.IndexByte(literal, '\'')+1:], "'")
	return strings.ReplaceAll(inner, "''", "'")
}

// dynamic executes a text as a module of its own.
func (s *Session) dynamic(key unitKey, params []*syntax.Param, args []argument) error {
	u, err := s.textUnit(key, params)
	if err != nil {
		return s.dynamicError(err)
	}
	before := s.transaction.count
	_, err = s.run(u, args)
	return s.balanced(before, err)
}

// dynamicError is the first mistake of a text that can't be read; those behind it are reported before it.
func (s *Session) dynamicError(err error) error {
	if list, ok := err.(syntaxErrors); ok { //nolint:errorlint // it is never wrapped
		return list[0]
	}
	return err
}

// procedureName is whom an EXECUTE calls.
func (s *Session) procedureName(a *activation, st *syntax.Exec) ([]string, error) {
	if st.ProcVar == nil {
		return names(st.Name), nil
	}
	v := a.unit.variables[fold(st.ProcVar.Name)]
	if v == nil {
		return nil, fault.New(137, st.ProcVar.Name)
	}
	text := a.frame.Variables[v.Slot]
	if text.IsNull() {
		return nil, fault.New(2812, "")
	}
	return splitName(text.Str()), nil
}

// names are the parts of a name.
func names(name *syntax.ObjectName) []string {
	parts := make([]string, len(name.Parts))
	for i, p := range name.Parts {
		parts[i] = p.Value
	}
	return parts
}

// splitName reads a name that comes as text: [a b].c, "x".y, z.
func splitName(text string) []string {
	var parts []string
	var part strings.Builder
	var end byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case end != 0 && c == end && i+1 < len(text) && text[i+1] == end:
			part.WriteByte(c)
			i++
		case end != 0 && c == end:
			end = 0
		case end != 0:
			part.WriteByte(c)
		case c == '[':
			end = ']'
		case c == '"':
			end = '"'
		case c == '.':
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteByte(c)
		}
	}
	return append(parts, strings.TrimSpace(part.String()))
}

// beginArguments returns room for the arguments of a call, which endArguments takes back: calls end in the opposite
// order of their beginnings.
func (s *Session) beginArguments(n int) []argument {
	from := len(s.arguments)
	s.arguments = slices.Grow(s.arguments, n)[:from+n]
	return s.arguments[from : from+n : from+n]
}

func (s *Session) endArguments(args []argument) {
	clear(args)
	s.arguments = s.arguments[:len(s.arguments)-len(args)]
}

// argumentOf is an argument of EXECUTE.
func (s *Session) argumentOf(a *activation, x *syntax.ExecArg) (argument, error) {
	out := argument{name: x.Name}
	if lit, ok := x.X.(*syntax.Literal); ok && lit.Kind == syntax.DefaultLiteral {
		out.fallback = true
		return out, nil
	}
	v, ok := x.X.(*syntax.Variable)
	if !ok {
		if x.Output {
			return out, fault.New(179)
		}
		var err error
		out.value, out.typ, err = s.evaluate(a, x.X, x)
		return out, err
	}
	name := fold(v.Name)
	if table := a.unit.tables[name]; table != nil {
		out.table = a.variableTable(table.Slot)
		return out, nil
	}
	if a.unit.cursorVariables[name] {
		out.cursor = &cursorArgument{from: a, name: v.Name}
		if x.Output {
			out.output = func(value.Value, value.Type) error { return nil }
		}
		return out, nil
	}
	if x.Output {
		out.output = func(result value.Value, t value.Type) error { return s.set(a, v.Name, result, t) }
	}
	if from := a.unit.variables[name]; from != nil {
		out.value, out.typ = a.frame.Variables[from.Slot], from.Type
		return out, nil
	}
	var err error
	out.value, out.typ, err = s.evaluate(a, x.X, x)
	return out, err
}

// set stores a value in a variable.
func (s *Session) set(a *activation, name string, v value.Value, t value.Type) error {
	target := a.unit.variables[fold(name)]
	if target == nil {
		return fault.New(137, name)
	}
	v, err := value.Assign(v, t, target.Type)
	if err != nil {
		return err
	}
	a.frame.Variables[target.Slot] = v
	return nil
}

// invoke calls a procedure by its name: one of the database's, or one of the system's. At is where a text calls it.
func (s *Session) invoke(at diag.Span, parts []string, args []argument) (value.Value, error) {
	m, db, err := s.findProcedure(parts)
	if err != nil {
		return value.Value{}, err
	}
	if name := fold(parts[len(parts)-1]); m == nil {
		if f, ok := systemProcedures[name]; ok {
			status, err := f(s, args)
			return value.OfInt(status), err
		}
		if sysview.ProcedureElsewhere(name) {
			return value.Value{}, s.unsupported(s.top().unit, at, strings.Join(parts, "."))
		}
		if s.isFunction(db, parts) {
			return value.Value{}, s.unsupported(s.top().unit, at, "EXECUTE of a function")
		}
	}
	if m, db, err = s.settled(m, db, parts); err != nil {
		return value.Value{}, err
	}
	if err := s.mayExecute(db, m); err != nil {
		return value.Value{}, err
	}
	home := s.db
	s.enterDatabase(db)
	defer s.enterDatabase(home)
	u, err := s.moduleUnit(m)
	if err != nil {
		return value.Value{}, err
	}
	before := s.transaction.count
	result, err := s.run(u, args)
	return result, u.before(s.balanced(before, err))
}

// balanced is the error for a module or a text that ends with another @@TRANCOUNT than it began with. There is none
// below a trigger, and none with implicit transactions.
func (s *Session) balanced(before int, err error) error {
	if err != nil || s.transaction.count == before || s.transaction.doomed || s.options.implicitTransactions ||
		slices.ContainsFunc(s.stack, func(a *activation) bool { return a.trigger }) {
		return err
	}
	return fault.New(unbalanced, before, s.transaction.count)
}

// settled waits until nobody else is changing or dropping a procedure that has been found, or that there is none, and
// returns what there is then.
func (s *Session) settled(m *schema.Module, db *schema.Database, parts []string) (*schema.Module, *schema.Database, error) {
	for {
		missing := fault.New(2812, strings.Join(parts, "."))
		switch {
		case m == nil && !s.awaitLeaving(s.top().unit, missing):
			return nil, nil, missing
		case m != nil && s.store.Defined(db.ID, m.ID):
			return m, db, nil
		case m != nil:
			scope := s.begin()
			if err := s.end(scope, s.Statement().LockSchema(db.ID, m.ID, lock.SchS)); err != nil {
				return nil, nil, err
			}
		}
		var err error
		if m, db, err = s.findProcedure(parts); err != nil {
			return nil, nil, err
		}
	}
}

// findProcedure finds a procedure of a database; nil if there is none.
func (s *Session) findProcedure(parts []string) (*schema.Module, *schema.Database, error) {
	db, schemaName, name := s.db, "", parts[len(parts)-1]
	if n := len(parts); n > 1 {
		if n > 3 && parts[n-4] != "" {
			return nil, nil, fault.New(7202, parts[n-4])
		}
		schemaName = parts[n-2]
		if n > 2 && parts[n-3] != "" {
			if db = s.server.catalog.Database(parts[n-3]); db == nil {
				return nil, nil, fault.New(911, parts[n-3])
			}
		}
	}
	if strings.HasPrefix(name, "#") {
		if m := s.findTemporaryProcedure(name); m != nil {
			return m, m.Schema.Database, nil
		}
		return nil, db, nil
	}
	found := db.Find(schemaName, name, s.searchSchema())
	if syn, ok := found.(*schema.Synonym); ok {
		return s.findProcedure(syn.For)
	}
	m, ok := found.(*schema.Module)
	if !ok || m.Kind != "P" {
		return nil, db, nil
	}
	return m, db, nil
}

// isFunction reports whether a name is that of a scalar function.
func (s *Session) isFunction(db *schema.Database, parts []string) bool {
	schemaName := ""
	if n := len(parts); n > 1 {
		schemaName = parts[n-2]
	}
	m, ok := db.Find(schemaName, parts[len(parts)-1], s.searchSchema()).(*schema.Module)
	return ok && m.Kind == "FN"
}

// searchSchema is where a name without a schema is looked for first.
func (s *Session) searchSchema() string {
	if a := s.top(); a != nil {
		return s.schemaOf(a.unit)
	}
	return s.defaultSchema()
}

// run executes a unit with arguments and returns what it returns.
func (s *Session) run(u *unit, args []argument) (result value.Value, err error) {
	if s.level() >= maxLevel {
		return result, fault.New(217, maxLevel)
	}
	a := s.enter(u, nil)
	entered := true
	leave := func() {
		if entered {
			s.leave(a)
			entered = false
		}
	}
	defer leave()
	if err := s.runAs(a); err != nil {
		return result, err
	}
	if err := s.bind(a, args); err != nil {
		return result, u.before(err)
	}
	if _, err := s.statements(a, u.stmts); err != nil && err != errScope { //nolint:errorlint // it is never wrapped
		return result, err
	}
	s.handCursors(a, args)
	leave()
	if a.result.IsNull() {
		a.result = value.OfInt(0)
	}
	return a.result, s.outputs(a, args)
}

// bind gives the parameters their values.
func (s *Session) bind(a *activation, args []argument) error {
	u := a.unit
	if len(args) > 0 && len(u.params) == 0 {
		return fault.New(8146, u.title())
	}
	if n := slices.IndexFunc(args, func(arg argument) bool { return arg.name != "" }); n > len(u.params) || n < 0 && len(args) > len(u.params) {
		return fault.New(8144, u.title())
	}
	var few [64]bool
	given := few[:0]
	if len(u.params) > len(few) {
		given = make([]bool, 0, len(u.params))
	}
	given = given[:len(u.params)]
	named := false
	for i := range args {
		arg := &args[i]
		at := i
		if arg.name != "" {
			named = true
			at = u.paramIndex(arg.name)
			if at < 0 {
				return fault.New(8145, arg.name, u.title())
			}
		} else if named {
			return fault.New(119, i+1)
		}
		if given[at] {
			return fault.New(8143, arg.name)
		}
		given[at] = !arg.fallback
		if err := s.bindOne(a, u.params[at], arg); err != nil {
			return err
		}
	}
	for i, p := range u.params {
		if given[i] || p.table != nil {
			continue
		}
		switch {
		case p.fallback != nil:
		case u.module == nil:
			return fault.New(8178, "("+u.declared+")"+u.file.Text, p.name)
		default:
			return fault.New(201, u.title(), p.name)
		}
		if err := s.bindDefault(a, p); err != nil {
			return err
		}
	}
	return nil
}

// title is how messages name a unit.
func (u *unit) title() string { return u.name }

func (u *unit) paramIndex(name string) int {
	name = fold(name)
	return slices.IndexFunc(u.params, func(p *param) bool { return p.folded == name })
}

// bindOne gives one parameter its value.
func (s *Session) bindOne(a *activation, p *param, arg *argument) error {
	if arg.fallback {
		return nil
	}
	if arg.output != nil && !p.output {
		return fault.New(8162, p.name, a.unit.title())
	}
	switch {
	case p.cursor:
		return bindCursor(arg)
	case arg.cursor != nil:
		return fault.New(16949, arg.cursor.name)
	case p.table != nil:
		return s.bindTable(a, p, arg)
	}
	if arg.table != nil || arg.rows != nil {
		return fault.New(206, "table", p.typ.String())
	}
	v, err := value.Assign(arg.value, arg.typ, p.typ)
	if err != nil {
		if e, ok := asFault(err); ok && e.Number != 8115 {
			return fault.New(8114, value.TypeName(arg.typ), value.TypeName(p.typ))
		}
		return err
	}
	a.frame.Variables[p.slot] = v
	return nil
}

func (s *Session) bindDefault(a *activation, p *param) error {
	x := p.fallback
	// A default may be a bare word, which is a string.
	if ref, ok := x.(*syntax.ColumnRef); ok && len(ref.Parts) == 1 {
		v, err := value.Assign(value.OfString(ref.Parts[0].Value), nameType, p.typ)
		a.frame.Variables[p.slot] = v
		return err
	}
	v, t, err := s.evaluate(a, x, x)
	if err != nil {
		return err
	}
	a.frame.Variables[p.slot], err = value.Assign(v, t, p.typ)
	return err
}

// outputs hands the values of OUTPUT parameters to the caller.
func (s *Session) outputs(a *activation, args []argument) error {
	for i := range args {
		if args[i].output == nil || args[i].cursor != nil {
			continue
		}
		at := i
		if args[i].name != "" {
			at = a.unit.paramIndex(args[i].name)
		}
		p := a.unit.params[at]
		if err := args[i].output(a.frame.Variables[p.slot], p.typ); err != nil {
			return err
		}
	}
	return nil
}

// insertExec executes INSERT … EXEC: all rows of all result sets that the call sends are inserted in the end.
func (s *Session) insertExec(a *activation, st *syntax.Insert) error {
	if s.out.into != nil {
		return fault.New(8164)
	}
	outer := s.out
	taken := &captured{transactions: s.transaction.count}
	s.out.into, s.out.redefined = taken, nil
	auto := s.transaction.count == 0
	if auto && !s.store.InTransaction() {
		s.store.Begin(s.options.isolation)
	}
	err := s.exec(a, st.Exec)
	s.out = outer
	if err == nil {
		err = s.insertRows(a, st, taken.sets)
	}
	if auto && s.store.InTransaction() && s.transaction.count == 0 {
		if err != nil {
			s.store.Rollback()
		} else {
			s.commitStore()
		}
	}
	return err
}

func (s *Session) insertRows(a *activation, st *syntax.Insert, sets []planner.Rows) error {
	p, err := planned(s, a.unit, st, func(env *binder.Env) (*planner.RowInsert, error) { return planner.InsertRows(env, st) })
	if err != nil {
		return err
	}
	a.need(p.Tables)
	if p.Columns != nil {
		if err := s.sendColumns(p.Columns); err != nil {
			return err
		}
	}
	scope := s.begin()
	n, err := p.Run(&a.frame, sets, s.sendRow)
	if err := s.end(scope, err); err != nil {
		return terminated(err)
	}
	s.rowCount = n
	s.done("INSERT", n, p.Columns != nil)
	return nil
}

// readParams reads the declaration of parameters of sp_executesql.
func readParams(declaration string) ([]*syntax.Param, error) {
	if strings.TrimSpace(declaration) == "" {
		return nil, nil
	}
	script, found := parse(diag.NewFile("parameters", "CREATE PROCEDURE p "+declaration+"\nAS"))
	if len(found) > 0 {
		return nil, syntaxError(found)
	}
	def, ok := script.Batches[0].Stmts[0].(*syntax.CreateProcedure)
	if !ok {
		return nil, fault.New(214, "ntext/nchar/nvarchar")
	}
	return def.Params, nil
}
