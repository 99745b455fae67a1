package planner

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// inserting is a compiled INSERT, apart from where its rows come from.
type inserting struct {
	*binder.Insert

	rules   *rules
	outputs []*output
	grain   store.Grain
}

// inserting compiles what an INSERT does with its rows.
func (p *planner) inserting(bound *binder.Insert) (*inserting, error) {
	ins := &inserting{Insert: bound, grain: p.grain(bound.Grains)}
	var err error
	if ins.rules, err = p.rules(bound.Rules); err != nil {
		return nil, err
	}
	ins.outputs, err = p.outputs(bound.Outputs)
	return ins, err
}

// insert compiles INSERT … VALUES, SELECT or DEFAULT VALUES.
func (p *planner) insert(bound *binder.Insert) (*Statement, error) {
	ins, err := p.inserting(bound)
	if err != nil {
		return nil, err
	}
	root, codes, err := p.planned(bound.Rows, bound.Nodes)
	if err != nil {
		return nil, err
	}
	exprs := binder.Operands(codes)
	return p.runner("INSERT", ins.outputs, func(e *execution) error {
		t, err := ins.begin(e)
		if err != nil {
			return err
		}
		return root.Each(e.r, exprs, func(row []execute.Value) error { return ins.add(e, t, row) })
	}), nil
}

// begin prepares an execution: options, locks, and who numbers the rows.
func (ins *inserting) begin(e *execution) (*schema.Table, error) {
	t := ins.rules.in(e)
	e.expect(ins.rules, t, "INSERT")
	if ins.Target.Instead {
		return t, nil
	}
	if err := e.checkOptions(t); err != nil {
		return nil, err
	}
	if id := t.Identity; id != nil {
		on := identityInsert(e.frame(), t)
		switch {
		case ins.Gives(id.Column) && !on:
			return nil, fault.New(544, t.Name)
		case !ins.Gives(id.Column) && on:
			return nil, fault.New(545, t.Name)
		}
	}
	switch h := ins.Target.Hints; {
	case h.TableExclusive || h.TableLock || ins.grain == store.GrainTable:
		return t, e.statement().LockTable(t.Data, lock.X)
	case ins.grain == store.GrainPage:
		return t, e.statement().LockPages(t.Data)
	}
	return t, nil
}

// add inserts one row.
func (ins *inserting) add(e *execution, t *schema.Table, row []execute.Value) error {
	u := ins.rules
	values, err := u.newRow(e, t, ins.Ordinals, row)
	if err != nil {
		return err
	}
	if ins.Target.Instead {
		e.note(u, t, "INSERT", change{new: values})
		e.count++
		load(e.r, u.After, values)
		return e.emit()
	}
	if err := u.settle(e, t, values); err != nil {
		return err
	}
	if id := t.Identity; id != nil {
		if err := ins.identity(e, t, values); err != nil {
			return err
		}
	}
	added, err := u.insert(e, t, values)
	if err != nil || !added {
		return err
	}
	e.count++
	load(e.r, u.After, values)
	return e.emit()
}

var bigint = value.OfKind(sqltype.BigInt)

// identity tells the session of the row's number.
func (ins *inserting) identity(e *execution, t *schema.Table, values []execute.Value) error {
	c := t.Columns[t.Identity.Column]
	if ins.Gives(c.Ordinal) {
		n, err := value.Convert(values[c.Ordinal], c.Type, bigint, 0)
		if err != nil {
			return err
		}
		e.frame().Session.Store().Draw(t.ID)
		t.Identity.Note(n.Int())
	}
	v, err := value.Convert(values[c.Ordinal], c.Type, value.DecimalType(38, 0), 0)
	if err != nil {
		return err
	}
	e.frame().Session.SetIdentity(v)
	return nil
}

// nextRowVersion is a value for a rowversion column.
func nextRowVersion(e *execution, db *schema.Database) value.Value {
	e.frame().Session.Store().Draw(0)
	return db.NextRowVersion()
}

// newRow makes a row of the values for some columns; the others get their defaults.
func (u *rules) newRow(e *execution, t *schema.Table, ordinals []int, given []execute.Value) ([]execute.Value, error) {
	row := make([]execute.Value, len(t.Columns))
	filled := make([]bool, len(t.Columns))
	for i, ordinal := range ordinals {
		row[ordinal], filled[ordinal] = given[i], true
	}
	for _, c := range t.Columns {
		if filled[c.Ordinal] {
			continue
		}
		var err error
		switch {
		case c.Identity && u.InsteadOf != "":
			row[c.Ordinal] = value.OfInt(0)
		case c.Identity && t.Identity != nil:
			e.frame().Session.Store().Draw(t.ID)
			row[c.Ordinal], err = t.Identity.Give(c)
		case c.RowVersion:
			row[c.Ordinal] = nextRowVersion(e, u.Database(t))
		case u.defaults[c.Ordinal] != nil:
			row[c.Ordinal], err = u.defaults[c.Ordinal](e.r)
		}
		if err != nil {
			return nil, err
		}
	}
	if u.InsteadOf == "" {
		e.periodOf(t, row)
	}
	return row, nil
}

// Rows is a result set whose rows are stored by INSERT … EXEC.
type Rows struct {
	Types  []schema.Type
	Values [][]execute.Value
}

// RowInsert is INSERT … EXEC, whose rows come from elsewhere.
type RowInsert struct {
	Columns []binder.Column // of OUTPUT; nil if the statement sends none
	// Tables are the slots of the table variables that are used.
	Tables []int
	Run    func(x *execute.Frame, sets []Rows, send func(row []execute.Value) error) (rows int64, err error)
}

// InsertRows compiles INSERT … EXEC.
func InsertRows(env *binder.Env, s *syntax.Insert) (*RowInsert, error) {
	p := newPlanner(env)
	bound, err := p.b.InsertRows(s)
	if err != nil {
		return nil, err
	}
	return p.rowInsert(bound, (*inserting).addAll)
}

// rowInsert compiles an INSERT whose rows come from elsewhere. add stores a result set.
func (p *planner) rowInsert(bound *binder.Insert, add func(ins *inserting, e *execution, t *schema.Table, s Rows) error) (*RowInsert, error) {
	ins, err := p.inserting(bound)
	if err != nil {
		return nil, err
	}
	st, run := p.runnerOf("INSERT", ins.outputs, func(e *execution) error {
		t, err := ins.begin(e)
		if err != nil {
			return err
		}
		for _, s := range e.given {
			if err := add(ins, e, t, s); err != nil {
				return err
			}
		}
		return nil
	})
	return &RowInsert{Columns: st.Columns, Tables: st.Tables, Run: run}, nil
}

// addAll stores a result set.
func (ins *inserting) addAll(e *execution, t *schema.Table, s Rows) error {
	if len(s.Types) != len(ins.Ordinals) {
		return fault.New(213)
	}
	for _, values := range s.Values {
		row, err := ins.converted(s, values)
		if err != nil {
			return err
		}
		if err := ins.add(e, t, row); err != nil {
			return err
		}
	}
	return nil
}

// converted makes a row of a result set one that the columns can store.
func (ins *inserting) converted(s Rows, values []execute.Value) (row []execute.Value, err error) {
	table := ins.Target.Table()
	row = make([]execute.Value, len(values))
	for i, v := range values {
		c := table.Columns[ins.Ordinals[i]]
		if err := ins.Refuse(c); err != nil {
			return nil, err
		}
		if row[i], err = value.Store(v, s.Types[i], c.Type); err != nil {
			return nil, table.Truncated(err, c, v, s.Types[i])
		}
	}
	return row, nil
}
