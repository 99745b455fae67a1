package provider_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// TestErrorDetails is the tables of §3.4.
func TestErrorDetails(t *testing.T) {
	t.Parallel()
	poison := func(message provider.PoisonMessageType) provider.PoisonFailure {
		return provider.PoisonFailure{AttemptCount: 11, MaxAttempts: 10, MessageType: message, Message: "m"}
	}
	application := func(kind provider.AppErrorKind) provider.ApplicationFailure {
		return provider.ApplicationFailure{Kind: kind, CancelReason: "user", Message: "card declined"}
	}
	for name, test := range map[string]struct {
		details   provider.ErrorDetails
		category  string
		retryable bool
		message   string
	}{
		"infrastructure, retryable": {
			provider.InfrastructureFailure{Operation: "ack", Message: "db down", Retryable: true},
			"infrastructure", true, "infrastructure:ack: db down",
		},
		"infrastructure, permanent": {
			provider.InfrastructureFailure{Operation: "ack", Message: "db down"},
			"infrastructure", false, "infrastructure:ack: db down",
		},
		"configuration with a message": {
			provider.ConfigurationFailure{Kind: provider.Nondeterminism, Message: new("m")},
			"configuration", false, "nondeterministic: m",
		},
		"configuration about code that no worker has": {
			provider.ConfigurationFailure{Kind: provider.Nondeterminism, Resource: "r", Message: new("m")},
			"configuration", false, "m",
		},
		"configuration with an empty message": {
			provider.ConfigurationFailure{Kind: provider.Nondeterminism, Message: new("")},
			"configuration", false, "nondeterministic: ",
		},
		"configuration without a message": {
			provider.ConfigurationFailure{Kind: provider.Nondeterminism, Resource: "r"},
			"configuration", false, "nondeterministic in r",
		},
		"cancelled":            {application(provider.AppCancelled), "application", false, "canceled: user"},
		"panicked":             {application(provider.AppPanicked), "application", false, "orchestration panicked: card declined"},
		"activity failed":      {application(provider.AppActivityFailed), "application", false, "card declined"},
		"orchestration failed": {application(provider.AppOrchestrationFailed), "application", false, "card declined"},
		"kind of a newer build": {
			provider.ApplicationFailure{Kind: "Exploded", Message: "m", Retryable: true}, "application", true, "m",
		},
		"poisoned orchestration": {
			poison(provider.PoisonOrchestration{Instance: "i", ExecutionID: 1}),
			"poison", false, "poison: orchestration i exceeded 11 attempts (max 10)",
		},
		"poisoned, with a line that says more": {
			provider.PoisonFailure{
				AttemptCount: 11, MaxAttempts: 10, Message: `orchestration "O"; last error: e` + "\n[{}]",
				MessageType: provider.PoisonOrchestration{Instance: "i", ExecutionID: 1},
			},
			"poison", false, `poison: orchestration i exceeded 11 attempts (max 10): orchestration "O"; last error: e`,
		},
		"poisoned, with JSON on several lines": {
			provider.PoisonFailure{
				AttemptCount: 11, MaxAttempts: 10, Message: "[\n{}\n]",
				MessageType: provider.PoisonOrchestration{Instance: "i", ExecutionID: 1},
			},
			"poison", false, "poison: orchestration i exceeded 11 attempts (max 10)",
		},
		"poisoned activity": {
			poison(provider.PoisonActivity{Instance: "i", ExecutionID: 1, ActivityName: "A", ActivityID: 2}),
			"poison", false, "poison: activity A#2 exceeded 11 attempts (max 10)",
		},
		"poisoned history": {
			poison(provider.PoisonDeserialization{Instance: "i", ExecutionID: 1, Error: "e"}),
			"poison", false, "poison: orchestration i history deserialization failed after 11 attempts (max 10): e",
		},
		"poisoned, by what is not known": {poison(nil), "poison", false, "poison: exceeded 11 attempts (max 10)"},
	} {
		if got := test.details.Category(); got != test.category {
			t.Errorf("%s: category is %q, want %q", name, got, test.category)
		}
		if got := test.details.IsRetryable(); got != test.retryable {
			t.Errorf("%s: retryable is %t, want %t", name, got, test.retryable)
		}
		if got := test.details.DisplayMessage(); got != test.message {
			t.Errorf("%s: message is %q, want %q", name, got, test.message)
		}
	}
}
