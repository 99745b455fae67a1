package provider

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// A long text is left out of the JSON, is put back where it was, and is told from a text that looks like the mark.
func TestTextsApart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a \"long\" text\n\x1a", 10)
	for name, test := range map[string]struct {
		kind  EventKind
		apart bool
	}{
		"one":                 {OrchestrationStarted{Name: "A", Version: "1", Input: long}, true},
		"the first of two":    {OrchestrationStarted{Name: "A", Version: "1", Input: long, InitialCustomStatus: new(long + "2")}, true},
		"a mark after it":     {OrchestrationStarted{Name: "A", Version: "1", Input: long, InitialCustomStatus: new(apartMark)}, true},
		"a mark before it":    {OrchestrationStarted{Name: apartMark, Version: "1", Input: long}, false},
		"short":               {ActivityCompleted{Result: "short"}, false},
		"a mark":              {ActivityCompleted{Result: apartMark}, false},
		"carried":             {OrchestrationStarted{Name: "A", Version: "1", CarryForwardEvents: []CarriedMessage{{"q", long}}}, true},
		"within an error":     {ActivityFailed{Details: ApplicationFailure{Kind: AppOrchestrationFailed, Message: long}}, true},
		"nothing that is any": {ActivityCompleted{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := Event{EventID: 1, InstanceID: "i", ExecutionID: 1, Kind: test.kind}
			whole, err := EncodeEvent(want)
			if err != nil {
				t.Fatal(err)
			}
			data, apart, err := EncodeEventApart(want, 100)
			if err != nil || (apart != nil) != test.apart {
				t.Fatalf("%q, %v, %v", data, apart, err)
			}
			if apart != nil && len(data)+ApartBytes(*apart) != len(whole) {
				t.Errorf("the JSON has %d bytes without %d, want %d", len(data), ApartBytes(*apart), len(whole))
			}
			got, err := DecodeEventApart(data, apart)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("read %+v, %v", got, err)
			}
		})
	}
}

// The items of a queue are as events, and a text without a place is an error.
func TestItemsApart(t *testing.T) {
	t.Parallel()
	want := ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2, Name: "A", Input: strings.Repeat("\xff", 100)}
	data, apart, err := EncodeWorkItemApart(want, 100)
	if err != nil || apart == nil {
		t.Fatalf("%q, %v", data, err)
	}
	want.Input = strings.Repeat("\ufffd", 100)
	if got, err := DecodeWorkItemApart(data, apart); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v", got, err)
	}
	if got, err := DecodeWorkItem(data); err != nil || got.(ActivityExecuteItem).Name != "A" {
		t.Errorf("without the text read %+v, %v", got, err)
	}
	short, none, err := EncodeWorkItemApart(ActivityExecuteItem{Instance: "i", Name: "A"}, 100)
	if err != nil || none != nil {
		t.Fatal(none, err)
	}
	if _, err := DecodeWorkItemApart(short, apart); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a text without a place: %v", err)
	}
}
