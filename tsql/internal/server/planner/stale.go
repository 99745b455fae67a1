package planner

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
)

// Whoever executes a statement holds Sch-S locks on its tables from the beginning to the end, so that their definitions
// stay as they are. Where that has to wait for a definition that is not committed, the plan may be out of date
// afterwards: then the statement is compiled again.

// basis is what a plan was made for.
type basis struct {
	db      *schema.Database
	version uint64
	tables  []binder.Definition
}

// basisOf is the basis of what has been bound.
func basisOf(b *binder.Binder) basis {
	return basis{db: b.Env.Database, version: b.Env.Database.Version, tables: b.Definitions}
}

// lock locks the definitions, and reports whether the catalog has changed since the plan was made.
func (b *basis) lock(x *execute.Frame) (stale bool, err error) {
	if len(b.tables) == 0 {
		return false, nil
	}
	st := x.Session.Statement()
	for _, d := range b.tables {
		if err := st.LockSchema(d.Database, d.ID, lock.SchS); err != nil {
			return false, err
		}
	}
	return b.db.Version != b.version, nil
}

// Temporaries is what a session is too if it has temporary tables: another session may have compiled a plan.
type Temporaries interface {
	Temp(name string) *schema.Table
}

// envOf is the environment in which a statement is compiled again.
func envOf(env *binder.Env, x *execute.Frame) *binder.Env {
	out := *env
	if t, ok := x.Session.(Temporaries); ok {
		out.Temp = t.Temp
	}
	return &out
}

// kept makes a statement compile itself again when it is out of date. Its columns must stay the same, as the client has
// been told of them.
func (st *Statement) kept(env *binder.Env, compile func(env *binder.Env) (*Statement, error)) *Statement {
	if len(st.basis.tables) == 0 {
		return st
	}
	run, basis := st.Run, st.basis
	st.Run = func(x *execute.Frame, send func(row []execute.Value) error) (int64, error) {
		stale, err := basis.lock(x)
		if err != nil {
			return 0, err
		}
		if !stale {
			return run(x, send)
		}
		again, err := compile(envOf(env, x))
		if err != nil {
			return 0, err
		}
		if !slices.Equal(again.Columns, st.Columns) {
			return 0, fault.New(fault.Unsupported, "a statement whose columns change while it waits is not supported by tsqltest")
		}
		return again.Run(x, send)
	}
	return st
}
