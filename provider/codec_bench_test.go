package provider_test

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// benchmarkEvents are a typical small event, the same with an input that is
// itself JSON and so full of quotes, and a result of 1 MB of either sort.
func benchmarkEvents() map[string]provider.Event {
	event := func(kind provider.EventKind) provider.Event {
		return provider.Event{
			EventID:         12,
			InstanceID:      "order-0192f1c4-7c3e-7b1a-9d55-3f1f6f0a2f11",
			ExecutionID:     1,
			TimestampMs:     1760000000000,
			DuroxideVersion: "0.1.26",
			Kind:            kind,
		}
	}
	const document = `{"sku":7,"quantity":2,"address":{"street":"Long Road 1","city":"Málaga"}},`
	return map[string]provider.Event{
		"ActivityScheduled": event(provider.ActivityScheduled{Name: "ChargeCreditCard", Input: "card-4711"}),
		"ActivityScheduledJSON": event(provider.ActivityScheduled{
			Name: "ChargeCreditCard", Input: document[:len(document)-1],
		}),
		"Result1MB":     event(provider.ActivityCompleted{Result: strings.Repeat("0123456789abcdef", 1<<16)}),
		"Result1MBJSON": event(provider.ActivityCompleted{Result: "[" + strings.Repeat(document, 1<<20/len(document)) + "{}]"}),
	}
}

func BenchmarkEncodeEvent(b *testing.B) {
	for name, event := range benchmarkEvents() {
		b.Run(name, func(b *testing.B) {
			data, err := provider.EncodeEvent(event)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := provider.EncodeEvent(event); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecodeEvent(b *testing.B) {
	for name, event := range benchmarkEvents() {
		b.Run(name, func(b *testing.B) {
			data, err := provider.EncodeEvent(event)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := provider.DecodeEvent(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
