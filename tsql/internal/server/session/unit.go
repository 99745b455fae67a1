package session

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/define"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// unit is a text that is ready to be executed: a batch, dynamic SQL, a procedure, a function or a trigger. It is made
// once and executed by any number of sessions, so it holds no state of an execution; its plans are made when they are
// first needed, and again when what they were made for has changed.
type unit struct {
	db     *schema.Database
	file   *diag.File
	stmts  []syntax.Stmt
	module *schema.Module // nil for a batch
	name   string         // of the module, as errors name it
	nests  bool           // it counts in @@NESTLEVEL: all but a batch
	schema string         // where names are looked for first

	declared string // the parameters of dynamic SQL, as text
	// typed is the version of the catalog in which the unit's types of users were found; 0 if it names none.
	typed uint64

	params    []*param
	variables map[string]*binder.Variable
	tables    map[string]*binder.TableVariable
	// cursorVariables are the variables that hold cursors, by folded name with the @.
	cursorVariables map[string]bool
	types           []value.Type    // of the variables, by slot
	templates       []*schema.Table // of the table variables, by slot
	result          int             // the slot of the table that a function returns

	plans map[syntax.Node]*cached
}

// param is a parameter of a unit.
type param struct {
	name     string // with the @
	folded   string
	slot     int // of the variable, or of the table variable
	typ      value.Type
	table    *schema.Table // of a table-valued parameter
	typeName string        // of a table-valued parameter
	output   bool
	cursor   bool
	fallback syntax.Expr // the default; nil if there is none
}

// unitKey is what a batch's unit depends on besides the catalog.
type unitKey struct {
	text, params, schema string
	db                   int32
	dynamic              bool // EXECUTE of a text: it counts in @@NESTLEVEL
}

// dynamicName is what errors call a text that EXECUTE executes.
const dynamicName = "text"

// placed gives an error its place.
func placed(e *fault.Error, file *diag.File, at diag.Pos, procedure string) {
	e.Line, e.Procedure, e.Dynamic = line(file, at), procedure, file.Name == dynamicName
}

// maxUnits bounds how many texts are remembered. When it is reached all are forgotten: whoever sends that many texts
// seldom repeats one.
const maxUnits = 4096

// batchUnit returns the unit of a batch.
func (s *Session) batchUnit(text string) (*unit, error) {
	return s.textUnit(unitKey{text: text}, nil)
}

// textUnit returns the unit of a batch or of dynamic SQL with parameters, which have been read from their declaration.
func (s *Session) textUnit(key unitKey, params []*syntax.Param) (*unit, error) {
	key.schema, key.db = s.defaultSchema(), s.db.ID
	if u := s.server.units[key]; u != nil && u.typesStay() {
		return u, nil
	}
	file := diag.NewFile("batch", key.text)
	if key.dynamic {
		file.Name = dynamicName
	}
	script, found := parse(file)
	if len(found) > 0 {
		return nil, syntaxError(found)
	}
	u := s.newUnit(file, key.schema)
	u.nests, u.declared = key.dynamic, key.params
	if len(script.Batches) > 1 || (len(script.Batches) == 1 && script.Batches[0].Count > 1) {
		e := fault.New(102, "GO")
		placed(e, file, script.Batches[0].Range().To, "")
		return nil, e
	}
	if len(script.Batches) == 1 {
		u.stmts = script.Batches[0].Stmts
	}
	if err := s.declare(u, params); err != nil {
		return nil, err
	}
	if err := s.checkAll(u); err != nil {
		return nil, err
	}
	if len(s.server.units) >= maxUnits {
		clear(s.server.units)
	}
	s.server.units[key] = u
	return u, nil
}

// moduleUnit returns the unit of a procedure, function or trigger.
func (s *Session) moduleUnit(m *schema.Module) (*unit, error) {
	if u, ok := m.Compiled.(*unit); ok && u.typesStay() {
		return u, nil
	}
	file := diag.NewFile(m.Schema.Name+"."+m.Name, m.Text)
	u := s.newUnit(file, m.Schema.Name)
	u.module, u.nests = m, true
	u.name = m.Schema.Name + "." + m.Name
	if fold(m.Schema.Name) == "dbo" {
		u.name = m.Name
	}
	var params []*syntax.Param
	switch def := m.Stmt.(type) {
	case *syntax.CreateProcedure:
		params, u.stmts = def.Params, def.Body
	case *syntax.CreateFunction:
		params, u.stmts = def.Params, def.Body
	case *syntax.CreateTrigger:
		u.stmts = def.Body
	}
	if err := s.declare(u, params); err != nil {
		return nil, err
	}
	if def, ok := m.Stmt.(*syntax.CreateFunction); ok && def.Table != nil {
		if err := s.declareTable(u, def.TableVariable, def.Table); err != nil {
			return nil, err
		}
		u.result = u.tables[fold(def.TableVariable)].Slot
	}
	m.Compiled = u
	return u, nil
}

// databaseOf is where the names of a unit are looked for: those of a module in its own database, those of a batch in
// that of the last USE.
func (s *Session) databaseOf(u *unit) *schema.Database {
	if u.module != nil {
		return u.db
	}
	return s.db
}

// schemaOf is where names without a schema are looked for first.
func (s *Session) schemaOf(u *unit) string {
	if s.databaseOf(u) != u.db {
		return s.defaultSchema()
	}
	return u.schema
}

func (s *Session) newUnit(file *diag.File, schemaName string) *unit {
	return &unit{
		db: s.db, file: file, schema: schemaName, variables: map[string]*binder.Variable{}, tables: map[string]*binder.TableVariable{},
		plans: map[syntax.Node]*cached{}, cursorVariables: map[string]bool{},
	}
}

// declare gives every parameter and every variable of the statements a slot. T-SQL's variables are known from where
// they are declared to the end of the batch, whatever the blocks.
func (s *Session) declare(u *unit, params []*syntax.Param) error {
	for _, p := range params {
		if err := s.declareParam(u, p); err != nil {
			return err
		}
	}
	for _, stmt := range u.stmts {
		if isModule(stmt) {
			continue // its variables are its own
		}
		for d := range syntax.All[*syntax.Declare](stmt) {
			for _, v := range d.Vars {
				if err := s.declareVariable(u, v); err != nil {
					return u.at(err, v.Range())
				}
			}
		}
	}
	return nil
}

func (s *Session) declareParam(u *unit, p *syntax.Param) error {
	if isCursor(p.Type) {
		if !p.Output || !p.Varying && u.module != nil {
			return u.at(fault.New(1051), p.Range())
		}
		u.params = append(u.params, &param{name: p.Name, folded: fold(p.Name), output: true, cursor: true})
		u.cursorVariables[fold(p.Name)] = true
		return nil
	}
	typ, user, err := define.ResolveType(u.db, p.Type, u.schema)
	if err != nil {
		return u.at(err, p.Range())
	}
	out := &param{name: p.Name, folded: fold(p.Name), typ: typ, output: p.Output, fallback: p.Default}
	u.names(user)
	if user != nil && user.Table != nil {
		if !p.ReadOnly {
			return u.at(fault.New(352, p.Name), p.Range())
		}
		out.table, out.typeName = user.Table, user.Schema.Name+"."+user.Name
		out.slot = u.addTable(p.Name, user.Table, true)
	} else {
		out.slot = u.addVariable(p.Name, typ)
	}
	u.params = append(u.params, out)
	return nil
}

func (s *Session) declareVariable(u *unit, v syntax.VarDecl) error {
	if u.knows(v.Name) {
		return fault.New(134, v.Name)
	}
	if v.Table != nil {
		return s.declareTable(u, v.Name, v.Table)
	}
	if isCursor(v.Type) {
		if v.Init != nil {
			return fault.New(16949, v.Name)
		}
		u.cursorVariables[fold(v.Name)] = true
		return nil
	}
	typ, user, err := define.ResolveType(u.db, v.Type, u.schema)
	if err != nil {
		return err
	}
	u.names(user)
	if user != nil && user.Table != nil {
		u.addTable(v.Name, user.Table, false)
		return nil
	}
	u.addVariable(v.Name, typ)
	return nil
}

// declareTable gives a table variable its slot.
func (s *Session) declareTable(u *unit, name string, def *syntax.TableDef) error {
	t, err := define.TableVariable(s.defining(u), name, def)
	if err != nil {
		return err
	}
	u.addTable(name, t, false)
	return nil
}

// names notes that the unit depends on a type of a user, which another one may replace.
func (u *unit) names(user *schema.UserType) {
	if user != nil {
		u.typed = u.db.Version
	}
}

// typesStay reports whether the types that the unit names are still those that it was made for.
func (u *unit) typesStay() bool { return u.typed == 0 || u.typed == u.db.Version }

// isModule reports whether a statement defines a module, whose statements are not the batch's.
func isModule(stmt syntax.Stmt) bool {
	switch stmt.(type) {
	case *syntax.CreateProcedure, *syntax.CreateFunction, *syntax.CreateTrigger, *syntax.CreateView:
		return true
	default:
		return false
	}
}

func (u *unit) knows(name string) bool {
	_, scalar := u.variables[fold(name)]
	_, table := u.tables[fold(name)]
	return scalar || table || u.cursorVariables[fold(name)]
}

// isCursor reports the type of variables that hold cursors.
func isCursor(t *syntax.TypeName) bool { return strings.EqualFold(t.Name.Last().Value, "cursor") }

func (u *unit) addVariable(name string, t value.Type) int {
	slot := len(u.types)
	u.types = append(u.types, t)
	u.variables[fold(name)] = &binder.Variable{Slot: slot, Type: t}
	return slot
}

func (u *unit) addTable(name string, t *schema.Table, readOnly bool) int {
	slot := len(u.templates)
	u.templates = append(u.templates, t)
	u.tables[fold(name)] = &binder.TableVariable{Slot: slot, Table: t, ReadOnly: readOnly}
	return slot
}

// at gives an error the line of a place, if it has none.
func (u *unit) at(err error, span diag.Span) error {
	if e, ok := asFault(err); ok && e.Line == 0 && e.Procedure == "" {
		placed(e, u.file, span.From, u.name)
	}
	return err
}

// before makes an error one of the module's line 0: it belongs to the call, not to a statement.
func (u *unit) before(err error) error {
	if e, ok := asFault(err); ok && e.Line == 0 && u.module != nil {
		e.Procedure = u.name
	}
	return err
}

// cached is a plan with what it was made for.
type cached struct {
	db       *schema.Database
	version  uint64
	plans    Plans  // of the server, when it was made
	planning uint64 // likewise
	temps    []dependency
	what     any
}

// dependency is a name of a temporary table and what it stood for; nil for nothing.
type dependency struct {
	name  string
	table *schema.Table
}

// planned returns the plan of a node, made by f if there is none or if the catalog has changed since.
func planned[T any](s *Session, u *unit, node syntax.Node, f func(env *binder.Env) (T, error)) (T, error) {
	db := s.databaseOf(u)
	s.server.observer.Looked(schedule.Definitions, schedule.Always)
	if c := u.plans[node]; c != nil && c.db == db && c.version == db.Version && c.plans == s.server.plans && c.planning == s.server.planning &&
		s.same(c.temps) {
		if what, ok := c.what.(T); ok {
			return what, nil
		}
	}
	c := &cached{db: db, version: db.Version, plans: s.server.plans, planning: s.server.planning}
	env := s.env(u, &c.temps)
	env.Chooser = s.chooser(u, node)
	what, err := f(env)
	for err != nil && s.awaitLeaving(u, err) {
		c.version = db.Version
		env = s.env(u, &c.temps)
		env.Chooser = s.chooser(u, node)
		what, err = f(env)
	}
	if err != nil {
		return what, u.at(compileError(err), node.Range())
	}
	c.what = what
	u.plans[node] = c
	return what, nil
}

// awaitLeaving waits for transactions that have dropped something, if an object is missing, and reports whether it
// makes sense to look again: they may have been rolled back.
func (s *Session) awaitLeaving(u *unit, err error) bool {
	e, ok := asFault(err)
	if !ok || !deferred[e.Number] || s.top() == nil {
		return false
	}
	db := s.databaseOf(u)
	list := db.Leaving(s.store.TransactionID())
	if len(list) == 0 {
		return false
	}
	scope := s.begin()
	var waitErr error
	for _, l := range list {
		if waitErr = s.Statement().LockSchema(db.ID, l.ID, lock.SchS); waitErr != nil {
			break
		}
	}
	db.AllLeft(list)
	return s.end(scope, waitErr) == nil
}

// same reports whether the names of temporary tables stand for what they stood for.
func (s *Session) same(temps []dependency) bool {
	for _, d := range temps {
		if s.findTemporary(d.name) != d.table {
			return false
		}
	}
	return true
}

// env is what a statement of the unit sees. Temporary tables that are asked for are noted.
func (s *Session) env(u *unit, temps *[]dependency) *binder.Env {
	e := &binder.Env{
		Database: s.databaseOf(u), Server: s.server.catalog, File: u.file, Schema: s.schemaOf(u), Module: u.module,
		Variables: u.variables, Tables: u.tables, CursorVariables: u.cursorVariables,
		Temp: func(name string) *schema.Table {
			t := s.findTemporary(name)
			*temps = append(*temps, dependency{name, t})
			return t
		},
	}
	if u.module != nil {
		if _, ok := u.module.Stmt.(*syntax.CreateTrigger); ok {
			// What it cannot be made of, the statements say that use it.
			e.Inserted, _ = binder.TriggerTable(e, u.db.Objects[u.module.Parent])
		}
	}
	return e
}

// line is the line of a place, from 1.
func line(file *diag.File, at diag.Pos) int32 {
	n, _ := file.Position(at)
	return int32(n)
}
