package mssql_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// ghostsVariable says how many turns, and as many activities, are taken and acknowledged behind the reader. The default
// costs a second.
const ghostsVariable = "DUROXIDE_TEST_MSSQL_GHOSTS"

func ghosts(t *testing.T) int {
	t.Helper()
	text := os.Getenv(ghostsVariable)
	if text == "" {
		return 200
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 200 {
		t.Fatalf("%s is %q and has to be a number from 200 on", ghostsVariable, text)
	}
	return n
}

// Rule Q8: behind a reader that keeps old versions of rows, fetches that are told from where to look touch as few keys
// as without it. What has been taken and acknowledged meanwhile they do not walk past.
func TestFetchesBehindAReaderTouchFewKeys(t *testing.T) {
	t.Parallel()
	taken := ghosts(t)
	c := newCrowd(t, true)
	c.grow(taken+200, fmt.Sprintf(`
		SET @id = CONCAT(N'r', @n); SET @item = %s;
		EXEC duroxide.enqueue_for_orchestrator @instance_id = @id, @kind = 2, @name = N'Order', @version = N'', @work_item = @item, @delay_ms = 0;
		SET @item = %s;
		EXEC duroxide.enqueue_for_worker @instance_id = @id, @execution_id = 1, @activity_id = 2, @session_id = NULL, @tag = N'', @name = N'Pay', @work_item = @item;`,
		quoted(startOf("@id", "Order")), quoted(activityOf("@id", "Pay"))))
	reader, err := c.server.Connect(t.Context())
	ok(t, err)
	defer reader.Close()
	for _, batch := range []string{
		"ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON", "SET TRANSACTION ISOLATION LEVEL SNAPSHOT",
		"BEGIN TRANSACTION; SELECT COUNT(*) FROM duroxide.inboxes",
	} {
		_, err = reader.Exec(t.Context(), batch)
		ok(t, err)
	}
	turns, works := fetchesTurn(known("Order")), fetchesWork(provider.FetchWorkParams{Known: known("Pay")})
	for range taken {
		ok(t, turns(c))
		ok(t, c.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{LockToken: c.turn.LockToken, ExecutionID: 1, Metadata: running()}))
		ok(t, works(c))
		ok(t, c.AckWorkItem(t.Context(), c.work.LockToken, nil))
	}
	// All leases would have ended by now: the beginning of what is due is full of what is gone, too.
	c.clock.Advance(lease + time.Second)
	last := func(query string) any {
		t.Helper()
		r, err := c.conn.Exec(t.Context(), query)
		ok(t, err)
		return r.Sets[0].Rows[0][0]
	}
	head, work := last("SELECT MIN(b.head_id) FROM duroxide.inboxes AS b"), last("SELECT MIN(q.id) FROM duroxide.worker_queue AS q WHERE q.ready = 1")
	now := c.clock.Now().UnixMilli()
	names := func(activity int) string {
		return fmt.Sprintf("0x%X", last(fmt.Sprintf("SELECT k.digest FROM duroxide.known_code AS k WHERE k.activity = %d", activity)))
	}
	values := strings.NewReplacer("{orders}", names(0), "{payments}", names(1))
	marks := strings.NewReplacer("{head}", fmt.Sprint(head), "{work}", fmt.Sprint(work), "{due}", fmt.Sprint(now))
	none := strings.NewReplacer("{head}", "0", "{work}", "0", "{due}", "0")
	const turn = `DECLARE @turn duroxide.turn_claim_v1; INSERT INTO @turn VALUES (0, {token}0', 30000, {orders}, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, {head}, {due}); `
	const columns, row = "(position, selection, lock_token, lock_ms, session_ms, any_tag, tag1, known, unknown_ms, from_id, due_from)", `, 30000, 0, 0, N'', {payments}, 0, {work}, {due})`
	for n, call := range []struct {
		name, batch string
		most        int
	}{
		{"fetch turn", turn + "EXEC duroxide.take @turn = @turn", 40},
		{"fetch work", "DECLARE @work duroxide.take_list_v1; INSERT INTO @work " + columns + " VALUES (0, 0, {token}0'" + row + "; EXEC duroxide.fetch_work_item @work = @work;", 30},
		{"take", turn + `DECLARE @work duroxide.take_list_v1;
			INSERT INTO @work ` + columns + ` VALUES (0, 0, {token}1'` + row + ", (1, 0, {token}2'" + row + `;
			EXEC duroxide.take @turn = @turn, @work = @work`, 100},
	} {
		var few, many tsqltest.Keys
		for i, from := range []*strings.Replacer{marks, none} {
			token := fmt.Sprintf("'00000000-0000-0000-%04d-00000000000", 2*n+i)
			r, err := c.conn.Exec(t.Context(), strings.ReplaceAll(from.Replace(values.Replace(call.batch)), "{token}", token))
			ok(t, err)
			if work := r.Sets[len(r.Sets)-1].Rows; call.name == "take" && len(work) != 2 {
				t.Fatalf("%d activities are taken, want 2: %v", len(work), r.Sets)
			}
			if few, many = many, r.Keys(); i == 0 {
				few = many
			}
		}
		t.Logf("%s: %d keys with marks, %d without", call.name, few.Total(), many.Total())
		if n := few.Total(); n > call.most {
			t.Errorf("%s touches %d keys, %d are in order:\n%v", call.name, n, call.most, few)
		}
		if n := many.Total(); n < 2*taken {
			t.Errorf("%s without marks touches only %d keys: nothing is kept for the reader\n%v", call.name, n, many)
		}
	}
}
