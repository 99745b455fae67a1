package planner_test

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/define"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// inside is the environment of a module's statements.
func (l *lab) inside(m *schema.Module) (*binder.Env, []syntax.Stmt) {
	l.tb.Helper()
	env := &binder.Env{
		Database: l.db, Server: l.server, File: m.File, Schema: m.Schema.Name, Module: m,
		Variables: map[string]*binder.Variable{}, Tables: map[string]*binder.TableVariable{},
		Temp: func(string) *schema.Table { return nil },
	}
	add := func(name string, t *syntax.TypeName) {
		typ, user, err := define.ResolveType(l.db, t, m.Schema.Name)
		if err != nil {
			l.tb.Fatal(err)
		}
		if user != nil && user.Table != nil {
			env.Tables[l.db.Fold(name)] = &binder.TableVariable{Slot: len(env.Tables), Table: user.Table}
			return
		}
		env.Variables[l.db.Fold(name)] = &binder.Variable{Slot: len(env.Variables), Type: typ}
	}
	var params []*syntax.Param
	var body []syntax.Stmt
	switch def := m.Stmt.(type) {
	case *syntax.CreateProcedure:
		params, body = def.Params, def.Body
	case *syntax.CreateFunction:
		params, body = def.Params, def.Body
		if def.Table != nil {
			l.tableVariable(env, def.TableVariable, def.Table)
		}
	}
	for _, p := range params {
		add(p.Name, p.Type)
	}
	for _, stmt := range body {
		for d := range syntax.All[*syntax.Declare](stmt) {
			for _, v := range d.Vars {
				if v.Table != nil {
					l.tableVariable(env, v.Name, v.Table)
				} else {
					add(v.Name, v.Type)
				}
			}
		}
	}
	return env, body
}

func (l *lab) tableVariable(env *binder.Env, name string, def *syntax.TableDef) {
	l.tb.Helper()
	t, err := define.TableVariable(&definer{l}, name, def)
	if err != nil {
		l.tb.Fatal(err)
	}
	env.Tables[l.db.Fold(name)] = &binder.TableVariable{Slot: len(env.Tables), Table: t}
}
