package sealed_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/internal/sealed"
	"github.com/duroxide/duroxide-go/provider"
)

// mark encodes a text by marking it, so that a test sees which texts were encoded.
type mark struct{}

func (mark) Name() string { return "mark" }
func (mark) Encode(_ context.Context, data []byte) ([]byte, error) {
	if string(data) == "refused" {
		return nil, errors.New("refused")
	}
	return slices.Clone(data), nil
}
func (mark) Decode(_ context.Context, encoded []byte) ([]byte, error) { return encoded, nil }

func marking(t *testing.T) *codec.Codec {
	t.Helper()
	c, err := codec.New(mark{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// kinds are all kinds of events and items, with the fields that are no payloads.
var kinds = []struct {
	value any
	plain []string
}{
	{provider.OrchestrationStarted{}, []string{"Name", "Version", "ParentInstance", "CarryForwardEvents.Name", "Headers"}},
	{provider.OrchestrationCompleted{}, nil},
	{provider.OrchestrationFailed{}, nil},
	{provider.OrchestrationContinuedAsNew{}, nil},
	{provider.OrchestrationCancelRequested{}, nil},
	{provider.ActivityScheduled{}, []string{"Name", "SessionID", "Tag"}},
	{provider.ActivityCompleted{}, nil},
	{provider.ActivityFailed{}, nil},
	{provider.ActivityCancelRequested{}, []string{"Reason"}}, // the runtime's
	{provider.TimerCreated{}, nil},
	{provider.TimerFired{}, nil},
	{provider.ExternalSubscribed{}, []string{"Name"}},
	{provider.ExternalEvent{}, []string{"Name"}},
	{provider.ExternalSubscribedCancelled{}, []string{"Reason"}}, // the runtime's
	{provider.QueueSubscribed{}, []string{"Name"}},
	{provider.QueueEventDelivered{}, []string{"Name"}},
	{provider.QueueSubscriptionCancelled{}, []string{"Reason"}}, // the runtime's
	{provider.OrchestrationChained{}, []string{"Name", "Instance"}},
	{provider.SubOrchestrationScheduled{}, []string{"Name", "Instance"}},
	{provider.SubOrchestrationCompleted{}, nil},
	{provider.SubOrchestrationFailed{}, nil},
	{provider.SubOrchestrationCancelRequested{}, []string{"Reason"}}, // the runtime's
	{provider.CustomStatusUpdated{}, nil},
	{provider.KeyValueSet{}, []string{"Key"}},
	{provider.KeyValueCleared{}, []string{"Key"}},
	{provider.KeyValuesCleared{}, nil},

	{provider.StartOrchestrationItem{}, []string{"Instance", "Orchestration", "Version", "ParentInstance", "Headers"}},
	{provider.ActivityExecuteItem{}, []string{"Instance", "Name", "SessionID", "Tag", "Headers"}},
	{provider.ActivityCompletedItem{}, []string{"Instance"}},
	{provider.ActivityFailedItem{}, []string{"Instance"}},
	{provider.TimerFiredItem{}, []string{"Instance"}},
	{provider.ExternalRaisedItem{}, []string{"Instance", "Name"}},
	{provider.QueueMessageItem{}, []string{"Instance", "Name"}},
	{provider.SubOrchCompletedItem{}, []string{"ParentInstance"}},
	{provider.SubOrchFailedItem{}, []string{"ParentInstance"}},
	{provider.CancelInstanceItem{}, []string{"Instance"}},
	{provider.ContinueAsNewItem{}, []string{"Instance", "Orchestration", "Version", "ParentInstance", "CarryForwardEvents.Name", "Headers"}},
}

// details are the kinds of a failure, with the fields that are no payloads.
var details = []struct {
	value provider.ErrorDetails
	plain []string
}{
	{provider.ApplicationFailure{Kind: provider.AppCancelled, CancelReason: "1", Message: "2", FailureKind: "FailureKind", FailureDetails: "4", Heartbeat: "5"}, []string{"FailureKind"}},
	{provider.ApplicationFailure{Kind: provider.AppActivityFailed, Message: ""}, nil},
	{provider.InfrastructureFailure{Operation: "Operation", Message: "Message"}, []string{"Operation", "Message"}},
	{provider.ConfigurationFailure{Kind: "Kind", Resource: "Resource", Message: new("Message")}, []string{"Kind", "Resource", "Message"}},
	{provider.PoisonFailure{Message: "1", MessageType: provider.PoisonOrchestration{Instance: "Instance"}}, []string{"Instance"}},
}

// fill sets every text below a value to the path of its fields, as often as needed, and
// failures to the given one.
func fill(v reflect.Value, path string, failure provider.ErrorDetails) {
	switch v.Kind() { //nolint:exhaustive // the others hold no text
	case reflect.String:
		v.SetString(path)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path, failure)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), path, failure)
	case reflect.Interface:
		v.Set(reflect.ValueOf(failure))
	case reflect.Struct:
		for field, value := range v.Fields() {
			fill(value, strings.TrimPrefix(path+"."+field.Name, "."), failure)
		}
	}
}

// plainTexts collects the texts below a value that are not encoded.
func plainTexts(v reflect.Value) (texts []string) {
	switch v.Kind() { //nolint:exhaustive // as above
	case reflect.String:
		if text := v.String(); !codec.Encoded(text) && v.Type() != reflect.TypeFor[provider.AppErrorKind]() {
			return []string{text}
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return plainTexts(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			texts = append(texts, plainTexts(v.Index(i))...)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			texts = append(texts, plainTexts(field)...)
		}
	}
	return texts
}

// filled is a value of that type with all its fields set.
func filled(value any, failure provider.ErrorDetails) any {
	v := reflect.New(reflect.TypeOf(value)).Elem()
	fill(v, "", failure)
	return v.Interface()
}

// Of each kind of event and item exactly the payloads are encoded, and decoding gives the
// value back.
func TestPayloads(t *testing.T) {
	t.Parallel()
	c := marking(t)
	for _, kind := range kinds {
		for _, failure := range details {
			value := filled(kind.value, failure.value)
			want := kind.plain
			if slices.Contains(fields(value), "Details") {
				want = slices.Concat(kind.plain, failure.plain)
			}
			encoded, decoded := roundTrip(t, c, value)
			got := slices.DeleteFunc(plainTexts(reflect.ValueOf(encoded)), func(text string) bool { return text == "" })
			if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
				t.Errorf("%T: plain texts (-want +got):\n%s", value, diff)
			}
			if diff := cmp.Diff(value, decoded); diff != "" {
				t.Errorf("%T came back changed (-want +got):\n%s", value, diff)
			}
		}
	}
}

func fields(value any) (names []string) {
	for field := range reflect.TypeOf(value).Fields() {
		names = append(names, field.Name)
	}
	return names
}

// roundTrip encodes and decodes an event's kind, or an item, and checks that the argument is
// as before.
func roundTrip(t *testing.T, c *codec.Codec, value any) (encoded, decoded any) {
	t.Helper()
	before := cmp.Diff(nil, value)
	defer func() {
		if cmp.Diff(nil, value) != before {
			t.Errorf("%T was changed in place", value)
		}
	}()
	if v, ok := value.(provider.EventKind); ok {
		turn, err := sealed.Turn(t.Context(), c, provider.AckOrchestrationParams{HistoryDelta: []provider.Event{{EventID: 1, Kind: v}}})
		if err != nil {
			t.Fatal(err)
		}
		events, err := sealed.OpenEvents(t.Context(), c, turn.HistoryDelta)
		if err != nil {
			t.Fatal(err)
		}
		return turn.HistoryDelta[0].Kind, events[0].Kind
	}
	v, ok := value.(provider.WorkItem)
	if !ok {
		t.Fatalf("%T is neither an event nor an item", value)
	}
	item, err := sealed.Item(t.Context(), c, v)
	if err != nil {
		t.Fatal(err)
	}
	open, err := sealed.OpenItem(t.Context(), c, item)
	if err != nil {
		t.Fatal(err)
	}
	return item, open
}

// The list has every kind of event and item that package provider declares.
func TestAllKinds(t *testing.T) {
	t.Parallel()
	var listed, declared []string
	for _, kind := range kinds {
		listed = append(listed, reflect.TypeOf(kind.value).Name())
	}
	for _, name := range []string{"eventkind.go", "workitemvariant.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), "../../provider/"+name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if ok && (f.Name.Name == "isEventKind" || f.Name.Name == "isWorkItem") {
				receiver, _ := f.Recv.List[0].Type.(*ast.Ident)
				declared = append(declared, receiver.Name)
			}
		}
	}
	slices.Sort(listed)
	slices.Sort(declared)
	if diff := cmp.Diff(declared, listed); diff != "" {
		t.Error(diff)
	}
}

// What a turn is fetched with is decoded, and what it commits is encoded, the result of the
// execution too.
func TestTurn(t *testing.T) {
	t.Parallel()
	c := marking(t)
	turn, err := sealed.Turn(t.Context(), c, provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{{Kind: provider.TimerCreated{}}, {Kind: provider.OrchestrationCompleted{Output: "done"}}},
		WorkerItems:  []provider.WorkItem{provider.ActivityExecuteItem{Name: "Echo", Input: "in"}},
		Metadata:     provider.ExecutionMetadata{Output: new("done")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := plainTexts(reflect.ValueOf(turn.Metadata.Output)); got != nil {
		t.Errorf("the result is stored as %q", got)
	}
	item := provider.OrchestrationItem{
		Instance: "i", History: turn.HistoryDelta, Messages: turn.WorkerItems,
		KVSnapshot: map[string]provider.KVEntry{"key": {Value: *turn.Metadata.Output, LastUpdatedAtMs: 3}},
	}
	open, err := sealed.OpenTurn(t.Context(), c, item)
	if err != nil {
		t.Fatal(err)
	}
	want := provider.OrchestrationItem{
		Instance: "i", Messages: []provider.WorkItem{provider.ActivityExecuteItem{Name: "Echo", Input: "in"}},
		History:    []provider.Event{{Kind: provider.TimerCreated{}}, {Kind: provider.OrchestrationCompleted{Output: "done"}}},
		KVSnapshot: map[string]provider.KVEntry{"key": {Value: "done", LastUpdatedAtMs: 3}},
	}
	if diff := cmp.Diff(want, open); diff != "" {
		t.Error(diff)
	}
	if _, err := sealed.OpenTurn(t.Context(), nil, item); !errors.Is(err, codec.ErrNotDecoded) {
		t.Errorf("without a codec: %v", err)
	}
	if _, err := sealed.Item(t.Context(), c, provider.QueueMessageItem{Data: "refused"}); !errors.Is(err, codec.ErrNotEncoded) {
		t.Errorf("an item that is refused: %v", err)
	}
}

// A text that occurs twice in a turn is encoded once.
func TestOncePerTurn(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	keys, err := codec.NewKeyring(codec.Key{ID: "a", Secret: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := codec.New(codec.Encrypt(keys))
	if err != nil {
		t.Fatal(err)
	}
	turn, err := sealed.Turn(t.Context(), c, provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{{Kind: provider.ActivityScheduled{Input: long}}},
		WorkerItems:  []provider.WorkItem{provider.ActivityExecuteItem{Input: long}},
	})
	if err != nil {
		t.Fatal(err)
	}
	event, _ := turn.HistoryDelta[0].Kind.(provider.ActivityScheduled)
	item, _ := turn.WorkerItems[0].(provider.ActivityExecuteItem)
	if event.Input != item.Input || !codec.Encoded(item.Input) {
		t.Error("the same input is encoded twice")
	}
}

// Without a codec, a turn is neither copied nor changed.
//
//nolint:paralleltest // AllocsPerRun counts the allocations of all goroutines
func TestNoCodecCostsNoMemory(t *testing.T) {
	item := provider.OrchestrationItem{
		History:    []provider.Event{{Kind: provider.ActivityCompleted{Result: "x"}}, {Kind: provider.KeyValueSet{Key: "a", Value: "b"}}},
		Messages:   []provider.WorkItem{provider.ActivityCompletedItem{Result: "x"}},
		KVSnapshot: map[string]provider.KVEntry{"a": {Value: "b"}},
	}
	few := testing.AllocsPerRun(100, func() {
		if _, err := sealed.OpenTurn(t.Context(), nil, item); err != nil {
			t.Error(err)
		}
	})
	for range 1000 {
		item.History = append(item.History, provider.Event{Kind: provider.ActivityCompleted{Result: "x"}})
	}
	many := testing.AllocsPerRun(100, func() {
		if _, err := sealed.OpenTurn(t.Context(), nil, item); err != nil {
			t.Error(err)
		}
	})
	if many > few || few > 5 {
		t.Errorf("%v allocations for 2 events, %v for 1,002", few, many)
	}
}

func BenchmarkNoCodec(b *testing.B) {
	item := provider.OrchestrationItem{}
	for range 1000 {
		item.History = append(item.History, provider.Event{Kind: provider.ActivityCompleted{Result: "result"}})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sealed.OpenTurn(b.Context(), nil, item); err != nil {
			b.Fatal(err)
		}
	}
}
