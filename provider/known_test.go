package provider_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// What a set knows: its names in their versions, each also without one, and nothing else.
func TestKnownCode(t *testing.T) {
	t.Parallel()
	known := provider.Know(provider.CodeName{Name: "order", Version: "2.0.0"}, provider.CodeName{Name: "charge"})
	for name, want := range map[provider.CodeName]bool{
		{Name: "order", Version: "2.0.0"}: true,
		{Name: "order"}:                   true,
		{Name: "charge"}:                  true,
		{Name: "order", Version: "1.0.0"}: false,
		{Name: "ord", Version: "2.0.0"}:   false,
		{Name: "Charge"}:                  false,
	} {
		if got := known.Knows(name); got != want {
			t.Errorf("Knows(%v) = %v, want %v", name, got, want)
		}
	}
	var all *provider.KnownCode
	if !all.Knows(provider.CodeName{Name: "anything"}) {
		t.Error("nil should know everything")
	}
	if provider.Know().Knows(provider.CodeName{Name: "order"}) {
		t.Error("an empty set should know nothing")
	}
}

// Digests are those of the set: order and repetition do not matter, every byte does.
func TestKnownCodeDigest(t *testing.T) {
	t.Parallel()
	a, b := provider.CodeName{Name: "a", Version: "1.0.0"}, provider.CodeName{Name: "b"}
	if provider.Know(a, b).Digest() != provider.Know(b, a, a).Digest() {
		t.Error("equal sets should have one digest")
	}
	for _, other := range []*provider.KnownCode{
		provider.Know(), provider.Know(a), provider.Know(b),
		provider.Know(provider.CodeName{Name: "a1", Version: ".0.0"}, b),
	} {
		if other.Digest() == provider.Know(a, b).Digest() {
			t.Errorf("%v has the digest of another set", other.Names())
		}
	}
}
