package planner

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// BulkOptions are those of INSERT BULK that change what it does. Without them constraints are not checked, triggers not
// fired, and NULL stands for the default of a column that has one.
type BulkOptions struct{ Checks, Triggers, KeepNulls bool }

// InsertBulk compiles INSERT BULK, of which s is the target with its columns.
func InsertBulk(env *binder.Env, s *syntax.Insert, o BulkOptions) (*RowInsert, error) {
	p := newPlanner(env)
	bound, err := p.b.InsertRows(s)
	if err != nil {
		return nil, err
	}
	u := bound.Rules
	if !o.Checks {
		u.Checks, u.Parents = nil, nil
	}
	if !o.Triggers {
		if bound.Target.Instead {
			return nil, p.b.Unsupported(s.Target.Range(), "INSERT BULK without FIRE_TRIGGERS into a table with INSTEAD OF triggers")
		}
		u.Quiet = true
	}
	if !o.KeepNulls {
		if err := u.BindDefaults(nil); err != nil {
			return nil, err
		}
	}
	return p.rowInsert(bound, func(ins *inserting, e *execution, t *schema.Table, s Rows) error {
		if o.KeepNulls {
			return ins.addAll(e, t, s)
		}
		if len(s.Types) != len(ins.Ordinals) {
			return fault.New(213)
		}
		for _, values := range s.Values {
			if err := ins.addDefaulted(e, t, s, values); err != nil {
				return err
			}
		}
		return nil
	})
}

// addDefaulted stores a row in which NULL stands for a default.
func (ins *inserting) addDefaulted(e *execution, t *schema.Table, s Rows, values []execute.Value) error {
	row, err := ins.converted(s, values)
	if err != nil {
		return err
	}
	for i, ordinal := range ins.Ordinals {
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
