package columns

import (
	"errors"
	"reflect"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// broken are texts that are no valid UTF-8, in one byte, in a run of bytes, in a
// character cut short, and as a surrogate.
var broken = []string{"a\xffb", "\xff\xfe\xfd", "caf\xc3", "\xe2\x82", "\xed\xa0\x80", "\xf0\x9f\x98", "ok"}

// A column has the text that the event of the same turn has.
func TestTextIsThatOfTheEvent(t *testing.T) {
	t.Parallel()
	for _, text := range broken {
		data, err := provider.EncodeEvent(provider.Event{EventID: 1, Kind: provider.ExternalEvent{Data: text}})
		if err != nil {
			t.Fatal(err)
		}
		event, err := provider.DecodeEvent(data)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := Text(text), event.Kind.(provider.ExternalEvent).Data; got != want {
			t.Errorf("Text(%q) = %q; the event has %q", text, got, want)
		}
	}
}

func TestTurnResultHasValidTexts(t *testing.T) {
	t.Parallel()
	const bad, good = "a\xff\xffb", "a\ufffd\ufffdb"
	kinds := []provider.EventKind{
		provider.CustomStatusUpdated{Status: new(bad)},
		provider.KeyValueSet{Key: bad, Value: bad},
		provider.KeyValueCleared{Key: bad},
		provider.KeyValuesCleared{},
	}
	params := provider.AckOrchestrationParams{ExecutionID: 1, Metadata: provider.ExecutionMetadata{
		OrchestrationName: new(bad), OrchestrationVersion: new(bad), Output: new(bad),
	}}
	for i, kind := range kinds {
		params.HistoryDelta = append(params.HistoryDelta, provider.Event{EventID: uint64(i + 1), Kind: kind})
	}
	r, err := NewTurnResult("op", params, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]*string{
		"name": r.Metadata.OrchestrationName, "version": r.Metadata.OrchestrationVersion,
		"output": r.Metadata.Output, "custom status": r.CustomStatus.Status,
	} {
		if *got != good {
			t.Errorf("%s is %q, want %q", name, *got, good)
		}
	}
	want := []provider.EventKind{
		provider.KeyValueSet{Key: good, Value: good}, provider.KeyValueCleared{Key: good}, provider.KeyValuesCleared{},
	}
	if !reflect.DeepEqual(r.Values, want) {
		t.Errorf("values %+v, want %+v", r.Values, want)
	}
	if *params.Metadata.Output != bad || params.HistoryDelta[1].Kind != kinds[1] {
		t.Error("the caller's own texts were changed")
	}
}

// What can name nothing is left out of lists; what can stays as it is.
func TestListsOfNames(t *testing.T) {
	t.Parallel()
	names := []string{"a", "", "b\xff", "b\x00", "b\ufffd", " "}
	if got, want := IDs(names), []string{"a", "b\ufffd", " "}; !reflect.DeepEqual(got, want) {
		t.Errorf("IDs: %q, want %q", got, want)
	}
	filter, err := provider.Tags("a", "", "b\xff", "b\x00", "b\ufffd")
	if err != nil {
		t.Fatal(err)
	}
	// An activity may be tagged with the empty text.
	if got, want := Tags(filter), []string{"", "a", "b\ufffd"}; !reflect.DeepEqual(got, want) {
		t.Errorf("Tags: %q, want %q", got, want)
	}
	r, err := NewTurnResult("op", provider.AckOrchestrationParams{ExecutionID: 1, CancelledActivities: []provider.ActivityRef{
		{Instance: "b\xff", ExecutionID: 1, ActivityID: 2}, {Instance: "b\ufffd", ExecutionID: 1, ActivityID: 3},
	}}, 0)
	if err != nil || len(r.Cancelled) != 1 || r.Cancelled[0].ActivityID != 3 {
		t.Errorf("cancelled %+v, %v; want activity 3", r.Cancelled, err)
	}
}

// The texts begin with the phrases that §2.3 fixes, for turns and for activities.
func TestRefusalsOfTokens(t *testing.T) {
	t.Parallel()
	for operation, want := range map[string][2]string{
		"ack_orchestration_item":        {"Invalid lock token: the turn", "Instance lock expired"},
		"renew_orchestration_item_lock": {"Invalid lock token: the turn", "Instance lock expired"},
		"ack_work_item":                 {"Invalid lock token: the activity", "Activity lock expired"},
		"renew_work_item_lock":          {"Invalid lock token: the activity", "Activity lock expired"},
		"abandon_work_item":             {"Invalid lock token or already acked: the activity", "Activity lock expired"},
	} {
		for i, err := range []error{InvalidToken(operation), LockExpired(operation)} {
			prefix := operation + ": " + want[i]
			if text := err.Error(); len(text) < len(prefix) || text[:len(prefix)] != prefix {
				t.Errorf("text %q, want one that begins with %q", text, prefix)
			}
			if !errors.Is(err, provider.ErrLockLost) || provider.IsRetryable(err) {
				t.Errorf("error %v, want a permanent %v", err, provider.ErrLockLost)
			}
		}
	}
}
