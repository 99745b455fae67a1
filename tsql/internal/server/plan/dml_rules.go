package plan

import (
	"errors"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// rules is what holds for every row that comes into a table or changes there, compiled for one statement.
type rules struct {
	b    *binder
	from execute.Source
	// after and before are the row as it becomes and as it was: what checks and computed columns are about, and the
	// tables inserted and deleted of OUTPUT.
	after, before *source
	defaults      map[int]execute.Expr // by ordinal
	computed      []computedRule
	past          []computedRule // of before: computed columns that only the history stores
	checks        []checkRule
	view          []execute.Cond // WITH CHECK OPTION
	parents       []*parentKey
	children      []*childKey
	sets          map[int]bool // the ordinals of the columns that an UPDATE sets
	quiet         bool         // no triggers are fired
	insteadOf     string       // the event whose INSTEAD OF triggers take the place of the change; "" if none do
}

type computedRule struct {
	column *schema.Column
	value  execute.Expr
}

type checkRule struct {
	check *schema.Check
	holds execute.Cond
}

// catalog returns the binder of an expression that stands in the catalog: a default, a check.
func (b *binder) catalog(t *schema.Table, file *diag.File) *binder {
	env := &Env{
		Database: b.env.Database, Server: b.env.Server, File: file, Schema: b.env.Schema, Chooser: b.env.Chooser,
		Temp: func(string) *schema.Table { return nil },
	}
	if t.Schema != nil && !t.Temporary && t.Schema.Database != nil && !t.Variable {
		env.Schema, env.Database = t.Schema.Name, t.Schema.Database
	}
	return &binder{statement: b.statement, env: env, depth: b.depth, owner: t}
}

// rulesOf compiles the rules of a table. all is the rules of the tables that were compiled before, which cascades may
// lead back to.
func (b *binder) rulesOf(from execute.Source, all map[*schema.Table]*rules) (*rules, error) {
	t := from.Table
	u := &rules{b: b, from: from, defaults: map[int]execute.Expr{}}
	u.after = b.tableSource(execute.Source{Place: execute.InInserted, Table: t}, execute.Hints{}, false)
	u.before = b.tableSource(execute.Source{Place: execute.InDeleted, Table: t}, execute.Hints{}, false)
	u.after.name, u.before.name = "inserted", "deleted"
	all[t] = u
	if err := u.computes(); err != nil {
		return nil, err
	}
	for _, ck := range t.Checks {
		if ck.Disabled {
			continue
		}
		in := b.catalog(t, ck.File)
		n, err := in.cond(&scope{sources: []*source{u.after}, clause: inWhere}, ck.Expr)
		if err != nil {
			return nil, err
		}
		code, err := (&planner{b: in}).code(n)
		if err != nil {
			return nil, err
		}
		u.checks = append(u.checks, checkRule{ck, code.cond})
	}
	if err := u.keys(all); err != nil {
		return nil, err
	}
	return u, nil
}

// computes compiles the computed columns that are stored: in the row as it becomes, or in the history as it was.
func (u *rules) computes() error {
	t := u.from.Table
	for _, c := range t.Columns {
		row, list := u.after, &u.computed
		if !c.Stored {
			row, list = u.before, &u.past
		}
		if c.Computed == nil || !c.Stored && t.History == nil {
			continue
		}
		in := u.b.catalog(t, c.File)
		n, err := in.expr(&scope{sources: []*source{row}, clause: inList}, c.Computed)
		if err != nil {
			return err
		}
		if n, err = in.stored(n, t, c); err != nil {
			return err
		}
		code, err := (&planner{b: in}).code(n)
		if err != nil {
			return err
		}
		*list = append(*list, computedRule{c, code.expr})
	}
	return nil
}

// stored makes of an expression what a column stores: converted, and refused if it is too long.
func (b *binder) stored(n *node, t *schema.Table, c *schema.Column) (*node, error) {
	to := b.columnType(c)
	if n.typ.Kind == sqltype.Null {
		out := *n
		out.typ = to
		return &out, nil
	}
	if _, err := b.implicitly(n, to); err != nil {
		return nil, err
	}
	if n.typ.Type == to.Type && (!to.IsCharacter() || to.IsNational() || n.typ.Collation == to.Collation) {
		return n, nil
	}
	from := n.typ
	return &node{
		name: "store " + t.Name + "." + c.Name, typ: to, nullable: n.nullable, args: []*node{n}, at: n.at,
		value: strict1(func(v execute.Value) (execute.Value, error) {
			s, err := value.Store(v, from, to)
			if err != nil {
				return s, t.Truncated(err, c, v, from)
			}
			return s, nil
		}),
	}, nil
}

// defaultNode is the default of a column, converted to its type; NULL if it has none.
func (b *binder) defaultNode(t *schema.Table, c *schema.Column) (*node, error) {
	if c.Default == nil {
		return constantNode(value.Value{}, b.columnType(c)), nil
	}
	in := b.catalog(t, c.Default.File)
	n, err := in.expr(&scope{}, c.Default.Expr)
	if err != nil {
		return nil, err
	}
	return in.stored(n, t, c)
}

// compileDefaults compiles the defaults of the columns that an INSERT leaves out.
func (u *rules) compileDefaults(given map[int]bool) error {
	t := u.from.Table
	for _, c := range t.Columns {
		if c.Default == nil || given[c.Ordinal] {
			continue
		}
		n, err := u.b.defaultNode(t, c)
		if err != nil {
			return err
		}
		code, err := (&planner{b: u.b}).code(n)
		if err != nil {
			return err
		}
		u.defaults[c.Ordinal] = code.expr
	}
	return nil
}

// load puts a row into the slots of after or before.
func load(r *execute.Run, src *source, row []execute.Value) {
	rel := src.rel.(*tableRel) //nolint:errcheck,forcetypeassert // rulesOf made it
	for ordinal, slot := range rel.slots {
		if slot < 0 {
			continue
		}
		if row == nil {
			r.Slots[slot] = execute.Value{}
		} else {
			r.Slots[slot] = row[ordinal]
		}
	}
}

// settle completes a new row, which nobody else has yet: computed columns get their values, and what must not be NULL,
// the checks and the lengths of keys are tested. The row's columns are in the slots of after then.
func (u *rules) settle(e *execution, t *schema.Table, row []execute.Value) error {
	load(e.r, u.after, row)
	for _, c := range u.computed {
		v, err := c.value(e.r)
		if err != nil {
			return err
		}
		row[c.column.Ordinal] = v
	}
	if len(u.computed) > 0 {
		load(e.r, u.after, row)
	}
	for _, c := range t.Columns {
		if !c.Nullable && row[c.Ordinal].IsNull() && (c.Computed == nil || c.Stored) {
			return fault.New(515, c.Name, t.FullName(), e.verb)
		}
	}
	for _, ck := range u.checks {
		truth, err := ck.holds(e.r)
		if err != nil {
			return err
		}
		if truth == execute.False {
			return t.Conflict(ck.check, e.verb)
		}
	}
	for _, ix := range t.Indexes {
		if err := ix.TooLong(row); err != nil {
			return err
		}
	}
	return u.checkView(e)
}

// checkView tests the condition of a view WITH CHECK OPTION.
func (u *rules) checkView(e *execution) error {
	for _, holds := range u.view {
		truth, err := holds(e.r)
		if err != nil {
			return err
		}
		if truth != execute.True {
			return fault.New(550)
		}
	}
	return nil
}

// viewOption makes the conditions of WITH CHECK OPTION ones about the row as it becomes. They were bound to the rows of
// the view.
func (u *rules) viewOption(t *target) error {
	by := map[int]*node{}
	for ordinal, slot := range t.rel.slots {
		if slot < 0 {
			continue
		}
		n, err := u.after.node(ordinal)
		if err != nil {
			return err
		}
		by[slot] = n
	}
	for _, n := range t.check {
		code, err := (&planner{b: u.b}).code(n.replace(by))
		if err != nil {
			return err
		}
		u.view = append(u.view, code.cond)
	}
	return nil
}

// ignores reports whether an error is that of an index with IGNORE_DUP_KEY, of whose duplicates the client is only
// told.
func ignores(t *schema.Table, err error) bool {
	var dup *store.DuplicateError
	if !errors.As(err, &dup) {
		return false
	}
	ix := t.IndexOf(dup.Index)
	return ix != nil && ix.IgnoreDup
}

// has reports whether triggers have to be told of an event.
func (u *rules) has(event string) bool {
	if u.quiet {
		return false
	}
	for _, m := range u.from.Table.Triggers {
		if def, ok := m.Stmt.(*syntax.CreateTrigger); ok && !m.Disabled && !def.InsteadOf {
			if slices.Contains(def.Events, event) {
				return true
			}
		}
	}
	return false
}
