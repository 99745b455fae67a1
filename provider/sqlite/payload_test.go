package sqlite

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// payloads counts the rows of payloads and of their texts, and how many rows name them.
func payloads(t *testing.T, path string) [3]int64 {
	t.Helper()
	db := raw(t, path)
	return [3]int64{
		number(t, db, "SELECT count(*) FROM payloads"), number(t, db, "SELECT count(*) FROM payload_texts"),
		number(t, db, "SELECT coalesce(sum(uses), 0) FROM payloads"),
	}
}

// fetchWork fetches an activity.
func fetchWork(t *testing.T, s *Store) *provider.FetchedWorkItem {
	t.Helper()
	work, err := s.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: time.Hour, Tags: provider.AnyTag()})
	if err != nil || work == nil {
		t.Fatalf("fetched %v, %v", work, err)
	}
	return work
}

// A long payload is stored once, whatever messages, activities, events and outputs have it, reads
// as it was, and goes with the last of them.
func TestPayloadsAreStoredOnce(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/store.db"
	s := openFile(t, path, Options{})
	input, result := strings.Repeat("in \"1\"\n", 1000), strings.Repeat("\u20acout", 2000)
	must(t, s.EnqueueForOrchestrator(t.Context(), provider.StartOrchestrationItem{Instance: "i", Orchestration: "Order", Input: input}, 0))
	turn := fetch(t, s)
	if got := turn.Item.Messages[0].(provider.StartOrchestrationItem).Input; got != input {
		t.Errorf("the start has an input of %d bytes", len(got))
	}
	first := []provider.Event{
		event("i", 1, provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: input}),
		event("i", 2, provider.ActivityScheduled{Name: "Charge", Input: input}),
	}
	must(t, s.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{
		LockToken: turn.LockToken, ExecutionID: 1, HistoryDelta: first,
		WorkerItems: []provider.WorkItem{provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2, Name: "Charge", Input: input}},
		Metadata:    provider.ExecutionMetadata{OrchestrationName: new("Order"), OrchestrationVersion: new("1.0.0")},
	}))
	work := fetchWork(t, s)
	if got := work.Item.(provider.ActivityExecuteItem).Input; got != input {
		t.Errorf("the activity has an input of %d bytes", len(got))
	}
	must(t, s.AckWorkItem(t.Context(), work.LockToken, provider.ActivityCompletedItem{Instance: "i", ExecutionID: 1, ID: 2, Result: result}))
	turn = fetch(t, s)
	second := []provider.Event{
		event("i", 3, provider.ActivityCompleted{Result: result}), event("i", 4, provider.OrchestrationCompleted{Output: result}),
	}
	must(t, s.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{
		LockToken: turn.LockToken, ExecutionID: 1, HistoryDelta: second,
		Metadata: provider.ExecutionMetadata{Status: new(provider.StatusCompleted), Output: &result},
	}))
	if got, want := payloads(t, path), [3]int64{2, 2, 5}; got != want {
		t.Errorf("payloads, texts and uses are %v, want %v", got, want)
	}
	expectStored(t, s, append(first, second...), result)
	_, err := s.DeleteInstance(t.Context(), "i", true)
	must(t, err)
	if got := payloads(t, path); got != [3]int64{} {
		t.Errorf("payloads, texts and uses are %v after the deletion", got)
	}
}

// expectStored expects the history of instance i, its size, and its output.
func expectStored(t *testing.T, s *Store, want []provider.Event, output string) {
	t.Helper()
	history, err := s.Read(t.Context(), "i")
	must(t, err)
	size := 0
	for i, e := range want {
		if i >= len(history) || !reflect.DeepEqual(history[i].Kind, e.Kind) {
			t.Fatalf("event %d is not what was stored", i+1)
		}
		data, err := provider.EncodeEvent(e)
		must(t, err)
		size += len(data)
	}
	stats, err := s.GetInstanceStats(t.Context(), "i")
	must(t, err)
	if stats.HistorySizeBytes != uint64(size) {
		t.Errorf("the history has %d bytes, want %d", stats.HistorySizeBytes, size)
	}
	info, err := s.GetInstanceInfo(t.Context(), "i")
	must(t, err)
	execution, err := s.GetExecutionInfo(t.Context(), "i", 1)
	must(t, err)
	if *info.Output != output || *execution.Output != output {
		t.Errorf("the outputs have %d and %d bytes", len(*info.Output), len(*execution.Output))
	}
}

// A message that is set aside keeps its payload, which can be seen and sent again.
func TestDeadLettersKeepTheirPayload(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/store.db"
	s := openFile(t, path, Options{})
	create(t, s, "i", 0)
	data := strings.Repeat("<data>", 1000)
	must(t, s.EnqueueForOrchestrator(t.Context(), provider.ExternalRaisedItem{Instance: "i", Name: "paid", Data: data}, 0))
	db := raw(t, path)
	run(t, db, `UPDATE orchestrator_queue SET work_item = replace(work_item, 'ExternalRaised', 'Unheard')`)
	if turn, err := s.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Hour}); turn != nil || err != nil {
		t.Fatalf("fetched %v, %v", turn, err)
	}
	letters, err := s.ListDeadLetters(t.Context(), provider.DeadLetterQuery{})
	if err != nil || len(letters) != 1 {
		t.Fatalf("%v, %v", letters, err)
	}
	letter, err := s.GetDeadLetter(t.Context(), letters[0].ID)
	must(t, err)
	repaired := strings.Replace(letter.WorkItem, "Unheard", "ExternalRaised", 1)
	item, err := provider.DecodeWorkItem([]byte(repaired))
	if raised, _ := item.(provider.ExternalRaisedItem); raised.Data != data {
		t.Errorf("the letter shows an item with data of %d bytes, %v", len(raised.Data), err)
	}
	run(t, db, `UPDATE dead_letters SET work_item = replace(work_item, 'Unheard', 'ExternalRaised')`)
	sent, err := s.RequeueDeadLetter(t.Context(), letter.ID)
	if !sent || err != nil {
		t.Fatalf("sent again: %v, %v", sent, err)
	}
	if got := fetch(t, s).Item.Messages[0].(provider.ExternalRaisedItem).Data; got != data {
		t.Errorf("the message has data of %d bytes", len(got))
	}
	if got, want := payloads(t, path), [3]int64{1, 1, 1}; got != want {
		t.Errorf("payloads, texts and uses are %v, want %v", got, want)
	}
}
