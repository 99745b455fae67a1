package provider_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/provider"
)

func TestEventRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		event := arbitrary[provider.Event]().Draw(t, "event")
		checkRoundTrip(t, event, provider.EncodeEvent, provider.DecodeEvent)
	})
}

func TestWorkItemRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		item := arbitrary[provider.WorkItem]().Draw(t, "item")
		checkRoundTrip(t, item, provider.EncodeWorkItem, provider.DecodeWorkItem)
	})
}

func checkRoundTrip[T any](t *rapid.T, value T, encode func(T) ([]byte, error), decode func([]byte) (T, error)) {
	text, err := encode(value)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	if !json.Valid(text) {
		t.Fatalf("encoding/json does not accept %s", text)
	}
	got, err := decode(text)
	if err != nil {
		t.Fatalf("decode: %v\n%s", err, text)
	}
	if diff := cmp.Diff(value, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	again, err := encode(got)
	if err != nil || !bytes.Equal(text, again) {
		t.Fatalf("encoded again: %v\n%s\n%s", err, text, again)
	}

	// The same document as another writer may have stored it.
	rewritten := rewrite(t, text)
	got, err = decode([]byte(rewritten))
	if err != nil {
		t.Fatalf("decode rewritten text: %v\n%s", err, rewritten)
	}
	if diff := cmp.Diff(value, got); diff != "" {
		t.Fatalf("rewritten text %s (-want +got):\n%s", rewritten, diff)
	}
}

// TestEventMeansTheSame compares the text with a model made by reflection, which
// knows the wire format only as "field names in snake case".
func TestEventMeansTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		event := arbitrary[provider.Event]().Draw(t, "event")
		text, err := provider.EncodeEvent(event)
		if err != nil {
			t.Fatal(err)
		}
		want := model(reflect.ValueOf(event)).(map[string]any)
		delete(want, "kind")
		want["type"] = event.Kind.Type()
		maps.Copy(want, model(reflect.ValueOf(event.Kind)).(map[string]any))
		if diff := cmp.Diff(any(want), parse(t, text)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", text, diff)
		}
	})
}

func TestWorkItemMeansTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		item := arbitrary[provider.WorkItem]().Draw(t, "item")
		text, err := provider.EncodeWorkItem(item)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]any{item.Variant(): model(reflect.ValueOf(item))}
		if diff := cmp.Diff(any(want), parse(t, text)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", text, diff)
		}
	})
}

// TestEncodeTextLikeEncodingJSON feeds arbitrary bytes: both encoders must mean
// the same string, with every invalid byte replaced.
func TestEncodeTextLikeEncodingJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		result := string(rapid.SliceOf(rapid.Byte()).Draw(t, "result"))
		theirs, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := provider.EncodeWorkItem(provider.ActivityCompletedItem{Result: result})
		if err != nil {
			t.Fatal(err)
		}
		var want string
		var got map[string]map[string]any
		if err := errors.Join(json.Unmarshal(theirs, &want), json.Unmarshal(ours, &got)); err != nil {
			t.Fatalf("%v: %q", err, ours)
		}
		if diff := cmp.Diff(any(want), got["ActivityCompleted"]["result"]); diff != "" {
			t.Fatalf("%q (-encoding/json +ours):\n%s", result, diff)
		}
	})
}

// closedSets are the interfaces of the package with the types that implement
// them, taken from the golden values in a fixed order.
func closedSets() map[reflect.Type][]reflect.Type {
	sets := map[reflect.Type][]reflect.Type{}
	add := func(set reflect.Type, member any) {
		if typ := reflect.TypeOf(member); !slices.Contains(sets[set], typ) {
			sets[set] = append(sets[set], typ)
		}
	}
	for _, event := range goldenEvents() {
		add(reflect.TypeFor[provider.EventKind](), event.Kind)
	}
	for _, item := range goldenWorkItems() {
		add(reflect.TypeFor[provider.WorkItem](), item)
	}
	for _, details := range goldenErrorDetails() {
		add(reflect.TypeFor[provider.ErrorDetails](), details)
		if poison, ok := details.(provider.PoisonFailure); ok {
			add(reflect.TypeFor[provider.PoisonMessageType](), poison.MessageType)
		}
	}
	for _, set := range sets {
		slices.SortFunc(set, func(a, b reflect.Type) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return sets
}

// arbitrary generates values of T that an encoder accepts and that have only one
// way to be written in Go.
func arbitrary[T any]() *rapid.Generator[T] {
	g := generator{sets: closedSets(), text: anyText()}
	return rapid.Custom(func(t *rapid.T) T {
		var value T
		g.fill(t, reflect.ValueOf(&value).Elem())
		return value
	})
}

type generator struct {
	sets map[reflect.Type][]reflect.Type
	text *rapid.Generator[string]
}

func (g generator) fill(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		member := reflect.New(rapid.SampledFrom(g.sets[v.Type()]).Draw(t, "type")).Elem()
		g.fill(t, member)
		v.Set(member)
	case reflect.Struct:
		for _, field := range v.Fields() {
			g.fill(t, field)
		}
		settle(t, v.Addr().Interface())
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "present") {
			v.Set(reflect.New(v.Type().Elem()))
			g.fill(t, v.Elem())
		}
	case reflect.Slice: // none stays nil: an empty list is written like none
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			element := reflect.New(v.Type().Elem()).Elem()
			g.fill(t, element)
			v.Set(reflect.Append(v, element))
		}
	case reflect.String:
		v.SetString(g.text.Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case reflect.Uint32, reflect.Uint64:
		limit := uint64(1)<<v.Type().Bits() - 1
		edges := rapid.SampledFrom([]uint64{0, 1, 9, 10, limit / 2, limit/2 + 1, limit - 1, limit})
		v.SetUint(rapid.OneOf(edges, rapid.Uint64Range(0, limit)).Draw(t, "number"))
	default:
		t.Fatalf("no values for %s", v.Type())
	}
}

// settle gives names out of a fixed set one of their values.
func settle(t *rapid.T, value any) {
	switch d := value.(type) {
	case *provider.ConfigurationFailure:
		d.Kind = provider.Nondeterminism
	case *provider.ApplicationFailure:
		d.Kind = rapid.SampledFrom([]provider.AppErrorKind{
			provider.AppActivityFailed, provider.AppOrchestrationFailed, provider.AppPanicked, provider.AppCancelled,
		}).Draw(t, "kind")
		if d.Kind != provider.AppCancelled {
			d.CancelReason = ""
		}
	}
}

// anyText favours text that JSON has to escape or must not.
func anyText() *rapid.Generator[string] {
	special := []rune("\x00\x01\b\t\n\v\f\r\x1f \"\\/<>&\x7f\u0080é€\u2028\u2029\ufeff\ufffd\uffff😀\U0010ffff")
	return rapid.OneOf(
		rapid.String(),
		rapid.StringOf(rapid.RuneFrom(special)),
		rapid.StringOf(rapid.RuneFrom([]rune(`abcdefgh"\`))),
		rapid.Map(rapid.IntRange(0, 1200), func(n int) string { return strings.Repeat("long ", n) }),
	)
}

// parse reads JSON with encoding/json. What is absent is left out: nulls and
// empty lists.
func parse(t rapid.TB, text []byte) any {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return present(value)
}

func present(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	for key, member := range object {
		if list, ok := member.([]any); member == nil || ok && len(list) == 0 {
			delete(object, key)
			continue
		}
		object[key] = present(member)
	}
	return object
}

// model is a value as encoding/json would read it back, absent things left out.
func model(v reflect.Value) any {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch value := v.Interface().(type) {
	case provider.CarriedMessage:
		return []any{value.Name, value.Data}
	case provider.ErrorDetails:
		return map[string]any{strings.TrimSuffix(v.Type().Name(), "Failure"): members(v)}
	case provider.PoisonMessageType:
		name := strings.TrimPrefix(v.Type().Name(), "Poison")
		if name == "Deserialization" {
			name = "FailedDeserialization"
		}
		return map[string]any{name: members(v)}
	}
	switch v.Kind() {
	case reflect.Struct:
		return members(v)
	case reflect.Slice:
		var list []any
		for i := range v.Len() {
			list = append(list, model(v.Index(i)))
		}
		return list
	case reflect.Uint32, reflect.Uint64:
		return json.Number(strconv.FormatUint(v.Uint(), 10))
	case reflect.String:
		return v.String()
	default:
		return v.Interface()
	}
}

// unlessZero are the fields that are left out when they are zero.
var unlessZero = map[string]bool{"DroppedMessages": true, "Headers": true, "CleansUp": true, "FailureKind": true, "FailureDetails": true, "Final": true, "Heartbeat": true, "StartTimeoutMs": true, "RunTimeoutMs": true}

func members(v reflect.Value) map[string]any {
	object := map[string]any{}
	for field, v := range v.Fields() {
		if v.Kind() == reflect.Pointer && v.IsNil() || v.Kind() == reflect.Slice && v.Len() == 0 ||
			unlessZero[field.Name] && v.IsZero() {
			continue
		}
		object[snakeCase(field.Name)] = model(v)
	}
	if reason, ok := object["cancel_reason"]; ok {
		delete(object, "cancel_reason")
		if object["kind"] == string(provider.AppCancelled) {
			object["kind"] = map[string]any{"Cancelled": map[string]any{"reason": reason}}
		}
	}
	return object
}

// snakeCase turns SourceEventID into source_event_id.
func snakeCase(name string) string {
	name = strings.ReplaceAll(name, "ID", "Id")
	var b strings.Builder
	for i, c := range name {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// rewrite returns the same document with keys in another order, more white
// space, unknown members, and text escaped in encoding/json's way.
func rewrite(t *rapid.T, text []byte) string {
	var b strings.Builder
	space := rapid.SampledFrom([]string{"", "", " ", "\n\t", "\r "})
	var write func(value any, extra bool)
	write = func(value any, extra bool) {
		b.WriteString(space.Draw(t, "space"))
		defer func() { b.WriteString(space.Draw(t, "space")) }()
		object, ok := value.(map[string]any)
		if !ok {
			data, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(data)
			return
		}
		keys := slices.Sorted(maps.Keys(object))
		if extra {
			object["new"] = json.RawMessage(`{"event_id":[1.5,null,{"instance":"\u00e9"}],"a":true,"a":-0}`)
			keys = append(keys, "new", "new")
		}
		b.WriteByte('{')
		for i, key := range rapid.Permutation(keys).Draw(t, "order") {
			if i > 0 {
				b.WriteByte(',')
			}
			write(key, false)
			b.WriteByte(':')
			write(object[key], !isVariant(object[key]))
		}
		b.WriteByte('}')
	}
	document := parse(t, text)
	write(document, !isVariant(document))
	return b.String()
}

// isVariant reports whether a value is {"Name":{…}}, which takes no second key.
func isVariant(value any) bool {
	object, ok := value.(map[string]any)
	if !ok || len(object) != 1 {
		return false
	}
	for name := range object {
		return unicode.IsUpper(rune(name[0]))
	}
	return false
}
