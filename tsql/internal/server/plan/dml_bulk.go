package plan

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// BulkOptions are those of INSERT BULK that change what it does. Without them constraints are not checked, triggers not
// fired, and NULL stands for the default of a column that has one.
type BulkOptions struct{ Checks, Triggers, KeepNulls bool }

// InsertBulk compiles INSERT BULK, of which s is the target with its columns.
func InsertBulk(env *Env, s *syntax.Insert, o BulkOptions) (*RowInsert, error) {
	b := newBinder(env)
	ins, _, err := b.inserting(s)
	if err != nil {
		return nil, err
	}
	if err := ins.complete(s); err != nil {
		return nil, err
	}
	u := ins.rules
	if !o.Checks {
		u.checks, u.parents = nil, nil
	}
	if !o.Triggers {
		if ins.target.instead {
			return nil, b.unsupported(s.Target.Range(), "INSERT BULK without FIRE_TRIGGERS into a table with INSTEAD OF triggers")
		}
		u.quiet = true
	}
	if !o.KeepNulls {
		if err := u.compileDefaults(map[int]bool{}); err != nil {
			return nil, err
		}
	}
	return b.rowInsert(ins, func(e *execution, t *schema.Table, s Rows) error {
		if o.KeepNulls {
			return ins.addAll(e, t, s)
		}
		if len(s.Types) != len(ins.ordinals) {
			return fault.New(213)
		}
		for _, values := range s.Values {
			if err := ins.addDefaulted(e, t, s, values); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

// addDefaulted stores a row in which NULL stands for a default.
func (ins *inserting) addDefaulted(e *execution, t *schema.Table, s Rows, values []execute.Value) error {
	row, err := ins.converted(s, values)
	if err != nil {
		return err
	}
	for i, ordinal := range ins.ordinals {
		x := ins.rules.defaults[ordinal]
		if x == nil || !row[i].IsNull() {
			continue
		}
		if row[i], err = x(e.r); err != nil {
			return err
		}
	}
	return ins.add(e, t, row)
}
