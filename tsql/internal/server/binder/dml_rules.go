package binder

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// Rules is what holds for every row that comes into a table or changes there.
type Rules struct {
	b    *Binder
	From execute.Source
	// After and before are the row as it becomes and as it was: what checks and computed columns are about, and the
	// tables inserted and deleted of OUTPUT.
	After, Before *Source
	Defaults      map[int]*Node // by ordinal
	Computed      []ComputedRule
	Past          []ComputedRule // of before: computed columns that only the history stores
	Checks        []CheckRule
	View          []*Node // WITH CHECK OPTION
	Parents       []*ParentKey
	Children      []*ChildKey
	Sets          map[int]bool // the ordinals of the columns that an UPDATE sets
	Quiet         bool         // no triggers are fired
	InsteadOf     string       // the event whose INSTEAD OF triggers take the place of the change; "" if none do
}

// ComputedRule is a computed column.
type ComputedRule struct {
	Column *schema.Column
	Value  *Node
}

// CheckRule is a CHECK constraint.
type CheckRule struct {
	Check *schema.Check
	Holds *Node
}

// catalog returns the binder of an expression that stands in the catalog: a default, a check.
func (b *Binder) catalog(t *schema.Table, file *diag.File) *Binder {
	env := &Env{
		Database: b.Env.Database, Server: b.Env.Server, File: file, Schema: b.Env.Schema, Chooser: b.Env.Chooser,
		Temp: func(string) *schema.Table { return nil },
	}
	if t.Schema != nil && !t.Temporary && t.Schema.Database != nil && !t.Variable {
		env.Schema, env.Database = t.Schema.Name, t.Schema.Database
	}
	return &Binder{statement: b.statement, Env: env, depth: b.depth, owner: t}
}

// rulesOf binds the rules of a table. all has the rules of the tables that were bound before: cascades may lead back to
// them.
func (b *Binder) rulesOf(from execute.Source, all map[*schema.Table]*Rules) (*Rules, error) {
	t := from.Table
	u := &Rules{b: b, From: from, Defaults: map[int]*Node{}}
	u.After = b.tableSource(execute.Source{Place: execute.InInserted, Table: t}, execute.Hints{}, false)
	u.Before = b.tableSource(execute.Source{Place: execute.InDeleted, Table: t}, execute.Hints{}, false)
	u.After.Name, u.Before.Name = "inserted", "deleted"
	all[t] = u
	if err := u.computes(); err != nil {
		return nil, err
	}
	for _, ck := range t.Checks {
		if ck.Disabled {
			continue
		}
		in := b.catalog(t, ck.File)
		n, err := in.cond(&scope{level: level{Sources: []*Source{u.After}, Clause: lookup.InWhere}}, ck.Expr)
		if err != nil {
			return nil, err
		}
		u.Checks = append(u.Checks, CheckRule{ck, n})
	}
	if err := u.keys(all); err != nil {
		return nil, err
	}
	return u, nil
}

// computes binds the computed columns that are stored: in the row as it becomes, or in the history as it was.
func (u *Rules) computes() error {
	t := u.From.Table
	for _, c := range t.Columns {
		row, list := u.After, &u.Computed
		if !c.Stored {
			row, list = u.Before, &u.Past
		}
		if c.Computed == nil || !c.Stored && t.History == nil {
			continue
		}
		in := u.b.catalog(t, c.File)
		n, err := in.expr(&scope{level: level{Sources: []*Source{row}, Clause: lookup.InList}}, c.Computed)
		if err != nil {
			return err
		}
		if n, err = in.stored(n, t, c); err != nil {
			return err
		}
		*list = append(*list, ComputedRule{c, n})
	}
	return nil
}

// stored makes of an expression what a column stores: converted, and refused if it is too long.
func (b *Binder) stored(n *Node, t *schema.Table, c *schema.Column) (*Node, error) {
	to := b.ColumnType(c)
	if n.Type.Kind == sqltype.Null {
		out := *n
		out.Type = to
		return &out, nil
	}
	if _, err := b.implicitly(n, to); err != nil {
		return nil, err
	}
	if n.Type.Type == to.Type && (!to.IsCharacter() || to.IsNational() || n.Type.Collation == to.Collation) {
		return n, nil
	}
	from := n.Type
	return &Node{
		Name: "store " + t.Name + "." + c.Name, Type: to, Nullable: n.Nullable, Args: []*Node{n}, at: n.at,
		Value: strict1(func(v execute.Value) (execute.Value, error) {
			s, err := value.Store(v, from, to)
			if err != nil {
				return s, t.Truncated(err, c, v, from)
			}
			return s, nil
		}),
	}, nil
}

// defaultNode is the default of a column, converted to its type; NULL if it has none.
func (b *Binder) defaultNode(t *schema.Table, c *schema.Column) (*Node, error) {
	if c.Default == nil {
		return constantNode(value.Value{}, b.ColumnType(c)), nil
	}
	in := b.catalog(t, c.Default.File)
	n, err := in.expr(&scope{}, c.Default.Expr)
	if err != nil {
		return nil, err
	}
	return in.stored(n, t, c)
}

// BindDefaults binds the defaults of the columns that an INSERT leaves out. given are the ordinals of the others.
func (u *Rules) BindDefaults(given []int) error {
	t := u.From.Table
	for _, c := range t.Columns {
		if c.Default == nil || slices.Contains(given, c.Ordinal) {
			continue
		}
		n, err := u.b.defaultNode(t, c)
		if err != nil {
			return err
		}
		u.Defaults[c.Ordinal] = n
	}
	return nil
}

// viewOption makes the conditions of WITH CHECK OPTION ones about the row as it becomes. They were bound to the rows of
// the view.
func (u *Rules) viewOption(t *target) error {
	by := map[int]*Node{}
	for ordinal, slot := range t.Rel.Slots {
		if slot < 0 {
			continue
		}
		n, err := u.After.node(ordinal)
		if err != nil {
			return err
		}
		by[slot] = n
	}
	for _, n := range t.check {
		u.View = append(u.View, n.Replace(by))
	}
	return nil
}
