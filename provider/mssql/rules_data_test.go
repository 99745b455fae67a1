package mssql_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/testsupport/racing"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
)

// Rule T3: ids that differ in anything are different instances, whatever the collation of the database: the server's =
// ignores blanks at the end, and many a collation ignores case, accents, width and normal form.
func TestIDsAreComparedByteForByte(t *testing.T) {
	t.Parallel()
	ids := []string{
		"a", "A", "a ", "a  ", " a", "a\x1f", "a \x1f", "a\t", "á", "a\u0301", "ａ", "ß", "ss", "SS", "ı", "i", "I", "İ", "\u200ba", "a\u00a0", "it's", `a\b`, `a"b`, "😀", "😁",
	}
	store := emptyStore(t, 2)
	for _, id := range ids {
		ok(t, store.EnqueueForOrchestrator(t.Context(), start(id), 0))
	}
	var fetched []string
	for {
		turn, err := fetchTurn(t.Context(), store)
		ok(t, err)
		if turn == nil {
			break
		}
		if len(turn.Item.Messages) != 1 {
			t.Errorf("%q has the messages of others: %v", turn.Item.Instance, turn.Item.Messages)
		}
		fetched = append(fetched, turn.Item.Instance)
		// The other keys of the contract: a session, a tag, a key of the map.
		id := turn.Item.Instance
		params := provider.AckOrchestrationParams{LockToken: turn.LockToken, ExecutionID: 1, Metadata: running()}
		params.WorkerItems = []provider.WorkItem{provider.ActivityExecuteItem{Instance: id, ExecutionID: 1, ID: 2, Name: "Work", Tag: &id}}
		ok(t, store.AckOrchestrationItem(t.Context(), params))
	}
	if d := cmp.Diff(slices.Sorted(slices.Values(ids)), slices.Sorted(slices.Values(fetched))); d != "" {
		t.Fatalf("(-queued +fetched)\n%s", d)
	}
	for _, id := range ids {
		tags, err := provider.Tags(id)
		ok(t, err)
		work, err := store.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: lease, Tags: tags})
		ok(t, err)
		if work == nil || work.Item.Target() != id {
			t.Errorf("the tag %q found %+v", id, work)
		}
	}
}

// Rule T3 for what goes through all ids in their order: an id that begins with a tab or a line end comes before the
// empty text, because the server compares that as if it were a blank.
func TestIDsThatBeginWithATab(t *testing.T) {
	t.Parallel()
	ids := []string{"\t", "\t\t", "\na", "\r", " ", "a", "\x01"}
	store := emptyStore(t, 2)
	for _, id := range ids {
		ok(t, store.EnqueueForOrchestrator(t.Context(), start(id), 0))
		turn, err := fetchTurn(t.Context(), store)
		ok(t, err)
		ok(t, store.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{
			LockToken: turn.LockToken, ExecutionID: 1, Metadata: running(),
		}))
		ok(t, store.EnqueueForOrchestrator(t.Context(), provider.ExternalRaisedItem{Instance: id + "/orphan"}, 0))
	}
	var listed []string
	for query := (provider.PageQuery{Limit: 2}); ; {
		page, err := store.ListInstancePage(t.Context(), query)
		ok(t, err)
		listed = append(listed, page.InstanceIDs...)
		if query.After = page.Next; page.Next == "" {
			break
		}
	}
	if d := cmp.Diff(slices.Sorted(slices.Values(ids)), slices.Sorted(slices.Values(listed))); d != "" {
		t.Errorf("ListInstancePage (-stored +listed)\n%s", d)
	}
	for _, filter := range []provider.InstanceFilter{{}, {InstanceIDs: ids}} {
		pruned, err := store.PruneExecutionsBulk(t.Context(), filter, provider.PruneOptions{})
		ok(t, err)
		if pruned.InstancesProcessed != uint64(len(ids)) {
			t.Errorf("PruneExecutionsBulk of %q: %d instances, want %d", filter.InstanceIDs, pruned.InstancesProcessed, len(ids))
		}
	}
	orphans, err := store.DeleteOrphanMessages(t.Context(), 0)
	ok(t, err)
	if orphans.Instances != uint64(len(ids)) {
		t.Errorf("DeleteOrphanMessages: of %d ids, want %d", orphans.Instances, len(ids))
	}
}

// Rule T4: what goes in comes out, of any size and with any characters. T-SQL's own functions on JSON cut at 4,000
// characters, and a string of 8,000 bytes is where another type begins.
func TestPayloadsOfAllSizes(t *testing.T) { //nolint:tparallel // see below
	t.Parallel()
	store := emptyStore(t, 2)
	controls := make([]byte, 0, 32)
	for c := byte(1); c < 0x20; c++ {
		controls = append(controls, c)
	}
	payloads := map[string]string{
		"empty":              "",
		"zero":               "a\x00b",
		"substitute":         "a\x1ab\x1a0",
		"one byte":           "x",
		"controls":           string(controls) + "\x7f\u0080\u009f\u2028\u2029\ufeff\ufffd",
		"quotes":             `'"'; DROP TABLE x --"[]{}\u0000\\`,
		"blanks at the end":  "x   ",
		"astral":             strings.Repeat("😀", 2001),
		"astral, odd":        "x" + strings.Repeat("😀", 4000),
		"accents":            strings.Repeat("é", 4001),
		"ten megabytes":      strings.Repeat("0123456789", 1<<20),
		"a megabyte, astral": strings.Repeat("😀é1\n", 1<<17),
	}
	for _, size := range []int{3999, 4000, 4001, 7999, 8000, 8001, 1 << 20} {
		payloads[fmt.Sprint(size, " characters")] = strings.Repeat("a", size-1) + "z"
	}
	if racing.Part() {
		delete(payloads, "ten megabytes")
	}
	for name, payload := range payloads { //nolint:paralleltest // they share a store and take what they find in it
		t.Run(name, func(t *testing.T) { roundTrip(t, store, name, payload) })
	}
}

// roundTrip sends a payload by every way there is: as a message, an event, a status, a value, an output, an activity's
// input and its result.
func roundTrip(t *testing.T, store *mssql.Store, instance, payload string) {
	t.Helper()
	ctx := t.Context()
	ok(t, store.EnqueueForOrchestrator(ctx, provider.StartOrchestrationItem{
		Instance: instance, Orchestration: "Order", Input: payload, ExecutionID: 1,
	}, 0))
	turn := anyTurn(t, store)
	same(t, "the message", payload, turn.Item.Messages[0].(provider.StartOrchestrationItem).Input)

	params := provider.AckOrchestrationParams{LockToken: turn.LockToken, ExecutionID: 1, Metadata: running()}
	params.Metadata.Output = &payload
	params.HistoryDelta = []provider.Event{
		{EventID: 1, InstanceID: instance, ExecutionID: 1, Kind: provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: payload}},
		{EventID: 2, InstanceID: instance, ExecutionID: 1, Kind: provider.CustomStatusUpdated{Status: &payload}},
		{EventID: 3, InstanceID: instance, ExecutionID: 1, Kind: provider.KeyValueSet{Key: "k", Value: payload}},
	}
	params.WorkerItems = []provider.WorkItem{provider.ActivityExecuteItem{Instance: instance, ExecutionID: 1, ID: 4, Name: "Work", Input: payload}}
	ok(t, store.AckOrchestrationItem(ctx, params))

	status, err := store.GetCustomStatus(ctx, instance, 0)
	ok(t, err)
	same(t, "the custom status", payload, *status.Status)
	value, err := store.GetKVValue(ctx, instance, "k")
	ok(t, err)
	same(t, "the value", payload, *value)
	work, err := store.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: lease})
	ok(t, err)
	same(t, "the activity's input", payload, work.Item.(provider.ActivityExecuteItem).Input)
	ok(t, store.AckWorkItem(ctx, work.LockToken, provider.ActivityCompletedItem{Instance: instance, ExecutionID: 1, ID: 4, Result: payload}))

	turn = anyTurn(t, store)
	same(t, "the activity's result", payload, turn.Item.Messages[0].(provider.ActivityCompletedItem).Result)
	same(t, "the event", payload, turn.Item.History[0].Kind.(provider.OrchestrationStarted).Input)
	ok(t, store.AckOrchestrationItem(ctx, provider.AckOrchestrationParams{LockToken: turn.LockToken, ExecutionID: 1}))
	info, err := store.Admin().GetInstanceInfo(ctx, instance)
	ok(t, err)
	same(t, "the output", payload, *info.Output)
}

// same compares long texts without printing them.
func same(t *testing.T, what, want, got string) {
	t.Helper()
	if want == got {
		return
	}
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	t.Errorf("%s has changed: %d bytes instead of %d, the first other at byte %d: %.20q instead of %.20q",
		what, len(got), len(want), at, got[at:], want[at:])
}

// Rule T5: the longest ids that are accepted fit every key that they are part of, in characters of any length; a longer
// one is refused for good and nothing is stored.
func TestLongestIDs(t *testing.T) { //nolint:tparallel // see below
	t.Parallel()
	store := emptyStore(t, 2)
	for name, longest := range map[string]string{ //nolint:paralleltest // they share a store and take what they find in it
		"ASCII":   strings.Repeat("a", 400),
		"accents": strings.Repeat("é", 400),
		"CJK":     strings.Repeat("世", 400),
		"astral":  strings.Repeat("😀", 200),
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			for _, long := range []string{longest + "a", longest + " "} {
				if err := store.EnqueueForOrchestrator(ctx, start(long), 0); !errors.Is(err, provider.ErrInvalidArgument) || provider.IsRetryable(err) {
					t.Errorf("an id of %d bytes: %v, want it refused for good", len(long), err)
				}
			}
			ok(t, store.EnqueueForOrchestrator(ctx, start(longest), 0))
			turn := anyTurn(t, store)
			same(t, "the instance", longest, turn.Item.Instance)
			metadata := running()
			metadata.OrchestrationName, metadata.OrchestrationVersion, metadata.ParentInstanceID = &longest, &longest, &longest
			ok(t, store.AckOrchestrationItem(ctx, provider.AckOrchestrationParams{
				LockToken: turn.LockToken, ExecutionID: 1, Metadata: metadata,
				HistoryDelta: []provider.Event{{EventID: 1, InstanceID: longest, ExecutionID: 1, Kind: provider.KeyValueSet{Key: longest, Value: "v"}}},
				WorkerItems: []provider.WorkItem{provider.ActivityExecuteItem{
					Instance: longest, ExecutionID: 1, ID: 2, Name: longest, SessionID: &longest, Tag: &longest,
				}},
			}))
			value, err := store.GetKVValue(ctx, longest, longest)
			ok(t, err)
			if value == nil || *value != "v" {
				t.Errorf("the key's value is %v", value)
			}
			tags, err := provider.Tags(longest)
			ok(t, err)
			work, err := store.FetchWorkItem(ctx, provider.FetchWorkParams{
				LockTimeout: lease, Tags: tags,
				Session: &provider.SessionFetchConfig{OwnerID: longest, LockTimeout: lease},
			})
			ok(t, err)
			if work == nil {
				t.Fatal("the activity was not found by its tag and session")
			}
			same(t, "the activity's name", longest, work.Item.(provider.ActivityExecuteItem).Name)
		})
	}
}
