package provider_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

func FuzzDecodeEvent(f *testing.F) {
	for _, text := range readGolden(f, "events.golden") {
		f.Add([]byte(text))
	}
	for _, text := range []string{scheduled, keySet, started, completed, failed, cancelled, poisoned, misfit} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzDecode(t, data, provider.EncodeEvent, provider.DecodeEvent)
	})
}

func FuzzDecodeWorkItem(f *testing.F) {
	for _, text := range readGolden(f, "workitems.golden") {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzDecode(t, data, provider.EncodeWorkItem, provider.DecodeWorkItem)
	})
}

// fuzzDecode checks that whatever is accepted is JSON, means what encoding/json
// reads there, and has one written form from which it is read back unchanged.
func fuzzDecode[T any](t *testing.T, data []byte, encode func(T) ([]byte, error), decode func([]byte) (T, error)) {
	t.Helper()
	value, err := decode(data)
	if err != nil {
		if !errors.Is(err, provider.ErrCorrupt) {
			t.Fatalf("error is %v, want ErrCorrupt", err)
		}
		return
	}
	if !json.Valid(data) {
		t.Fatal("text was accepted that is not JSON")
	}
	text, err := encode(value)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	if key := strayKey(parse(t, data), parse(t, text)); key != "" {
		t.Fatalf("%s changed: %s", key, text)
	}
	again, err := decode(text)
	if err != nil {
		t.Fatalf("decode again: %v\n%s", err, text)
	}
	if diff := cmp.Diff(value, again); diff != "" {
		t.Fatalf("decoded again (-first +second):\n%s", diff)
	}
	if same, err := encode(again); err != nil || !bytes.Equal(text, same) {
		t.Fatalf("encoded again: %v\n%s\n%s", err, text, same)
	}
}

// strayKey returns a key of the written document that the document it was read
// from does not have, or has with another value.
func strayKey(read, written any) string {
	object, ok := written.(map[string]any)
	if !ok {
		if !cmp.Equal(read, written) {
			return "value"
		}
		return ""
	}
	source, _ := read.(map[string]any)
	for key, member := range object {
		if key == "last_updated_at_ms" && source[key] == nil {
			continue // the one default that is not written as nothing
		}
		if stray := strayKey(source[key], member); stray != "" {
			return key + "." + stray
		}
	}
	return ""
}
