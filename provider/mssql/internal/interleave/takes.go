package interleave

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// knowsLoad registers the set 0x03 of activities.
const knowsLoad = "DECLARE @load duroxide.code_list_v1; INSERT INTO @load VALUES (1, N'Load', N''); EXEC duroxide.register_known_code @digest = 0x03, @activity = 1, @codes = @load, @any_tag = 1;\n"

// namedWorks are three activities that a worker with the set 0x01 may take, the first of them held.
var namedWorks = heldWork + enqueueWork("a", "NULL") + enqueueWork("b", "NULL") +
	"DECLARE @k duroxide.code_list_v1; INSERT INTO @k VALUES (1, N'Pay', N''); EXEC duroxide.register_known_code @digest = 0x01, @activity = 1, @codes = @k, @any_tag = 1;\n"

// takeWorkOf takes an activity without a tag, or with a certain one, for each of the tokens.
func takeWorkOf(tokens ...int) string {
	return takeWorkBy(asking{owner: "w1", tags: []string{"N''", "N'desk'"}, known: "0x01"}, tokens...)
}

func takeWorkBy(a asking, tokens ...int) string {
	list := fmt.Sprintf("@t%d", tokens[0])
	return a.list(list, tokens...) + fmt.Sprintf("EXEC duroxide.take @work = %s;\n", list)
}

// takes is a session that notes the activities it has taken. What ends the taking is a result set, and what was locked
// before it stays locked.
func takes(name, batch string) tsqltest.Session {
	return tsqltest.Session{Name: name, Run: func(p *tsqltest.Player) error {
		r, err := p.Exec(batch)
		if err != nil {
			return err
		}
		for _, row := range setWith(r, "attempt_count") {
			p.Note(row[1])
		}
		if failure := setWith(r, "error_number"); len(failure) > 0 {
			p.Note(fmt.Sprintf("%s: %v", name, failure[0]))
		}
		return nil
	}}
}

// allTaken says that as many activities as that have been taken, unless somebody has had to wait for too long.
func allTaken(n int) func(*tsqltest.End) error {
	return func(e *tsqltest.End) error {
		if len(e.Notes()) < n {
			return fmt.Errorf("of %d activities these were taken: %v", n, e.Notes())
		}
		return nil
	}
}

// takesBeside are takings of several activities beside each other, which hold on a server that ignores hints, too.
func takesBeside() []Scenario {
	return []Scenario{
		{
			Name: "two take three works", Prepare: namedWorks,
			Sessions: []tsqltest.Session{takes("one", takeWorkOf(1, 2)), takes("two", takeWorkOf(3, 4))}, Check: allTaken(3),
		},
		{
			Name: "one takes two works beside a fetch", Prepare: namedWorks,
			Sessions: []tsqltest.Session{takes("take", takeWorkOf(1, 2)), fetches("fetch", fetchWorkOf(3, "w1"))},
		},
	}
}

// takesByAnyPlan are takings of several activities beside what else writes activities.
func takesByAnyPlan() []Scenario {
	beside := func(name, batch string) Scenario {
		return Scenario{
			Name: "take works, " + name + ", any plan", Prepare: namedWorks + fetchTurnOf(7),
			Sessions: []tsqltest.Session{takes("take", takeWorkOf(1, 2, 3)), does("other", batch)},
			Allow:    []int32{50_010}, AnyPlan: true,
		}
	}
	return []Scenario{
		beside("end one", ackWorkOf(9, "a")),
		beside("give one back", abandonWorkOf(9)),
		beside("cancel them", call{"execution": "1", "cancelled": "(1, N'a', 1, 1), (2, N'b', 1, 1)"}.ack(7)),
		beside("delete their instance", withList(1, "(1, N'b')", "EXEC duroxide.delete_instances @list = @l%d, @force = 1;\n")),
		beside("count them", queueDepths),
	}
}

// endingsByAnyPlan are calls that end something and take the next: the turn of b and two activities are held, a is
// ready, and so are two activities.
func endingsByAnyPlan() []Scenario {
	works := operation{name: "ack works and take", claims: both, batch: func(string, int) string {
		return takeTogether(1, completions(1, "a", 9, 8))
	}}
	turn := operation{name: "ack turn and take", claims: both, batch: func(string, int) string {
		ack := strings.TrimSuffix(ackTurnOf(7), ";\n")
		return takeTogether(2, ack)
	}}
	next := operation{name: "take", claims: both, batch: func(string, int) string { return takeTogether(2, "EXEC duroxide.take") }}
	var list []Scenario
	for _, other := range []operation{turn, next} {
		list = append(list, Scenario{
			Name:     fmt.Sprintf("%s, %s, any plan", works.name, other.name),
			Prepare:  heldWork + enqueueWork("a", "NULL") + fetchWorkOf(8, "w1") + enqueueWork("c", "NULL") + enqueueTurn("b", 3) + fetchTurnOf(7) + knowsLoad,
			Sessions: []tsqltest.Session{works.session("", "", 0), other.session("", "", 0)}, AnyPlan: true,
		})
	}
	return list
}
