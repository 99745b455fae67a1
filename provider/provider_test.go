package provider_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

func TestStatusTerminal(t *testing.T) {
	t.Parallel()
	for status, want := range map[provider.Status]bool{
		provider.StatusRunning: false, provider.StatusCompleted: true, provider.StatusFailed: true,
		provider.StatusContinuedAsNew: true, provider.StatusUnknown: false, "": false,
	} {
		if got := status.Terminal(); got != want {
			t.Errorf("%q: terminal is %t, want %t", status, got, want)
		}
	}
}

func TestEventTerminal(t *testing.T) {
	t.Parallel()
	terminal := map[string]bool{
		"OrchestrationCompleted": true, "OrchestrationFailed": true, "OrchestrationContinuedAsNew": true,
	}
	for _, event := range goldenEvents() {
		if got, want := event.Terminal(), terminal[event.Kind.Type()]; got != want {
			t.Errorf("%s: terminal is %t, want %t", event.Kind.Type(), got, want)
		}
	}
	if (provider.Event{}).Terminal() {
		t.Error("an event without a kind is terminal")
	}
}

// TestWorkItemTarget is the column "Routes to instance" of §3.5.
func TestWorkItemTarget(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"StartOrchestration (child)": "root::sub::2", // the child, not its parent
		"SubOrchCompleted":           "root",
		"SubOrchFailed":              "root",

		"StartOrchestration (child, 0.1.32)":               "root::sub::2_2",
		"ContinueAsNew (child, 0.1.32)":                    "root::sub::4",
		"ContinueAsNew (child of an older parent, 0.1.32)": "root::sub::4",
	}
	for name, item := range goldenWorkItems() {
		instance := want[name]
		if instance == "" {
			instance = "order-42"
		}
		if got := item.Target(); got != instance {
			t.Errorf("%s goes to %q, want %q", name, got, instance)
		}
	}
}

func TestInstanceTree(t *testing.T) {
	t.Parallel()
	for size, tree := range map[int]provider.InstanceTree{
		1: {RootID: "r", AllIDs: []string{"r"}},
		3: {RootID: "r", AllIDs: []string{"r", "r::sub::1", "r::sub::2"}},
	} {
		if tree.Size() != size || tree.IsRootOnly() != (size == 1) {
			t.Errorf("tree of %d: size %d, root only %t", size, tree.Size(), tree.IsRootOnly())
		}
	}
}
