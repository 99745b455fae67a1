package interleave

import (
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/tsqltest"
)

// What finds defects: all orders with a few interruptions, or some orders by each of many choices of plans, which lock rows at first.
var (
	everyOrder = tsqltest.Exploration{}
	anyPlan    = tsqltest.Exploration{Random: true, Plans: 200, RowLocks: true, Schedules: 20_000}
)

// defects are what is known to fail. Whoever mends one takes its Known away.
func defects() []Scenario {
	return []Scenario{
		{
			Name:    "a fetch moves all that is due before it takes anything, and its lease begins before that",
			Prepare: manyDue,
			Sessions: []tsqltest.Session{{Name: "fetch", Run: func(p *tsqltest.Player) error {
				p.Advance(time.Minute)
				_, err := p.Exec(fetchTurnOf(1))
				return err
			}}},
			Check: func(e *tsqltest.End) error {
				if n, ok := e.Value("SELECT COUNT(*) FROM duroxide.inboxes WHERE head_id IS NOT NULL").(int64); !ok || n > 64 {
					return fmt.Errorf("one fetch has moved %d instances", n+1)
				}
				return nil
			},
			Known: &Known{Review: 1, Exploration: tsqltest.Exploration{Preemptions: -1}, Want: []string{"moved 300 instances"}},
		},
		{
			Name:     "the write that takes an instance may seek by the ready index",
			Prepare:  twoTurns,
			Sessions: []tsqltest.Session{fetches("one", fetchTurnOf(1), 1), fetches("two", fetchTurnOf(2), 1)},
			Known:    &Known{Review: 3, Exploration: anyPlan, Want: []string{"error 1205", "duroxide.inboxes.ix_inboxes_ready"}},
		},
		{
			Name:     "a renewal of sessions comes to the row by its index, and a claim to the index by the row",
			Prepare:  aSession,
			Sessions: []tsqltest.Session{does("renew", renewSessions), does("claim", claims("w1", "s1"))},
			Known:    &Known{Review: 4, Exploration: anyPlan, Want: []string{"error 1205", "duroxide.sessions.ix_sessions_end"}},
		},
		{
			Name:     "a new version of the framework makes fetches wait",
			Prepare:  heldTurn,
			Sessions: []tsqltest.Session{does("fetch", "SET LOCK_TIMEOUT 0; "+fetchTurnOf(1)), does("ack", ofVersion(ackTurnOf(9)))},
			Known:    &Known{Review: 11, Exploration: everyOrder, Want: []string{"error 1222", "framework_versions"}},
		},
		{
			Name:     "a reader of the queues' lengths comes to the inbox by its message",
			Prepare:  heldTurn,
			Sessions: []tsqltest.Session{does("read", queueDepths), does("ack", ackTurnOf(9))},
			Known:    &Known{Review: 16, Exploration: everyOrder, Want: []string{"error 1205", "get_queue_depths"}},
		},
		{
			Name:     "a claim keeps a session that it did not get",
			Prepare:  twoSessions,
			Sessions: []tsqltest.Session{does("renew", renewSessions), does("claim", claims("w3", "s2", "s1"))},
			Known:    &Known{Review: 17, Exploration: everyOrder, Want: []string{"error 1205", "claim_session"}},
		},
		{
			Name:    "a search for work of sessions comes to the session by its index",
			Prepare: aSession,
			Sessions: []tsqltest.Session{
				does("aside", "EXEC duroxide.set_work_aside @lock_token = "+tokenOf(9)+", @error = N'e', @free_session = 1;"),
				fetches("fetch", fetchWorkOf(2, "w1"), 0),
			},
			Known: &Known{Exploration: anyPlan, Want: []string{"error 1205", "find_session_work"}},
		},
		{
			Name:     "a session that changes hands while it is renewed is renewed twice",
			Prepare:  twoSessions + enqueueWork("c", "s1"),
			Sessions: []tsqltest.Session{does("renew", renewSessions), fetches("fetch", fetchWorkOf(1, "w2"), 0), passing(31 * time.Second)},
			Known:    &Known{Exploration: everyOrder, Want: []string{"error 2627", "renew_session_lock"}},
		},
	}
}
