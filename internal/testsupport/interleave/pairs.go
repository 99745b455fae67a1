package interleave

import "github.com/duroxide/duroxide-go/tsqltest"

// pairs are two operations beside each other: nobody gets what another one got, no message is forgotten, and nobody is the victim
// of a deadlock.
func pairs() []Scenario {
	list := []Scenario{
		{Name: "fetch turn, enqueue", Prepare: twoTurns, Sessions: []tsqltest.Session{fetches("fetch", fetchTurnOf(1), 1), does("enqueue", enqueueTurn("a", 3))}},
		{Name: "fetch turn, ack turn", Prepare: heldTurn, Sessions: []tsqltest.Session{fetches("fetch", fetchTurnOf(1), 1), does("ack", ackTurnOf(9))}},
		{Name: "fetch turn, abandon turn", Prepare: heldTurn, Sessions: []tsqltest.Session{fetches("fetch", fetchTurnOf(1), 1), does("abandon", abandonTurnOf(9))}},
		{Name: "first messages", Sessions: []tsqltest.Session{does("one", enqueueTurn("a", 1)), does("two", enqueueTurn("a", 1))}},
		{Name: "enqueue both, fetch turn", Prepare: twoTurns, Sessions: []tsqltest.Session{does("enqueue", "BEGIN TRANSACTION;\n"+enqueueTurn("a", 3)+enqueueTurn("b", 3)+"COMMIT;"), fetches("fetch", fetchTurnOf(1), 1)}},
		{Name: "enqueue work, fetch work", Prepare: twoWorks, Sessions: []tsqltest.Session{does("enqueue", enqueueWork("a", "NULL")), fetches("fetch", fetchWorkOf(1, "w1"), 0)}},
		{Name: "enqueue, ack turn", Prepare: heldTurn, Sessions: []tsqltest.Session{does("enqueue", enqueueTurn("a", 3)), does("ack", ackTurnOf(9))}},
		{Name: "fetch work, fetch work", Prepare: twoWorks, Sessions: []tsqltest.Session{fetches("one", fetchWorkOf(1, "w1"), 0), fetches("two", fetchWorkOf(2, "w2"), 0)}},
		{Name: "fetch work, ack work", Prepare: heldWork, Sessions: []tsqltest.Session{fetches("fetch", fetchWorkOf(1, "w2"), 0), does("ack", ackWorkOf(9, "a"))}},
		{Name: "fetch work, abandon work", Prepare: heldWork, Sessions: []tsqltest.Session{fetches("fetch", fetchWorkOf(1, "w2"), 0), does("abandon", abandonWorkOf(9))}},
		{Name: "fetch turn, ack work", Prepare: heldWork, Sessions: []tsqltest.Session{fetches("fetch", fetchTurnOf(1), 1), does("ack", ackWorkOf(9, "a"))}},
		{Name: "get value, ack turn", Prepare: heldTurn, Sessions: []tsqltest.Session{does("get", getValue), does("ack", setsValue(9, "Running"))}},
		{Name: "get value, end", Prepare: heldTurn, Sessions: []tsqltest.Session{does("get", getValue), does("ack", setsValue(9, "Completed"))}},
	}
	for i := range list {
		// Of a fetch: there is nothing to fetch now. Of two that add an inbox: the store repeats the call.
		list[i].Allow = []int32{1222, 2627}
	}
	return list
}
