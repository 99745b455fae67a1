package providertest

import "github.com/duroxide/duroxide-go/provider"

// These are the reference's scenarios about sizes; "more stats" has the rest.

// An id that nobody used has no stats, and asking is no error.
func getStatsNonexistent(e *env) {
	stats, err := e.p.GetInstanceStats(e.ctx, "nobody")
	e.ok(err, "§5.19: nil if there is no instance row")
	e.check(stats == nil, "§5.19: nil if there is no instance row", "%+v", stats)
}

// After the first turn there is a history, and nothing else.
func getStatsHistory(e *env) {
	e.create("A")
	same(e, e.stats("A"), provider.InstanceStats{
		HistoryEventCount: 1, HistorySizeBytes: e.storedBytes(started("A", 1)),
	}, ruleStatsCount+"; "+ruleStatsBytes)
}

// Two keys of 3 and 5 bytes, set in a turn that also completes.
func getStatsKV(e *env) {
	e.createWith("A", provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{
			event("A", 1, 2, provider.KeyValueSet{Key: "a", Value: "abc"}),
			event("A", 1, 3, provider.KeyValueSet{Key: "b", Value: "abcde"}),
			event("A", 1, 4, provider.OrchestrationCompleted{Output: "out"}),
		},
		Metadata: ended(provider.StatusCompleted, "out"),
	})
	e.hasKeys("A", 2, 8)
}

// Three carried messages are pending, whatever the keys are.
func getStatsCarryForward(e *env) {
	first := carrying("A", 1, provider.Pair{Name: "q", Data: "1"}, provider.Pair{Name: "q", Data: "2"}, provider.Pair{Name: "r", Data: "3"})
	e.enqueue(startItem("A"))
	e.commit(e.fetchInstance("A", held), provider.AckOrchestrationParams{HistoryDelta: []provider.Event{first}, Metadata: created()})
	same(e, e.stats("A").QueuePendingCount, 3, ruleStatsCarry)
	e.hasKeys("A", 0, 0)
}

// Keys of a running instance are counted from its delta.
func getStatsDeltaOnly(e *env) {
	e.create("A")
	e.turn("A", provider.AckOrchestrationParams{HistoryDelta: []provider.Event{
		event("A", 1, 2, provider.KeyValueSet{Key: "a", Value: "abcd"}),
		event("A", 1, 3, provider.KeyValueSet{Key: "b", Value: "abcde"}),
	}})
	e.hasKeys("A", 2, 9)
}

// A key that the completing turn overwrites counts once, with its last value.
func getStatsMerged(e *env) {
	e.create("A", event("A", 1, 2, provider.KeyValueSet{Key: "a", Value: "ab"}), event("A", 1, 3, provider.KeyValueSet{Key: "b", Value: "abc"}))
	e.hasKeys("A", 2, 5)
	e.turn("A", provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{
			event("A", 1, 4, provider.KeyValueSet{Key: "a", Value: "abcd"}),
			event("A", 1, 5, provider.OrchestrationCompleted{Output: "out"}),
		},
		Metadata: ended(provider.StatusCompleted, "out"),
	})
	e.hasKeys("A", 2, 7)
	same(e, e.stats("A").QueuePendingCount, 0, ruleStatsCarry)
}
