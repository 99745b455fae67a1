package mssql_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// The tests of this file count the keys that calls of the store touch, whatever locks they take: beside a few rows, and
// with the same plans beside a great many (rules Q8 and Q9). A call may touch no key more in the crowd.

// readyVariable says how many rows are ready in the crowd; a tenth as many wait for their time beside them. The default
// costs a second. What the rules ask for is 1000000: run one test at a time then, as each takes some gigabytes of
// memory.
const readyVariable = "DUROXIDE_TEST_MSSQL_READY"

func readyRows(t *testing.T) int {
	t.Helper()
	text := os.Getenv(readyVariable)
	if text == "" {
		return 2000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1000 {
		t.Fatalf("%s is %q and has to be a number from 1000 on", readyVariable, text)
	}
	return n
}

// crowd is a store on a server of its own, with rows that calls have to find their way through.
type crowd struct {
	*mssql.Store

	t      *testing.T
	server *tsqltest.Server
	conn   *tsqltest.Conn
	clock  *tsqltest.Clock
	rows   int // that are ready
	turn   *provider.FetchedOrchestration
	work   *provider.FetchedWorkItem
}

func newCrowd(t *testing.T, versions bool) *crowd {
	t.Helper()
	clock := tsqltest.NewClock(time.Date(2024, time.May, 1, 12, 0, 0, 0, time.UTC))
	server := tsqltest.New(t, tsqltest.Options{RowVersions: versions, Clock: clock})
	_, err := (&migrate.Migration{DB: server.DB()}).Up(t.Context())
	ok(t, err)
	conn, err := server.Connect(t.Context())
	ok(t, err)
	t.Cleanup(conn.Close)
	store := open(t, server.DSN(), mssql.Options{CallTimeout: mssql.Forever})
	ok(t, server.ApplyText(t.Context(), "", mssqltest.Amendment(t)))
	return &crowd{Store: store, t: t, server: server, conn: conn, clock: clock}
}

// grow executes a statement for each number up to @to, which is there as @n.
func (c *crowd) grow(to int, statement string) {
	c.t.Helper()
	batch := fmt.Sprintf("SET NOCOUNT ON; DECLARE @n INT = %d, @id NVARCHAR(400), @name NVARCHAR(400), @session NVARCHAR(400), @tag NVARCHAR(400), @item NVARCHAR(MAX);\n"+
		"WHILE @n < %d BEGIN SET @n += 1;\n%s\nEND;", c.rows, to, statement)
	_, err := c.conn.Exec(c.t.Context(), batch)
	ok(c.t, err)
	c.rows = to
}

// counted is a call of the store, and how many keys it may touch: with some room, so that a procedure may change.
type counted struct {
	name string
	most int
	why  string // so many
	call func(c *crowd) error
	// known is set if the call touches more, the more rows there are: by the number that the review of the procedures
	// gave it. Whoever mends it takes that away.
	known int
}

// growing makes the calls beside few rows, again beside the same, and beside many.
func growing(t *testing.T, calls []counted, statement string) {
	t.Helper()
	for _, versions := range []bool{false, true} {
		t.Run(fmt.Sprintf("row versions %t", versions), func(t *testing.T) {
			if os.Getenv(readyVariable) == "" {
				t.Parallel()
			}
			c := newCrowd(t, versions)
			c.grow(500, statement)
			c.touched(calls) // names are registered, sessions are there
			few := c.touched(calls)
			c.grow(readyRows(t), statement)
			many := c.touched(calls)
			for i, call := range calls {
				n := many[i].Total()
				t.Logf("%s: %d keys beside %d rows", call.name, n, c.rows)
				few := few[i].Total()
				// A portion is as large as what is due, up to its bound.
				switch grows := n > call.most || n > few && !strings.Contains(call.why, "a portion"); {
				case call.known > 0 && !grows:
					t.Errorf("%s touches few keys now: it is no known defect any more", call.name)
				case call.known == 0 && grows:
					t.Errorf("%s touches %d keys beside %d rows, %d beside 500, and should at most %d (%s):\n%v",
						call.name, n, c.rows, few, call.most, call.why, many[i])
				}
			}
		})
	}
}

// touched makes the calls and returns the keys that each touched.
func (c *crowd) touched(calls []counted) []tsqltest.Keys {
	c.t.Helper()
	var all []tsqltest.Keys
	for _, call := range calls {
		all = append(all, c.server.CountKeys(func() {
			if err := call.call(c); err != nil {
				c.t.Fatalf("%s: %v", call.name, err)
			}
		}))
	}
	return all
}

// quoted is a text as a literal of T-SQL, in which @id is the variable.
func quoted(item provider.WorkItem) string {
	text, err := provider.EncodeWorkItem(item)
	if err != nil {
		panic(err)
	}
	return "REPLACE(N'" + strings.ReplaceAll(string(text), "'", "''") + "', N'@id', @id)"
}

// Rules Q8 and Q9: what a call for a turn touches does not depend on how many instances are ready and how many wait for
// a timer.
func TestTurnsTouchFewKeys(t *testing.T) { //nolint:tparallel // the calls follow each other
	t.Parallel()
	names := known("Order0", "Order1", "Order2", "Order3")
	growing(t, []counted{
		{"fetch", 40, "each of four codes, the sets that have it and its oldest instance is looked at; one is taken with all of its keys, and its message", fetchesTurn(nil), 0},
		{"renew", 5, "the token and the instance", func(c *crowd) error {
			return c.RenewOrchestrationItemLock(c.t.Context(), c.turn.LockToken, lease)
		}, 0},
		{"ack", 40, "two instances and their state, a message that goes and one that comes, an activity, the instance and its execution", acksTurn, 0},
		{"fetch by names", 35, "as without, and four names", fetchesTurn(names), 0},
		{"abandon", 20, "the token, the instance with its keys and its state, the message, the sets that have its code", func(c *crowd) error {
			return c.AbandonOrchestrationItem(c.t.Context(), provider.AbandonParams{LockToken: c.turn.LockToken})
		}, 0},
		{"enqueue", 12, "the instance and its state, the message", func(c *crowd) error {
			return c.EnqueueForOrchestrator(c.t.Context(), provider.ExternalRaisedItem{Instance: "r9", Name: "paid"}, 0)
		}, 0},
		{"enqueue for later", 12, "the same", func(c *crowd) error {
			return c.EnqueueForOrchestrator(c.t.Context(), provider.ExternalRaisedItem{Instance: "r9", Name: "late"}, 48*time.Hour)
		}, 0},
		{"fetch by names that nobody waits for", 10, "the set, twice when it is noted, and its name", func(c *crowd) error {
			turn, err := c.FetchOrchestrationItem(c.t.Context(), provider.FetchOrchestrationParams{LockTimeout: lease, Known: known("Nothing")})
			if err == nil && turn != nil {
				err = errors.New("something is ready")
			}
			return err
		}, 0},
		{"fetch when timers are due", 2800, "as without, and a portion of 256 instances", later(fetchesTurn(nil)), 0},
	}, fmt.Sprintf(`
		SET @id = CONCAT(N'r', @n); SET @name = CONCAT(N'Order', @n %% 4); SET @item = %s;
		EXEC duroxide.enqueue_for_orchestrator @instance_id = @id, @kind = 2, @name = @name, @version = N'', @work_item = @item, @delay_ms = 0;
		IF @n %% 10 = 0 BEGIN
			SET @id = CONCAT(N't', @n); SET @item = %s;
			EXEC duroxide.enqueue_for_orchestrator @instance_id = @id, @kind = 3, @name = NULL, @version = NULL, @work_item = @item, @delay_ms = 86400000;
		END;`,
		quoted(startOf("@id", "Order")), quoted(provider.ExternalRaisedItem{Instance: "@id", Name: "timer"})))
}

// Rule Q8: what a turn touches does not depend on how many messages of its instance are hidden.
func TestTurnsOfManyTimersTouchFewKeys(t *testing.T) { //nolint:tparallel // the calls follow each other
	t.Parallel()
	growing(t, []counted{
		{"enqueue", 15, "the instance and its state, the message", func(c *crowd) error {
			return c.EnqueueForOrchestrator(c.t.Context(), provider.ExternalRaisedItem{Instance: "busy", Name: "paid"}, 0)
		}, 0},
		{"fetch", 25, "the code and the instance with its keys, its messages that are visible", fetchesTurn(nil), 0},
		{"abandon", 20, "the token, the instance with its keys and its state, the messages of the turn", func(c *crowd) error {
			return c.AbandonOrchestrationItem(c.t.Context(), provider.AbandonParams{LockToken: c.turn.LockToken})
		}, 0},
		{"fetch again", 25, "as before", fetchesTurn(nil), 0},
		{"ack", 46, "two instances and their state, a message that goes and one that comes, an activity, the instance and its execution", acksTurn, 0},
	}, fmt.Sprintf(`
		SET @id = N'busy'; SET @item = %s;
		IF @n = 1
			EXEC duroxide.enqueue_for_orchestrator @instance_id = @id, @kind = 2, @name = N'Order', @version = N'', @work_item = @item, @delay_ms = 0;
		SET @item = %s;
		EXEC duroxide.enqueue_for_orchestrator @instance_id = @id, @kind = 3, @name = NULL, @version = NULL, @work_item = @item, @delay_ms = 86400000;`,
		quoted(startOf("@id", "Order")), quoted(provider.ExternalRaisedItem{Instance: "@id", Name: "timer"})))
}

// Rule Q8: what a turn touches does not depend on how many messages wait in a queue that it is shown the oldest of.
func TestTurnsOfLongQueuesTouchFewKeys(t *testing.T) { //nolint:tparallel // the calls follow each other
	t.Parallel()
	growing(t, []counted{
		{"fetch", 700, "the code and the instance with its keys, its start, the oldest hundred messages of its queue", func(c *crowd) (err error) {
			c.turn, err = c.FetchOrchestrationItem(c.t.Context(), provider.FetchOrchestrationParams{LockTimeout: lease, Peek: true})
			if err == nil && (c.turn == nil || len(c.turn.Item.Messages) != 1+provider.MaxPeeked) {
				err = errors.New("the turn has not the start and the oldest messages")
			}
			return err
		}, 0},
		{"abandon", 500, "the token, the instance with its keys and its state, a hundred messages", func(c *crowd) error {
			return c.AbandonOrchestrationItem(c.t.Context(), provider.AbandonParams{LockToken: c.turn.LockToken})
		}, 0},
	}, fmt.Sprintf(`
		SET @id = N'busy'; SET @item = %s;
		IF @n = 1
			EXEC duroxide.enqueue_for_orchestrator @instance_id = @id, @kind = 2, @name = N'Order', @version = N'', @work_item = @item, @delay_ms = 0;
		SET @item = %s;
		EXEC duroxide.enqueue_for_orchestrator @instance_id = @id, @kind = 0, @name = NULL, @version = NULL, @work_item = @item, @delay_ms = 0, @queue = N'numbers';`,
		quoted(startOf("@id", "Order")), quoted(provider.QueueMessageItem{Instance: "@id", Name: "numbers", Data: "1"})))
}

func fetchesTurn(set *provider.KnownCode) func(c *crowd) error {
	return func(c *crowd) (err error) {
		c.turn, err = c.FetchOrchestrationItem(c.t.Context(), provider.FetchOrchestrationParams{LockTimeout: lease, Known: set})
		if err == nil && c.turn == nil {
			err = errors.New("nothing is ready")
		}
		return err
	}
}

func acksTurn(c *crowd) error {
	return c.AckOrchestrationItem(c.t.Context(), anAck(c))
}

// anAck ends the turn that the crowd holds.
func anAck(c *crowd) provider.AckOrchestrationParams {
	return provider.AckOrchestrationParams{
		LockToken: c.turn.LockToken, ExecutionID: 1, Metadata: running(),
		WorkerItems:       []provider.WorkItem{activityOf(c.turn.Item.Instance, "Pay")},
		OrchestratorItems: []provider.WorkItem{provider.ExternalRaisedItem{Instance: "r300", Name: "paid"}},
	}
}

// later makes a call when all that waits has come due.
func later(call func(c *crowd) error) func(c *crowd) error {
	return func(c *crowd) error {
		c.clock.Advance(25 * time.Hour)
		return call(c)
	}
}

// Rules Q8 and Q9: the same for activities, of which every tenth belongs to a session of its own and every tenth waits.
func TestActivitiesTouchFewKeys(t *testing.T) { //nolint:tparallel // the calls follow each other
	t.Parallel()
	desk, err := provider.Tags("desk")
	ok(t, err)
	owner := &provider.SessionFetchConfig{OwnerID: "w1", LockTimeout: lease}
	names := known("Pay0", "Pay1", "Pay2", "Pay3")
	growing(t, []counted{
		{"fetch", 38, "each of four names, the sets that have it and its oldest activity is looked at; one is taken with all of its keys", fetchesWork(provider.FetchWorkParams{}), 0},
		{"renew", 5, "the token and the activity", func(c *crowd) error { return c.RenewWorkItemLock(c.t.Context(), c.work.LockToken, lease) }, 0},
		{"ack", 16, "the activity with all of its keys, the instance and its state, the message", acksWork, 0},
		{"fetch of a session", 110, "for each of two names, up to 20 activities and the owners of their sessions", fetchesWork(provider.FetchWorkParams{Session: owner, Tags: desk}), 0},
		{"ack of a session", 20, "as of others, and the session", acksWork, 0},
		{"fetch of any tag", 126, "whether any are of sessions, activities with sessions and without, and the sets that have their names", fetchesWork(provider.FetchWorkParams{Session: owner, Tags: provider.AnyTag()}), 0},
		{"give that back", 10, "as of others", abandonsWork, 0},
		{"fetch by names", 28, "as without, and four names", fetchesWork(provider.FetchWorkParams{Known: names}), 0},
		{"abandon", 10, "the token, the activity with all of its keys", abandonsWork, 0},
		{"fetch of a session by names", 110, "as without, and four names", fetchesWork(provider.FetchWorkParams{Session: owner, Tags: desk, Known: names}), 0},
		{"give back", 10, "as of others", abandonsWork, 0},
		{"enqueue", 5, "the activity with its keys", func(c *crowd) error { return c.EnqueueForWorker(c.t.Context(), activityOf("new", "Pay1")) }, 0},
		{"renew sessions", 10, "the one session, not those of others", renewsSession, 0},
		{"fetch when activities are due", 500, "as without, and a portion of 64 activities", later(fetchesWork(provider.FetchWorkParams{})), 0},
		{"give it back", 10, "as of others", abandonsWork, 0},
	}, fmt.Sprintf(`
		SET @id = CONCAT(N'r', @n); SET @name = CONCAT(N'Pay', @n %% 4); SET @item = %s;
		SELECT @session = NULL, @tag = N'';
		IF @n %% 10 = 0
			SELECT @session = CONCAT(N's', @n), @tag = N'desk';
		IF @n %% 10 = 1
			INSERT INTO duroxide.sessions (session_id, worker_id, locked_until, last_activity_at) VALUES (CONCAT(N'o', @n), IIF(@n = 1, N'w2', N'w9'), 9000000000000, 9000000000000);
		EXEC duroxide.enqueue_for_worker @instance_id = @id, @execution_id = 1, @activity_id = 2, @session_id = @session, @tag = @tag, @name = @name, @work_item = @item;
		IF @n %% 10 = 5
			UPDATE duroxide.worker_queue SET ready = 0, visible_at = visible_at + 86400000, wake_at = wake_at + 86400000 WHERE instance_id = @id;`,
		quoted(activityOf("@id", "Pay"))))
}

// Rules Q8 and Q9: the same for the calls that take turns and activities, and acknowledge before they do.
func TestTakesTouchFewKeys(t *testing.T) { //nolint:tparallel // the calls follow each other
	t.Parallel()
	growing(t, []counted{
		{"take", 120, "what a fetch of a turn touches, and twice what one of an activity does", takes(taking), 0},
		{"end a turn and take", 150, "the acknowledgement, and as before", takes(
			func(c *crowd, params provider.ClaimParams) (provider.Claimed, error) {
				return c.AckTurnAndClaim(c.t.Context(), anAck(c), params)
			}), 0},
		{"end an activity and take", 140, "the acknowledgement, and as before", takes(
			func(c *crowd, params provider.ClaimParams) (provider.Claimed, error) {
				held := provider.ActivityCompletedItem{Instance: c.turn.Item.Instance, ExecutionID: 1, ID: 2}
				outcomes, taken, err := c.AckWorkAndClaim(c.t.Context(), []provider.WorkAck{{LockToken: c.work.LockToken, Completion: held}}, params)
				return taken, errors.Join(append(outcomes, err)...)
			}), 0},
	}, fmt.Sprintf(`
		SET @id = CONCAT(N'r', @n); SET @name = CONCAT(N'Order', @n %% 4); SET @item = %s;
		EXEC duroxide.enqueue_for_orchestrator @instance_id = @id, @kind = 2, @name = @name, @version = N'', @work_item = @item, @delay_ms = 0;
		SET @name = CONCAT(N'Pay', @n %% 4); SET @item = %s;
		EXEC duroxide.enqueue_for_worker @instance_id = @id, @execution_id = 1, @activity_id = 2, @session_id = NULL, @tag = N'', @name = @name, @work_item = @item;
		IF @n %% 10 = 5
			UPDATE duroxide.worker_queue SET ready = 0, visible_at = visible_at + 86400000, wake_at = wake_at + 86400000 WHERE instance_id = @id;
		IF @n %% 10 = 0 BEGIN
			SET @id = CONCAT(N't', @n); SET @item = %s;
			EXEC duroxide.enqueue_for_orchestrator @instance_id = @id, @kind = 3, @name = NULL, @version = NULL, @work_item = @item, @delay_ms = 86400000;
		END;`,
		quoted(startOf("@id", "Order")), quoted(activityOf("@id", "Pay")), quoted(provider.ExternalRaisedItem{Instance: "@id", Name: "timer"})))
}

// TestEmptyLooksTouchFewKeys: a look beside an acknowledgement ends at the indexes of what is ready and due when they
// hold nothing, however much there is that waits for its time.
func TestEmptyLooksTouchFewKeys(t *testing.T) { //nolint:tparallel // the calls follow each other
	t.Parallel()
	params := provider.ClaimParams{
		Turn: &provider.FetchOrchestrationParams{LockTimeout: lease, Known: known("Order")},
		Work: []provider.FetchWorkParams{{LockTimeout: lease, Known: known("Pay")}, {LockTimeout: lease, Known: known("Pay")}},
	}
	growing(t, []counted{
		{"look", 4, "the two sets of names", func(c *crowd) error {
			_, taken, err := c.AckWorkAndClaim(c.t.Context(), nil, params)
			if taken.Turn != nil || len(taken.Work) > 0 {
				return fmt.Errorf("%+v is taken", taken)
			}
			return errors.Join(err, taken.Err)
		}, 0},
	}, fmt.Sprintf(`SET @id = CONCAT(N'i', @n); SET @item = %s;
		EXEC duroxide.enqueue_for_orchestrator @instance_id = @id, @kind = 2, @name = N'Order', @version = N'', @work_item = @item, @delay_ms = 86400000;
		SET @item = %s;
		EXEC duroxide.enqueue_for_worker @instance_id = @id, @execution_id = 1, @activity_id = 2, @session_id = NULL, @tag = N'', @name = N'Pay', @work_item = @item;
		UPDATE duroxide.worker_queue SET ready = 0, visible_at = visible_at + 86400000, wake_at = wake_at + 86400000 WHERE instance_id = @id;`,
		quoted(startOf("@id", "Order")), quoted(activityOf("@id", "Pay"))))
}

func taking(c *crowd, params provider.ClaimParams) (provider.Claimed, error) {
	return c.Claim(c.t.Context(), params)
}

// takes makes a call that takes a turn and two activities by the names that there are.
func takes(call func(*crowd, provider.ClaimParams) (provider.Claimed, error)) func(c *crowd) error {
	pay := provider.FetchWorkParams{LockTimeout: lease, Known: known("Pay0", "Pay1", "Pay2", "Pay3")}
	params := provider.ClaimParams{
		Turn: &provider.FetchOrchestrationParams{LockTimeout: lease, Known: known("Order0", "Order1", "Order2", "Order3")},
		Work: []provider.FetchWorkParams{pay, pay},
	}
	return func(c *crowd) error {
		taken, err := call(c, params)
		if err := errors.Join(err, taken.Err); err != nil {
			return err
		}
		if taken.Turn == nil || len(taken.Work) != 2 {
			return fmt.Errorf("turn %v and %d activities are taken, want one and 2", taken.Turn, len(taken.Work))
		}
		c.turn, c.work = taken.Turn, taken.Work[0].FetchedWorkItem
		return nil
	}
}

func fetchesWork(p provider.FetchWorkParams) func(c *crowd) error {
	p.LockTimeout = lease
	return func(c *crowd) (err error) {
		c.work, err = c.FetchWorkItem(c.t.Context(), p)
		if err == nil && c.work == nil {
			err = errors.New("nothing is ready")
		}
		return err
	}
}

func acksWork(c *crowd) error {
	return c.AckWorkItem(c.t.Context(), c.work.LockToken, provider.ActivityCompletedItem{Instance: c.work.Item.Target(), ExecutionID: 1, ID: 2})
}

func abandonsWork(c *crowd) error {
	return c.AbandonWorkItem(c.t.Context(), provider.AbandonParams{LockToken: c.work.LockToken})
}

func renewsSession(c *crowd) error {
	n, err := c.RenewSessionLock(c.t.Context(), provider.RenewSessionParams{OwnerIDs: []string{"w2"}, ExtendFor: 1000 * time.Hour, IdleTimeout: lease})
	if err == nil && n != 1 {
		err = fmt.Errorf("%d sessions are renewed, want 1", n)
	}
	return err
}
