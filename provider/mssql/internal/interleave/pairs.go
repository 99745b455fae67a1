package interleave

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// pairs are two operations beside each other: nobody gets what another one got, no message is forgotten, and nobody is
// the victim of a deadlock.
func pairs() []Scenario {
	list := []Scenario{
		{Name: "fetch turn, enqueue", Prepare: twoTurns, Sessions: []tsqltest.Session{fetches("fetch", fetchTurnOf(1)), does("enqueue", enqueueTurn("a", 3))}},
		{Name: "fetch turn, ack turn", Prepare: heldTurn, Sessions: []tsqltest.Session{fetches("fetch", fetchTurnOf(1)), does("ack", ackTurnOf(9))}},
		{Name: "fetch turn, abandon turn", Prepare: heldTurn, Sessions: []tsqltest.Session{fetches("fetch", fetchTurnOf(1)), does("abandon", abandonTurnOf(9))}},
		{Name: "first messages", Sessions: []tsqltest.Session{does("one", enqueueTurn("a", 1)), does("two", enqueueTurn("a", 1))}},
		{Name: "enqueue both, fetch turn", Prepare: twoTurns, Sessions: []tsqltest.Session{does("enqueue", "BEGIN TRANSACTION;\n"+enqueueTurn("a", 3)+enqueueTurn("b", 3)+"COMMIT;"), fetches("fetch", fetchTurnOf(1))}},
		{Name: "enqueue work, fetch work", Prepare: twoWorks, Sessions: []tsqltest.Session{does("enqueue", enqueueWork("a", "NULL")), fetches("fetch", fetchWorkOf(1, "w1"))}},
		{Name: "enqueue, ack turn", Prepare: heldTurn, Sessions: []tsqltest.Session{does("enqueue", enqueueTurn("a", 3)), does("ack", ackTurnOf(9))}},
		{Name: "fetch work, fetch work", Prepare: twoWorks, Sessions: []tsqltest.Session{fetches("one", fetchWorkOf(1, "w1")), fetches("two", fetchWorkOf(2, "w2"))}},
		{Name: "fetch work, ack work", Prepare: heldWork, Sessions: []tsqltest.Session{fetches("fetch", fetchWorkOf(1, "w2")), does("ack", ackWorkOf(9, "a"))}},
		{Name: "fetch work, abandon work", Prepare: heldWork, Sessions: []tsqltest.Session{fetches("fetch", fetchWorkOf(1, "w2")), does("abandon", abandonWorkOf(9))}},
		{Name: "fetch turn, ack work", Prepare: heldWork, Sessions: []tsqltest.Session{fetches("fetch", fetchTurnOf(1)), does("ack", ackWorkOf(9, "a"))}},
		{Name: "get value, ack turn", Prepare: heldTurn, Sessions: []tsqltest.Session{does("get", getValue), does("ack", setsValue(9, "Running"))}},
		{Name: "get value, end", Prepare: heldTurn, Sessions: []tsqltest.Session{does("get", getValue), does("ack", setsValue(9, "Completed"))}},
	}
	for i := range list {
		// Of a fetch: there is nothing to fetch now. Of two that add an inbox: the store repeats the call.
		list[i].Allow = []int32{1222, 2627}
	}
	return slices.Concat(list, fetchesByNames(), fanIn())
}

// fetchesByNames are fetches of a worker that knows some code: its first look at what is ready locks nothing.
func fetchesByNames() []Scenario {
	named := twoTurns + "DECLARE @k duroxide.code_list_v1; INSERT INTO @k VALUES (1, N'Order', N'1.0.0'); EXEC duroxide.register_known_code @digest = 0x01, @activity = 0, @codes = @k, @any_tag = 1;\n"
	fetch := func(n int) string { return strings.Replace(fetchTurnOf(n), "@known = NULL", "@known = 0x01", 1) }
	return []Scenario{
		{
			Name: "two fetches by names find two instances", Prepare: named,
			Sessions: []tsqltest.Session{fetches("one", fetch(1)), fetches("two", fetch(2))}, Allow: []int32{1222}, Check: allTaken(2),
		},
		{Name: "fetch by names, enqueue", Prepare: named, Sessions: []tsqltest.Session{fetches("fetch", fetch(1)), does("enqueue", enqueueTurn("a", 3))}, Allow: []int32{1222}},
		{
			Name: "fetch by names, delete it", Prepare: started("c", 5) + named + enqueueTurn("c", 3),
			Sessions: []tsqltest.Session{fetches("fetch", fetch(1)), does("delete", strings.Replace(deletion, "N'a'", "N'c'", 1))}, Allow: []int32{1222},
		},
	}
}

// endsOf ends activities of a in one call.
func endsOf(tokens ...int) tsqltest.Session {
	return tsqltest.Session{Name: "end", Run: func(p *tsqltest.Player) error {
		_, err := p.Exec(completions(1, "a", tokens...) + ";\n")
		return err
	}}
}

// fanIn are completions of two activities of one instance: they are committed beside each other, whether a turn holds
// the instance or it waits for one, and the turn that follows gets both.
func fanIn() []Scenario {
	two := start("a") + fetchTurnOf(5) + call{"execution": "1", "activities": activity(1, "a", 1, null) + ", " + activity(2, "a", 2, null)}.named("Order").ack(5) +
		fetchWorkOf(9, "w1") + fetchWorkOf(8, "w1") + enqueueTurn("a", 3)
	three := start("a") + fetchTurnOf(5) + call{"execution": "1", "activities": activity(1, "a", 1, null) + ", " + activity(2, "a", 2, null) + ", " + activity(3, "a", 3, null)}.named("Order").ack(5) +
		fetchWorkOf(9, "w1") + fetchWorkOf(8, "w1") + fetchWorkOf(7, "w1")
	impatient := func(n int) tsqltest.Session {
		return does(fmt.Sprint("ack ", n), "SET LOCK_TIMEOUT 0; "+ackWorkOf(n, "a"))
	}
	return []Scenario{
		{Name: "two completions for an instance that is ready", Prepare: two, Sessions: []tsqltest.Session{impatient(8), impatient(9)}},
		{Name: "two completions for an instance that is held", Prepare: two + fetchTurnOf(6), Sessions: []tsqltest.Session{impatient(8), impatient(9)}},
		{
			Name: "two completions and the end of a turn", Prepare: two + fetchTurnOf(6),
			Sessions: []tsqltest.Session{does("one", ackWorkOf(8, "a")), does("two", ackWorkOf(9, "a")), does("abandon", abandonTurnOf(6))},
		},
		{
			Name: "a completion when the lease of the turn ends", Prepare: two + fetchTurnOf(6) + renewWorkOf(8),
			Sessions: []tsqltest.Session{does("ack", ackWorkOf(8, "a")), fetches("fetch", fetchTurnOf(1)), passing(31 * time.Second)},
			Allow:    []int32{1222},
		},
		{Name: "two in one call, and a third", Prepare: three, Sessions: []tsqltest.Session{endsOf(8, 9), does("third", ackWorkOf(7, "a"))}},
		{Name: "two in one call, and a turn", Prepare: three, Sessions: []tsqltest.Session{endsOf(8, 9), fetches("fetch", fetchTurnOf(1))}, Allow: []int32{1222}},
		{
			Name: "two in one call when the lease of one ends", Prepare: three + renewWorkOf(7) + renewWorkOf(8),
			Sessions: []tsqltest.Session{endsOf(8, 9), fetches("fetch", fetchWorkOf(1, "w2")), passing(31 * time.Second)},
			Allow:    []int32{1222}, Check: endedOrHeld,
		},
	}
}

// endedOrHeld says that as many completions have come as activities have ended, and that who has fetched one still has
// it.
func endedOrHeld(e *tsqltest.End) error {
	const sum = "SELECT (SELECT COUNT(*) FROM duroxide.worker_queue WHERE instance_id = N'a') + (SELECT COUNT(*) FROM duroxide.orchestrator_queue WHERE instance_id = N'a')"
	if n := e.Value(sum); n != int64(3) {
		return fmt.Errorf("of 3 activities, those that are left and the completions that have come are %v", n)
	}
	if n := e.Value("SELECT COUNT(*) FROM duroxide.worker_queue WHERE lock_token = " + tokenOf(1)); n != int64(len(e.Notes())) {
		return errors.New("somebody else has ended what was fetched")
	}
	return fetchedOnce(e)
}
