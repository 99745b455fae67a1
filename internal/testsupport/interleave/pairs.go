package interleave

import (
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/tsqltest"
)

// pairs are two operations beside each other: nobody gets what another one got, no message is forgotten, and nobody is the victim
// of a deadlock.
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
	return append(list, fanIn()...)
}

// fanIn are completions of two activities of one instance: they are committed beside each other, whether a turn holds the instance
// or it waits for one, and the turn that follows gets both.
func fanIn() []Scenario {
	two := start("a") + fetchTurnOf(5) + call{"execution": "1", "activities": activity(1, "a", 1, null) + ", " + activity(2, "a", 2, null)}.named("Order").ack(5) +
		fetchWorkOf(8, "w1") + fetchWorkOf(9, "w1") + enqueueTurn("a", 3)
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
	}
}
