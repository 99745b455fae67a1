package provider_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

// resultText returns the JSON string that a result is written as.
func resultText(tb testing.TB, result string) string {
	tb.Helper()
	data, err := provider.EncodeWorkItem(provider.ActivityCompletedItem{Result: result})
	if err != nil {
		tb.Fatal(err)
	}
	const before, after = `{"ActivityCompleted":{"instance":"","execution_id":0,"id":0,"result":`, `}}`
	return strings.TrimSuffix(strings.TrimPrefix(string(data), before), after)
}

// TestEncodeEscapes puts every character that could need care at every offset of
// the eight bytes that the encoder looks at together.
func TestEncodeEscapes(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		`"`: `\"`, `\`: `\\`, "\b": `\b`, "\f": `\f`, "\n": `\n`, "\r": `\r`, "\t": `\t`,
		"\x7f": "\x7f", "\u2028": "\u2028", "\u2029": "\u2029", "<": "<", ">": ">", "&": "&", "/": "/", "'": "'",
		" ": " ", "!": "!", "#": "#", "[": "[", "]": "]", "é": "é", "€": "€", "😀": "😀", "\u0080": "\u0080", "\uffff": "\uffff",
	}
	for c := range 0x20 {
		if s := string(rune(c)); want[s] == "" {
			want[s] = fmt.Sprintf(`\u%04x`, c)
		}
	}
	for s, escaped := range want {
		for before := range 17 {
			for _, after := range []int{0, 1, 9} {
				a, b := strings.Repeat("a", before), strings.Repeat("b", after)
				text := resultText(t, a+s+b+s)
				if text != `"`+a+escaped+b+escaped+`"` {
					t.Fatalf("%q is written as %s, want %s", a+s+b+s, text, escaped)
				}
			}
		}
	}
}

func TestEncodeReplacesInvalidUTF8(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]string{
		"\xff":             `"�"`,
		"a\xc3b":           `"a�b"`,
		"\xe2\x82":         `"��"`,
		"\xed\xa0\x80":     `"���"`,
		"é\x80\"\n":        `"é�\"\n"`,
		"\xf0\x9f\x98\x80": `"😀"`,
		"�":                `"�"`,
	} {
		if got := resultText(t, result); got != want {
			t.Errorf("%q is written as %s, want %s", result, got, want)
		}
	}

	// Names of queues and the envelope are no exception.
	data, err := provider.EncodeEvent(provider.Event{
		InstanceID: "\xff", DuroxideVersion: "\xff",
		Kind: provider.OrchestrationStarted{CarryForwardEvents: []provider.CarriedMessage{{Name: "\xff", Data: "\xff"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), "�"); n != 4 {
		t.Errorf("%d replacement characters in %s, want 4", n, data)
	}
	if _, err := provider.DecodeEvent(data); err != nil {
		t.Error(err)
	}
}

// TestEncodeEmptyLists shows that nil and an empty list are the same.
func TestEncodeEmptyLists(t *testing.T) {
	t.Parallel()
	for _, list := range [][]provider.CarriedMessage{nil, {}} {
		data, err := provider.EncodeEvent(provider.Event{Kind: provider.OrchestrationStarted{CarryForwardEvents: list}})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "carry_forward_events") {
			t.Errorf("an empty optional list is written: %s", data)
		}
		data, err = provider.EncodeWorkItem(provider.ContinueAsNewItem{CarryForwardEvents: list})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), `"carry_forward_events":[]}}`) {
			t.Errorf("an empty list is not written as []: %s", data)
		}
	}
}

func TestEncodeCancelReasonOnlyForCancellations(t *testing.T) {
	t.Parallel()
	data, err := provider.EncodeEvent(provider.Event{Kind: provider.ActivityFailed{
		Details: provider.ApplicationFailure{Kind: provider.AppPanicked, CancelReason: "lost", Message: "m"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), `{"kind":"Panicked","message":"m","retryable":false}`) {
		t.Errorf("got %s", data)
	}
}

func TestEventMarshalJSON(t *testing.T) {
	t.Parallel()
	event := kindOf(provider.ActivityCompleted{Result: "x"})
	data, err := json.Marshal(map[string]any{"value": event, "pointer": &event})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"pointer":` + completed + `,"value":` + completed + `}`; string(data) != want {
		t.Errorf("got %s, want %s", data, want)
	}
	if _, err := json.Marshal(provider.Event{}); !errors.Is(err, provider.ErrInvalidArgument) {
		t.Errorf("error is %v, want ErrInvalidArgument", err)
	}
}

func TestEncodeEventRejects(t *testing.T) {
	t.Parallel()
	// foreign passes for a kind because it embeds one.
	type foreign struct{ provider.ActivityCompleted }
	failure := func(details provider.ErrorDetails) provider.EventKind {
		return provider.ActivityFailed{Details: details}
	}
	const byValue = " (the contract's types are held by value)"
	for name, test := range map[string]struct {
		kind provider.EventKind
		want string // the error without ": invalid argument"
	}{
		"no kind":          {nil, "no event kind"},
		"pointer":          {&provider.ActivityCompleted{}, "unknown event kind of type *provider.ActivityCompleted" + byValue},
		"nil pointer":      {(*provider.ActivityCompleted)(nil), "unknown event kind of type *provider.ActivityCompleted" + byValue},
		"foreign type":     {foreign{}, "unknown event kind of type provider_test.foreign" + byValue},
		"no details":       {failure(nil), "no error details"},
		"orchestration's":  {provider.OrchestrationFailed{}, "no error details"},
		"child's":          {provider.SubOrchestrationFailed{}, "no error details"},
		"details' pointer": {failure(&provider.InfrastructureFailure{}), "unknown error details of type *provider.InfrastructureFailure" + byValue},
		"details' nil":     {failure((*provider.PoisonFailure)(nil)), "unknown error details of type *provider.PoisonFailure" + byValue},
		"no error kind":    {failure(provider.ApplicationFailure{}), `unknown error kind ""`},
		"new error kind":   {failure(provider.ApplicationFailure{Kind: "Exploded"}), `unknown error kind "Exploded"`},
		"no config kind":   {failure(provider.ConfigurationFailure{}), `unknown configuration kind ""`},
		"config kind":      {failure(provider.ConfigurationFailure{Kind: "x"}), `unknown configuration kind "x"`},
		"no message type":  {failure(provider.PoisonFailure{}), "no message type"},
		"message pointer": {
			failure(provider.PoisonFailure{MessageType: &provider.PoisonActivity{}}),
			"unknown message type of type *provider.PoisonActivity" + byValue,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := provider.EncodeEvent(provider.Event{Kind: test.kind})
			if !errors.Is(err, provider.ErrInvalidArgument) {
				t.Fatalf("error is %v, want ErrInvalidArgument", err)
			}
			if diff := cmp.Diff(test.want+": invalid argument", err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if data != nil {
				t.Errorf("text beside the error: %s", data)
			}
		})
	}
}

func TestEncodeWorkItemRejects(t *testing.T) {
	t.Parallel()
	for name, item := range map[string]provider.WorkItem{
		"nothing":     nil,
		"pointer":     &provider.CancelInstanceItem{},
		"nil pointer": (*provider.CancelInstanceItem)(nil),
		"no details":  provider.ActivityFailedItem{},
		"child's":     provider.SubOrchFailedItem{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if data, err := provider.EncodeWorkItem(item); !errors.Is(err, provider.ErrInvalidArgument) || data != nil {
				t.Errorf("got %s, %v; want ErrInvalidArgument", data, err)
			}
		})
	}
}
