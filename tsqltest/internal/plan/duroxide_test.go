package plan_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	scripts "github.com/duroxide/duroxide-go/sql"

	"github.com/duroxide/duroxide-go/internal/tsql/diag"
	"github.com/duroxide/duroxide-go/internal/tsql/syntax"
	"github.com/duroxide/duroxide-go/tsqltest/internal/define"
	"github.com/duroxide/duroxide-go/tsqltest/internal/plan"
	"github.com/duroxide/duroxide-go/tsqltest/internal/schema"
)

// newStore is a lab with the schema of duroxide's own store.
func newStore(tb testing.TB) *lab {
	tb.Helper()
	l := newLab(tb)
	l.run("CREATE SCHEMA duroxide;")
	for _, dir := range []string{"schema", "schema/functions", "schema/views", "procedures"} {
		files, err := fs.Glob(scripts.MSSQLScripts(), dir+"/*.sql")
		if err != nil {
			tb.Fatal(err)
		}
		slices.Sort(files)
		for _, f := range files {
			if strings.Contains(f, "0004_") || strings.Contains(f, "0005_") {
				continue
			}
			text, err := fs.ReadFile(scripts.MSSQLScripts(), f)
			if err != nil {
				tb.Fatal(err)
			}
			l.define(f, string(text))
		}
	}
	return l
}

// define executes the CREATE statements of a file.
func (l *lab) define(name, text string) {
	l.tb.Helper()
	l.file = diag.NewFile(name, text)
	script, found := syntax.Parse(l.file)
	if len(found) > 0 {
		l.tb.Fatalf("%v", found)
	}
	for _, b := range script.Batches {
		for _, stmt := range b.Stmts {
			if _, ok := stmt.(*syntax.Permission); ok {
				continue
			}
			if err := l.execute(stmt); err != nil {
				l.tb.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// inside is the environment of a module's statements.
func (l *lab) inside(m *schema.Module) (*plan.Env, []syntax.Stmt) {
	l.tb.Helper()
	env := &plan.Env{
		Database: l.db, Server: l.server, File: m.File, Schema: m.Schema.Name, Module: m,
		Variables: map[string]*plan.Variable{}, Tables: map[string]*plan.TableVariable{},
		Temp: func(string) *schema.Table { return nil },
	}
	add := func(name string, t *syntax.TypeName) {
		typ, user, err := define.ResolveType(l.db, t, m.Schema.Name)
		if err != nil {
			l.tb.Fatal(err)
		}
		if user != nil && user.Table != nil {
			env.Tables[l.db.Fold(name)] = &plan.TableVariable{Slot: len(env.Tables), Table: user.Table}
			return
		}
		env.Variables[l.db.Fold(name)] = &plan.Variable{Slot: len(env.Variables), Type: typ}
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

func (l *lab) tableVariable(env *plan.Env, name string, def *syntax.TableDef) {
	l.tb.Helper()
	t, err := define.TableVariable(&definer{l}, name, def)
	if err != nil {
		l.tb.Fatal(err)
	}
	env.Tables[l.db.Fold(name)] = &plan.TableVariable{Slot: len(env.Tables), Table: t}
}

// TestDuroxideCompiles compiles every query, condition and expression of duroxide's procedures.
func TestDuroxideCompiles(t *testing.T) {
	t.Parallel()
	l := newStore(t)
	queries := 0
	check := func(m *schema.Module, env *plan.Env, n syntax.Node, err error) {
		t.Helper()
		queries++
		if err != nil {
			t.Errorf("%s: %v\n%s", m.Name, err, env.File.Slice(n.Range()))
		}
	}
	for _, o := range l.db.Objects {
		m, ok := o.(*schema.Module)
		if !ok {
			continue
		}
		env, body := l.inside(m)
		for _, stmt := range body {
			syntax.Walk(stmt, func(n syntax.Node) bool {
				var err error
				switch n := n.(type) {
				case *syntax.SelectStmt:
					_, err = plan.Query(env, n.Query)
					check(m, env, n, err)
				case *syntax.Insert:
					if n.Query != nil {
						_, err = plan.Query(env, n.Query)
						check(m, env, n, err)
					}
				case *syntax.If:
					_, err = plan.Test(env, n.Cond)
					check(m, env, n.Cond, err)
				case *syntax.While:
					_, err = plan.Test(env, n.Cond)
					check(m, env, n.Cond, err)
				case *syntax.SetVariable:
					_, err = plan.Expression(env, n.X)
					check(m, env, n, err)
				}
				return true
			})
		}
	}
	if queries < 300 {
		t.Errorf("only %d queries", queries)
	}
	for _, v := range []string{"v_dead_letters", "v_executions", "v_history", "v_instances", "v_queues"} {
		query := "SELECT * FROM duroxide." + v + " WHERE instance_id = N'a'" //nolint:unqueryvet // all columns of the view have to compile
		if _, err := l.compile(query); err != nil {
			t.Errorf("%s: %v", v, err)
		}
	}
}

// TestDuroxidePlans checks how the store's own queries are executed, down to what is looked up.
func TestDuroxidePlans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ procedure, query, want string }{
		{"find_turn", "READPAST", "top;seek ix_inboxes_ready of inboxes b (code_id =, version_id =, head_id >=) lookup where 1"},
		{"find_turn", "(READCOMMITTEDLOCK, ROWLOCK, INDEX", "seek ix_inboxes_ready of inboxes b (code_id =, version_id =, head_id is not null)\n"},
		{"fetch_orchestration_item", "SELECT h.event_id", "seek pk_history of history h (instance_id =, execution_id =, event_id >=)\n"},
		{"fetch_orchestration_item", "ORDER BY h.event_id DESC", "top;seek pk_history of history h (instance_id =, execution_id =, event_id >) backward"},
		{"fetch_orchestration_item", "FROM duroxide.kv_store", "seek ix_kv_store_instance of kv_store s (instance_id =)\n"},
		{"fetch_orchestration_item", "ORDER BY q.id", "seek pk_orchestrator_queue of orchestrator_queue q (instance_id =, id =) where 1\n"},
		{"fetch_orchestration_item", "k (kind)", "seek ix_orchestrator_queue_kind of orchestrator_queue q (instance_id =, kind =, visible_at <=)\n"},
		{"find_work", "ORDER BY n.id", "seek ix_worker_queue_ready of worker_queue q (tag is null, code_id =, id >=) lookup where 1;seek ix_worker_queue_ready of worker_queue q (tag =, code_id =, id >=) lookup where 1"},
		{"find_work", "q.tag = @tag", "seek ix_worker_queue_ready of worker_queue q (tag =, code_id =, id >=) lookup where 1"},
		{"find_work", "(READCOMMITTEDLOCK, ROWLOCK", "seek ix_worker_queue_ready of worker_queue q (tag is null, code_id =)\n;seek ix_worker_queue_ready of worker_queue q (tag =, code_id =)\n"},
		{"lock_ready_work", "ROW_NUMBER() OVER (ORDER BY n.id)", "top;seek ix_worker_queue_ready of worker_queue q (tag is null, code_id =, id >=) lookup where 1;seek ix_worker_queue_ready of worker_queue q (tag =, code_id =, id >=) lookup where 1"},
		{"take", "uq_worker_queue_token", "seek uq_worker_queue_token of worker_queue q (lock_token =)\n"},
		{"find_session_work", "AND q.session_id > @session_id", "seek ix_worker_queue_session of worker_queue q (ready =, session_id >)\n;first row"},
		{"find_session_work", "MIN(q.id)", "seek ix_worker_queue_session of worker_queue q (ready =, session_id =) where 2\n"},
		{"next_ready_tag", "q.tag > @after", "seek ix_worker_queue_ready of worker_queue q (tag >)\n;seek ix_worker_queue_ready_session of worker_queue q (tag >)\n;first row"},
		{"ready_due_inboxes", "TOP (256)", "seek ix_inboxes_wake of inboxes b (wake_at >=, wake_at <=) lookup where 1"},
		{"ready_due_work", "TOP (64)", "seek ix_worker_queue_wake of worker_queue q (wake_at >=, wake_at <=) lookup where 1"},
		{"ack_orchestration_item", "b.lock_token IS NOT NULL", "seek uq_inboxes_token of inboxes b (lock_token =)"},
		{"ack_orchestration_item", "INNER LOOP JOIN duroxide.history", "inner loop join;seek pk_history of history h (instance_id =, execution_id =, event_id =)\n"},
		{"append_with_execution", "INNER LOOP JOIN duroxide.history", "inner loop join;seek pk_history of history h (instance_id =, execution_id =, event_id =)\n"},
		{"ack_orchestration_item", "INNER LOOP JOIN duroxide.worker_queue", "inner loop join;seek ix_worker_queue_activity of worker_queue q (instance_id =, execution_id =, activity_id =)\n"},
		{"delete_instances", "@parent = i.parent_instance_id", "seek ix_instances_parent of instances i (parent_instance_id =)"},
		{"list_children", "SELECT", "seek ix_instances_parent of instances i (parent_instance_id =)"},
		{"delete_instance_bulk", "e.completed_at IS NOT NULL", "top;window;seek ix_executions_completed of executions e (completed_at >=, completed_at <)"},
		{"list_ended_page", "e.completed_at IS NOT NULL", "top;window;seek ix_executions_completed of executions e (completed_at >=, completed_at <)"},
		{"list_ended_page", "i.parent_instance_id IS NULL", "inner loop join;seek pk_instances of instances i (instance_id =)"},
		{"list_instance_page", "SELECT", "top;seek pk_instances of instances i (instance_id >)"},
		{"delete_instance_bulk", "SELECT DISTINCT l.id", "seek pk_instances of instances i (instance_id =);distinct"},
		{"instance_tree", "ROW_NUMBER()", "seek ix_instances_parent of instances i (parent_instance_id =)"},
		{"read_history", "MAX(e.execution_id)", "first row;seek pk_executions of executions e (instance_id =) backward"},
		{"refuse_snapshot", "sys.dm_exec_sessions", "seek sys.dm_exec_sessions"},
	} {
		t.Run(c.procedure+" "+c.query, func(t *testing.T) {
			t.Parallel()
			l := newStore(t)
			m := l.module(c.procedure)
			env, body := l.inside(m)
			found := false
			for _, stmt := range body {
				for _, text := range explanations(t, env, stmt, c.query) {
					found = true
					for part := range strings.SplitSeq(c.want, ";") {
						if !strings.Contains(text, part) {
							t.Errorf("no %q in\n%s", part, text)
						}
					}
				}
			}
			if !found {
				t.Error("no such query")
			}
		})
	}
}

func (l *lab) module(name string) *schema.Module {
	l.tb.Helper()
	m, ok := l.db.Find("duroxide", name, "").(*schema.Module)
	if !ok {
		l.tb.Fatalf("no %s", name)
	}
	return m
}

// explanations are the plans of the queries in a statement whose text has a part.
func explanations(t *testing.T, env *plan.Env, stmt syntax.Stmt, part string) []string {
	t.Helper()
	var out []string
	syntax.Walk(stmt, func(n syntax.Node) bool {
		var q *syntax.Query
		switch n := n.(type) {
		case *syntax.SelectStmt:
			q = n.Query
		case *syntax.Insert:
			q = n.Query
		case *syntax.Exists:
			q = n.Query
		}
		if q == nil || !strings.Contains(env.File.Slice(q.Range()), part) {
			return true
		}
		st, err := plan.Query(env, q)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, st.Explain)
		return false
	})
	return out
}
