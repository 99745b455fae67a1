package mssql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	sqlserver "github.com/microsoft/go-mssqldb"

	activities "github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/worker"
)

// A role is one of the four of a schema: each may do what the one before may.
type role int

const (
	nobody role = iota // only an owner, or a procedure of his
	admin
	runtime
	reader
	scaler
)

var roleNames = map[role]func(schema string) string{
	scaler: migrate.ScalerRoleName, reader: migrate.ReaderRoleName, runtime: migrate.RoleName, admin: migrate.AdminRoleName,
}

// rights says for each object of a schema which is the first role that may use it: execute a procedure or scalar
// function, select from a view, a table or another function, have a variable of a table type.
var rights = map[role]string{
	scaler: `get_queue_depths recommended_workers`,
	reader: `count_dead_letters count_hidden_messages count_orphan_messages find_instance get_custom_status get_execution_info get_instance_info
		get_dead_letter get_held_instance get_instance_stats get_instance_tree get_kv_all_values get_kv_value get_parent_id get_system_metrics
		list_children list_dead_letters list_ended_page list_executions list_held_instances list_instance_page list_instances list_latest_page
		list_instances_by_status list_known_versions list_unknown_code read_history read_progress
		ended_between
		v_dead_letters v_executions v_history v_instances v_migrations v_queues
		id_list_v1`,
	runtime: `abandon_orchestration_item abandon_work_item ack_orchestration_item ack_work_item
		append_with_execution cleanup_orphaned_sessions enqueue_for_orchestrator enqueue_for_worker
		fetch_work_item give_back list_lost_work register_known_code renew_locks renew_orchestration_item_lock renew_session_lock
		renew_work_item_lock requeue_message requeue_work retry_held_instance set_messages_aside set_work_aside start_instance take
		activity_list_v1 code_id_list_v1 code_list_v1 event_list_v1 kv_list_v1 lease_list_v1 letter_list_v1 message_list_v1 queue_list_v1
		completion_list_v1 take_list_v1 turn_claim_v1 token_list_v1 version_id_list_v1 work_code_list_v1 work_list_v1`,
	admin: `delete_dead_letter delete_instances delete_orphan_messages delete_trees prune_executions
		execution_list_v1`,
	nobody: `add_codes add_turn_codes await_queues cancel_activities claim_turn claim_without_row count_attempt end_work join_inbox lock_turn
		read_turn refuse_turn send_messages write_execution change_values claim_session delete_list find_session_work
		get_code get_framework_version get_known_code hold_instance id_use leave_messages line_up_messages lock_inbox lock_inboxes
		merge_values ready_due_inboxes
		ready_due_work refresh_inbox refresh_inboxes refuse_snapshot stamp_session
		inbox_state instance_tree known_codes ready_work unknown_codes unknown_work utc_time waiting_messages work_codes work_state
		code_names dead_letters executions framework_versions history inboxes instances known_code known_code_names known_code_tags kv_delta
		kv_store migrations modules orchestrator_queue revisions sessions worker_queue`,
}

// object is something in a schema that a right may be on.
type object struct {
	name, kind string // the kind as in sys.objects, "TT" for a table type
	parameters int
}

// use is a statement that takes the right on the object, and changes nothing.
func (o object) use(schema string) string {
	name := migrate.Quote(schema) + "." + migrate.Quote(o.name)
	arguments := "(" + strings.TrimSuffix(strings.Repeat("NULL, ", o.parameters), ", ") + ")"
	switch o.kind {
	case "P":
		return "EXEC " + name // Without its arguments it is refused for another reason, and runs only if it has none.
	case "FN":
		return "SELECT " + name + arguments
	case "IF", "TF":
		return "SELECT COUNT(*) FROM " + name + arguments + " AS f"
	case "TT":
		return "DECLARE @list " + name + "; SELECT COUNT(*) FROM @list"
	default:
		return "SELECT COUNT(*) FROM " + name
	}
}

// try uses the object. tsqltest does not ask for the right on a type when a variable has it, so that whether the login
// has it is asked before.
func (o object) try(t *testing.T, db *sql.DB, schema string) error {
	t.Helper()
	if o.kind != "TT" {
		return run(t, db, o.use(schema))
	}
	var may bool
	ok(t, db.QueryRowContext(t.Context(), "SELECT COALESCE(HAS_PERMS_BY_NAME(@p1, N'TYPE', 'EXECUTE'), 0)",
		migrate.Quote(schema)+"."+migrate.Quote(o.name)).Scan(&may))
	if !may {
		return sqlserver.Error{Number: 229, Message: "no right on the type"}
	}
	return run(t, db, o.use(schema))
}

// objectsOf lists the objects of a schema.
func objectsOf(t *testing.T, db *sql.DB, schema string) (objects []object) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT o.name, RTRIM(o.type), (SELECT COUNT(*) FROM sys.parameters AS p
				WHERE p.object_id = o.object_id AND p.parameter_id > 0)
			FROM sys.objects AS o
			WHERE o.schema_id = SCHEMA_ID(@p1) AND o.type IN ('P', 'V', 'U', 'FN', 'IF', 'TF', 'SO', 'SN')
		UNION ALL
		SELECT t.name, N'TT', 0 FROM sys.types AS t WHERE t.schema_id = SCHEMA_ID(@p1)`, schema)
	ok(t, err)
	defer rows.Close()
	for rows.Next() {
		var one object
		ok(t, rows.Scan(&one.name, &one.kind, &one.parameters))
		objects = append(objects, one)
	}
	ok(t, rows.Err())
	return objects
}

// TestRoles has a login for each role try every object of a schema: it may use those that the role is meant to use and
// no other (rule P9). An object that the table above does not name fails the test.
func TestRoles(t *testing.T) { //nolint:tparallel // one role after the other: the owner writes for each
	t.Parallel()
	owner, schema, other := mssqltest.DB(t), mssqltest.NewSchema(t), mssqltest.NewSchema(t)
	wanted := map[string]role{}
	for who, names := range rights {
		for name := range strings.FieldsSeq(names) {
			wanted[name] = who
		}
	}
	objects := objectsOf(t, owner, schema)
	for _, one := range objects {
		if _, ok := wanted[one.name]; !ok {
			t.Errorf("the table of rights does not name %s", one.name)
		}
	}
	if len(objects) != len(wanted) {
		t.Errorf("the schema has %d objects, and the table of rights %d", len(objects), len(wanted))
	}
	for who := admin; who <= scaler; who++ {
		t.Run(roleNames[who]("role"), func(t *testing.T) {
			_, dsn := loginWithRole(t, roleNames[who](schema))
			db := connect(t, dsn)
			for _, one := range objects {
				may := who <= wanted[one.name] && wanted[one.name] != nobody
				if err := one.try(t, db, schema); hasNumber(err, 229) == may {
					t.Errorf("%s: %v, may use it: %v", one.use(schema), err, may)
				}
				if err := one.try(t, db, other); !hasNumber(err, 229) {
					t.Errorf("%s in a schema of others: %v, want permission denied", one.use(other), err)
				}
			}
			for _, statement := range forbidden(t, owner, schema) {
				// A statement that fails for another reason would prove nothing.
				if err := run(t, owner, statement); err != nil {
					t.Errorf("the owner: %s: %v", statement, err)
				}
				if err := run(t, db, statement); !hasNumber(err, 229) {
					t.Errorf("%s: %v, want permission denied", statement, err)
				}
			}
			for _, statement := range []string{
				"CREATE TABLE [%s].mine (id INT NOT NULL)",
				"CREATE VIEW [%s].mine AS SELECT 1 AS one",
				"CREATE PROCEDURE [%s].mine AS SELECT 1 AS one",
				"ALTER TABLE [%s].instances ADD mine INT NULL",
				"DROP TABLE [%s].dead_letters",
				"DROP PROCEDURE [%s].enqueue_for_worker",
				"DROP VIEW [%s].v_instances",
				"GRANT EXECUTE ON [%[1]s].lock_inbox TO [%[1]s_reader]",
			} {
				if err := run(t, db, fmt.Sprintf(statement, schema)); err == nil {
					t.Errorf("the role may: %s", statement)
				}
			}
		})
	}
}

// TestRolesSuffice calls every method of the contract with a login of each role: it works, or tells which role it
// takes.
func TestRolesSuffice(t *testing.T) { //nolint:tparallel // the scenes are made one after the other
	t.Parallel()
	schema := mssqltest.NewSchema(t)
	next := scenes(t, storeOn(t, mssqltest.DSN(t), schema, 1))
	ofHolders := []string{
		"AckOrchestrationItem", "RenewOrchestrationItemLock", "AbandonOrchestrationItem", "AckWorkItem", "RenewWorkItemLock", "AbandonWorkItem",
	}
	administration := []string{"DeleteInstance", "DeleteInstancesAtomic", "DeleteInstanceBulk", "PruneExecutions", "PruneExecutionsBulk"}
	for who := admin; who <= reader; who++ {
		t.Run(roleNames[who]("role"), func(t *testing.T) {
			_, dsn := loginWithRole(t, roleNames[who](schema))
			store := storeOn(t, dsn, schema, 1)
			calls := map[string]call{"DeleteOrphanMessages": func(ctx context.Context, _ provider.Provider) error {
				return second(store.DeleteOrphanMessages(ctx, time.Hour))
			}}
			for _, name := range operationNames() {
				calls[name] = operations[name].prepare(next())
			}
			for name, call := range calls {
				err := call(t.Context(), store)
				needs, text := runtime, "followed by _runtime"
				switch {
				case operations[name].reads:
					needs = reader
				case name == "DeleteOrphanMessages", slices.Contains(administration, name):
					needs, text = admin, "followed by _admin"
				}
				if who <= needs && err != nil {
					t.Errorf("%s: %v", name, err)
				}
				// What somebody holds can wait for the right.
				held := slices.Contains(ofHolders, name)
				if who > needs && (!errors.Is(err, mssql.ErrPermission) || provider.IsRetryable(err) != held || !strings.Contains(err.Error(), text)) {
					t.Errorf("%s: %v, want ErrPermission that says %q, retryable: %v", name, err, text, held)
				}
			}
		})
	}
}

// TestWorkerRole has a worker and a client work with a login that has nothing but the workers' role: the calls that
// take the next work, renew several locks, register code and wait for progress among them.
func TestWorkerRole(t *testing.T) {
	t.Parallel()
	schema := mssqltest.NewSchema(t)
	_, dsn := loginWithRole(t, migrate.RoleName(schema))
	store := open(t, dsn, mssql.Options{Schema: schema})
	refused := refusals{told: make(chan string, 100)}
	w, err := worker.New(store, worker.Options{Hook: refused, Logger: slog.New(slog.DiscardHandler)})
	ok(t, err)
	double := activities.New("Double", func(_ context.Context, n int) (int, error) { return 2 * n, nil })
	child := orchestration.New("Child", func(ctx *orchestration.Context, n int) (int, error) {
		return orchestration.Activity(ctx, double, n).Await()
	})
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, n int) (int, error) {
		sum, err := orchestration.SubOrchestration(ctx, child, n).Await()
		if err != nil {
			return 0, err
		}
		orchestration.NewKey[int]("sum").Set(ctx, sum)
		ctx.SetCustomStatus("waiting")
		more, err := orchestration.NewEvent[int]("more").Wait(ctx).Await()
		return sum + more, err
	})
	ok(t, w.Register(double, child, parent))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	c := client.New(store, client.Options{})
	run, err := client.Start(t.Context(), c, parent, "order", 3)
	ok(t, err)
	ok(t, second(c.WaitForCustomStatus(t.Context(), "order", 0)))
	ok(t, client.RaiseEvent(t.Context(), c, orchestration.NewEvent[int]("more"), "order", 4))
	got, err := run.Wait(t.Context())
	if err != nil || got != 10 {
		t.Errorf("got %d and %v, want 10", got, err)
	}
	stop()
	ok(t, <-done)
	close(refused.told)
	for operation := range refused.told {
		t.Errorf("%s was refused", operation)
	}
}

// TestWorkOutlivesARefusal takes the right to acknowledge and to renew from a worker that has a turn and an activity.
// Both end once it has the right again: no orchestration fails, and no activity runs twice.
func TestWorkOutlivesARefusal(t *testing.T) {
	t.Parallel()
	schema := mssqltest.NewSchema(t)
	user, dsn := loginWithRole(t, migrate.RoleName(schema))
	refused := refusals{told: make(chan string, 100)}
	w, err := worker.New(open(t, dsn, mssql.Options{Schema: schema}), worker.Options{
		Hook: refused, Leases: worker.Leases{ActivityRenewalBuffer: 29 * time.Second}, Logger: slog.New(slog.DiscardHandler),
	})
	ok(t, err)
	entered, leave := make(chan struct{}, 10), make(chan struct{})
	hold := activities.New("Hold", func(ctx context.Context, _ int) (string, error) {
		entered <- struct{}{}
		select {
		case <-leave:
			return "held", nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	})
	waiting := orchestration.New("Waiting", func(ctx *orchestration.Context, n int) (string, error) {
		return orchestration.Activity(ctx, hold, n).Await()
	})
	short := orchestration.New("Short", func(_ *orchestration.Context, n int) (int, error) { return n, nil })
	ok(t, w.Register(hold, waiting, short))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	owner := mssqltest.DB(t)
	change := func(how string) {
		for procedure := range strings.FieldsSeq("ack_orchestration_item ack_work_item renew_locks renew_work_item_lock") {
			ok(t, run(t, owner, fmt.Sprintf(how, schema, procedure, user)))
		}
	}
	c := client.New(storeOn(t, mssqltest.DSN(t), schema, 1), client.Options{})
	first, err := client.Start(t.Context(), c, waiting, "waiting", 1)
	ok(t, err)
	<-entered
	change("DENY EXECUTE ON [%s].%s TO [%s]")
	second, err := client.Start(t.Context(), c, short, "short", 2)
	ok(t, err)
	for missing := map[string]bool{"ack": true, "renew": true}; len(missing) > 0; {
		operation, _, _ := strings.Cut(<-refused.told, "_")
		delete(missing, operation)
	}
	change("REVOKE EXECUTE ON [%s].%s TO [%s]")
	if got, err := second.Wait(t.Context()); err != nil || got != 2 {
		t.Errorf("the orchestration ended with %d, %v", got, err)
	}
	close(leave)
	if got, err := first.Wait(t.Context()); err != nil || got != "held" {
		t.Errorf("the orchestration with the activity ended with %q, %v", got, err)
	}
	if len(entered) > 0 {
		t.Error("the activity ran twice")
	}
	stop()
	ok(t, <-done)
}

// refusals tells which operations of a store were refused for want of a right.
type refusals struct {
	hook.None

	told chan string
}

func (r refusals) Store(_ context.Context, operation string) func(hook.StoreEnd) {
	return func(end hook.StoreEnd) {
		if errors.Is(end.Err, mssql.ErrPermission) {
			r.told <- operation
		}
	}
}

// loginWithRole makes a login whose only right is a role.
func loginWithRole(t *testing.T, role string) (user, dsn string) {
	t.Helper()
	user, dsn = mssqltest.NewLogin(t)
	mssqltest.JoinRole(t, role, user)
	return user, dsn
}

// forbidden are statements that change the tables of the schema. The owner may run them all, and they change nothing.
func forbidden(t *testing.T, owner *sql.DB, schema string) (statements []string) {
	t.Helper()
	tables := tablesOf(t, owner, schema)
	for _, table := range append(tables, "migrations", "modules", "revisions") {
		column := one[string](t, owner, schema, `SELECT MIN(c.name) FROM sys.columns AS c
			WHERE c.object_id = OBJECT_ID(N'%s.'+@p1) AND c.is_identity = 0`, table)
		statements = append(statements,
			fmt.Sprintf("DELETE FROM [%s].%s WHERE 1 = 0", schema, table),
			fmt.Sprintf("UPDATE [%s].%s SET %s = %s WHERE 1 = 0", schema, table, column, column),
			fmt.Sprintf("INSERT INTO [%[1]s].%[2]s (%[3]s) SELECT x.%[3]s FROM [%[1]s].%[2]s AS x WHERE 1 = 0", schema, table, column))
	}
	return statements
}

// run runs a statement and reads what it returns to the end.
func run(t *testing.T, db *sql.DB, statement string) error {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement)
	return err
}
