package provider_test

import (
	"fmt"
	"math"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
)

// typeName is a value's type without its package.
func typeName(v any) string { return strings.TrimPrefix(fmt.Sprintf("%T", v), "provider.") }

// goldenEvents are the values of testdata/events.golden.
func goldenEvents() map[string]provider.Event {
	event := func(id uint64, kind provider.EventKind) provider.Event {
		return provider.Event{
			EventID: id, InstanceID: "order-42", ExecutionID: 1, TimestampMs: 1760000000000,
			DuroxideVersion: "0.1.26", Kind: kind,
		}
	}
	// answer is an event that belongs to event 2.
	answer := func(id uint64, kind provider.EventKind) provider.Event {
		e := event(id, kind)
		e.SourceEventID = new(uint64(2))
		return e
	}
	declined := provider.ApplicationFailure{Kind: provider.AppActivityFailed, Message: "card declined"}
	return map[string]provider.Event{
		"OrchestrationStarted (root)": event(1, provider.OrchestrationStarted{
			Name: "Order", Version: "1.0.0", Input: `{"sku":7}`,
		}),
		"OrchestrationStarted (all fields)": event(1, provider.OrchestrationStarted{
			Name: "Order", Version: "1.0.0", Input: "x",
			ParentInstance: new("root"), ParentID: new(uint64(4)),
			CarryForwardEvents:  []provider.CarriedMessage{{Name: "inbox", Data: "m1"}},
			InitialCustomStatus: new("50%"),
		}),
		"OrchestrationStarted (child, execution 1, 0.1.32)": stamped(provider.Event{
			EventID: 1, InstanceID: "root::sub::4", ExecutionID: 1, Kind: provider.OrchestrationStarted{
				Name: "Ship", Version: "1.0.0", Input: "x",
				ParentInstance: new("root"), ParentID: new(uint64(4)), ParentExecutionID: new(uint64(1)),
			},
		}),
		"OrchestrationStarted (child, execution 2, 0.1.32)": stamped(provider.Event{
			EventID: 1, InstanceID: "root::sub::4", ExecutionID: 2, Kind: provider.OrchestrationStarted{
				Name: "Ship", Version: "1.0.0", Input: "y",
				ParentInstance: new("root"), ParentID: new(uint64(4)), ParentExecutionID: new(uint64(1)),
				CarryForwardEvents:  []provider.CarriedMessage{{Name: "inbox", Data: "m1"}},
				InitialCustomStatus: new("50%"),
			},
		}),
		"OrchestrationStarted (root, 0.1.32)": stamped(provider.Event{
			EventID: 1, InstanceID: "order-42", ExecutionID: 1, Kind: provider.OrchestrationStarted{
				Name: "Order", Version: "1.0.0", Input: `{"sku":7}`,
			},
		}),
		"OrchestrationCompleted":      event(9, provider.OrchestrationCompleted{Output: "done"}),
		"OrchestrationFailed":         event(9, provider.OrchestrationFailed{Details: declined}),
		"OrchestrationContinuedAsNew": event(5, provider.OrchestrationContinuedAsNew{Input: "next"}),
		"OrchestrationStarted (messages dropped)": event(1, provider.OrchestrationStarted{
			Name: "Order", Version: "1.0.0", Input: "x", InitialCustomStatus: new("50%"), DroppedMessages: 14,
		}),
		"OrchestrationStarted (headers)": event(1, provider.OrchestrationStarted{
			Name: "Order", Version: "1.0.0", Input: "x", Headers: "trace=1",
		}),
		"OrchestrationContinuedAsNew (messages dropped)": event(5, provider.OrchestrationContinuedAsNew{
			Input: "next", DroppedMessages: 11,
		}),
		"OrchestrationCancelRequested":    event(5, provider.OrchestrationCancelRequested{Reason: "user"}),
		"ActivityScheduled (plain)":       event(2, provider.ActivityScheduled{Name: "Charge", Input: "a<b&c/é\n\x01"}),
		"ActivityCompleted":               answer(3, provider.ActivityCompleted{Result: "ok"}),
		"ActivityFailed":                  answer(3, provider.ActivityFailed{Details: declined}),
		"ActivityCancelRequested":         answer(4, provider.ActivityCancelRequested{Reason: "dropped_future"}),
		"TimerCreated":                    event(2, provider.TimerCreated{FireAtMs: 1760000005000}),
		"TimerFired":                      answer(3, provider.TimerFired{FireAtMs: 1760000005000}),
		"ExternalSubscribed":              event(2, provider.ExternalSubscribed{Name: "approve"}),
		"ExternalEvent":                   event(3, provider.ExternalEvent{Name: "approve", Data: "yes"}),
		"ExternalSubscribedCancelled":     answer(5, provider.ExternalSubscribedCancelled{Reason: "dropped_future"}),
		"QueueSubscribed":                 event(2, provider.QueueSubscribed{Name: "inbox"}),
		"QueueEventDelivered":             event(3, provider.QueueEventDelivered{Name: "inbox", Data: "m1"}),
		"QueueSubscriptionCancelled":      answer(5, provider.QueueSubscriptionCancelled{Reason: "orchestration_terminal"}),
		"SubOrchestrationCompleted":       answer(3, provider.SubOrchestrationCompleted{Result: "ok"}),
		"SubOrchestrationFailed":          answer(3, provider.SubOrchestrationFailed{Details: declined}),
		"SubOrchestrationCancelRequested": answer(4, provider.SubOrchestrationCancelRequested{Reason: "dropped_future"}),
		"CustomStatusUpdated (set)":       event(4, provider.CustomStatusUpdated{Status: new("50%")}),
		"CustomStatusUpdated (reset)":     event(4, provider.CustomStatusUpdated{}),
		"KeyValueCleared":                 event(4, provider.KeyValueCleared{Key: "k"}),
		"KeyValuesCleared":                event(4, provider.KeyValuesCleared{}),
		"ActivityScheduled (session, tag)": event(2, provider.ActivityScheduled{
			Name: "Charge", Input: "{}", SessionID: new("sess-1"), Tag: new("gpu"),
		}),
		"OrchestrationChained": event(2, provider.OrchestrationChained{
			Name: "Audit", Instance: "audit-1", Input: "x",
		}),
		"SubOrchestrationScheduled": event(2, provider.SubOrchestrationScheduled{
			Name: "Ship", Instance: "sub::2", Input: "x",
		}),
		"KeyValueSet": event(4, provider.KeyValueSet{Key: "k", Value: "v", LastUpdatedAtMs: 1760000000000}),
		"ActivityFailed (cancelled)": answer(3, provider.ActivityFailed{
			Details: provider.ApplicationFailure{Kind: provider.AppCancelled, CancelReason: "user"},
		}),
		"ActivityCompleted (every escape, and what stays raw)": answer(3, provider.ActivityCompleted{
			Result: "\"\\\b\f\n\r\t\x00\x1f/<>&\x7f\u2028\u2029é😀",
		}),
		"TimerCreated (largest integers)": {
			EventID: math.MaxUint64, SourceEventID: new(uint64(math.MaxUint64)), TimestampMs: math.MaxInt64,
			Kind: provider.TimerCreated{FireAtMs: math.MaxUint64},
		},
	}
}

// stamped is an event of a 0.1.32 writer.
func stamped(e provider.Event) provider.Event {
	e.TimestampMs, e.DuroxideVersion = 1760000000000, "0.1.32"
	return e
}

// goldenWorkItems are the values of testdata/workitems.golden.
func goldenWorkItems() map[string]provider.WorkItem {
	declined := provider.ApplicationFailure{Kind: provider.AppActivityFailed, Message: "card declined"}
	return map[string]provider.WorkItem{
		"StartOrchestration (root)": provider.StartOrchestrationItem{
			Instance: "order-42", Orchestration: "Order", Input: "x", ExecutionID: 1,
		},
		"StartOrchestration (child)": provider.StartOrchestrationItem{
			Instance: "root::sub::2", Orchestration: "Ship", Input: "x", Version: new("1.0.0"),
			ParentInstance: new("root"), ParentID: new(uint64(2)), ExecutionID: 1,
		},
		"StartOrchestration (child, 0.1.32)": provider.StartOrchestrationItem{
			Instance: "root::sub::2_2", Orchestration: "Ship", Input: "x",
			ParentInstance: new("root"), ParentID: new(uint64(2)), ParentExecutionID: new(uint64(2)), ExecutionID: 1,
		},
		"ActivityExecute (plain)": provider.ActivityExecuteItem{
			Instance: "order-42", ExecutionID: 1, ID: 2, Name: "Charge", Input: "x",
		},
		"ActivityExecute (session, tag)": provider.ActivityExecuteItem{
			Instance: "order-42", ExecutionID: 1, ID: 2, Name: "Charge", Input: "x",
			SessionID: new("sess-1"), Tag: new("gpu"),
		},
		"ActivityCompleted": provider.ActivityCompletedItem{
			Instance: "order-42", ExecutionID: 1, ID: 2, Result: "ok",
		},
		"ActivityFailed": provider.ActivityFailedItem{
			Instance: "order-42", ExecutionID: 1, ID: 2, Details: declined,
		},
		"TimerFired": provider.TimerFiredItem{
			Instance: "order-42", ExecutionID: 1, ID: 2, FireAtMs: 1760000005000,
		},
		"ExternalRaised": provider.ExternalRaisedItem{Instance: "order-42", Name: "approve", Data: "yes"},
		"QueueMessage":   provider.QueueMessageItem{Instance: "order-42", Name: "inbox", Data: "m1"},
		"SubOrchCompleted": provider.SubOrchCompletedItem{
			ParentInstance: "root", ParentExecutionID: 1, ParentID: 2, Result: "ok",
		},
		"SubOrchFailed": provider.SubOrchFailedItem{
			ParentInstance: "root", ParentExecutionID: 1, ParentID: 2, Details: declined,
		},
		"CancelInstance": provider.CancelInstanceItem{Instance: "order-42", Reason: "user"},
		"ContinueAsNew (plain)": provider.ContinueAsNewItem{
			Instance: "order-42", Orchestration: "Order", Input: "x",
		},
		"ContinueAsNew (all fields)": provider.ContinueAsNewItem{
			Instance: "order-42", Orchestration: "Order", Input: "x", Version: new("2.0.0"),
			CarryForwardEvents:  []provider.CarriedMessage{{Name: "inbox", Data: "m1"}},
			InitialCustomStatus: new("50%"),
		},
		"StartOrchestration (headers)": provider.StartOrchestrationItem{
			Instance: "order-42", Orchestration: "Order", Input: "x", ExecutionID: 1, Headers: "trace=1",
		},
		"ActivityExecute (headers)": provider.ActivityExecuteItem{
			Instance: "order-42", ExecutionID: 1, ID: 2, Name: "Charge", Input: "x", Headers: "trace=1",
		},
		"ActivityExecute (retry of what had heartbeats, bounded wait and run)": provider.ActivityExecuteItem{
			Instance: "order-42", ExecutionID: 1, ID: 5, Name: "Import", Input: "x", Heartbeat: `{"rows":700}`,
			StartTimeoutMs: 60000, RunTimeoutMs: 5000,
		},
		"ContinueAsNew (headers)": provider.ContinueAsNewItem{
			Instance: "order-42", Orchestration: "Order", Input: "x", Headers: "trace=1",
		},
		"ContinueAsNew (messages dropped)": provider.ContinueAsNewItem{
			Instance: "order-42", Orchestration: "Order", Input: "x", DroppedMessages: 11,
		},
		"ContinueAsNew (child, 0.1.32)": provider.ContinueAsNewItem{
			Instance: "root::sub::4", Orchestration: "Ship", Input: "y",
			ParentInstance: new("root"), ParentID: new(uint64(4)), ParentExecutionID: new(uint64(1)),
		},
		"ContinueAsNew (child of an older parent, 0.1.32)": provider.ContinueAsNewItem{
			Instance: "root::sub::4", Orchestration: "Ship", Input: "y",
			ParentInstance: new("root"), ParentID: new(uint64(4)),
		},
	}
}

// goldenErrorDetails are the values of testdata/errordetails.golden.
func goldenErrorDetails() map[string]provider.ErrorDetails {
	poison := func(message provider.PoisonMessageType, text string) provider.PoisonFailure {
		return provider.PoisonFailure{AttemptCount: 11, MaxAttempts: 10, MessageType: message, Message: text}
	}
	return map[string]provider.ErrorDetails{
		"Infrastructure": provider.InfrastructureFailure{Operation: "ack", Message: "db down", Retryable: true},
		"Configuration (no message)": provider.ConfigurationFailure{
			Kind: provider.Nondeterminism, Resource: "r",
		},
		"Configuration (message)": provider.ConfigurationFailure{
			Kind: provider.Nondeterminism, Resource: "r", Message: new("m"),
		},
		"Application (activity failed)": provider.ApplicationFailure{
			Kind: provider.AppActivityFailed, Message: "card declined",
		},
		"Application (orchestration failed)": provider.ApplicationFailure{
			Kind: provider.AppOrchestrationFailed, Message: "m", Retryable: true,
		},
		"Application (panicked)": provider.ApplicationFailure{
			Kind: provider.AppPanicked, Message: "index out of range",
		},
		"Application (failure of a kind)": provider.ApplicationFailure{
			Kind: provider.AppActivityFailed, Message: "card declined", FailureKind: "CardDeclined", FailureDetails: `{"code":51}`, Final: true,
		},
		"Application (heartbeat)": provider.ApplicationFailure{
			Kind: provider.AppActivityFailed, Message: "connection reset", Heartbeat: `{"rows":700}`,
		},
		"Application (cancelled)": provider.ApplicationFailure{Kind: provider.AppCancelled, CancelReason: "user"},
		"Poison (orchestration)":  poison(provider.PoisonOrchestration{Instance: "i", ExecutionID: 1}, "[]"),
		"Poison (activity)": poison(provider.PoisonActivity{
			Instance: "i", ExecutionID: 1, ActivityName: "A", ActivityID: 2,
		}, "{}"),
		"Poison (deserialization)": poison(provider.PoisonDeserialization{
			Instance: "i", ExecutionID: 1, Error: "e",
		}, "e"),
		"Poison (largest counts)": provider.PoisonFailure{
			AttemptCount: math.MaxUint32, MessageType: provider.PoisonOrchestration{},
		},
	}
}
