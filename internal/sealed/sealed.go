// Package sealed finds the payloads in events and work items, and has a codec encode or
// decode them. What is a payload is told by package codec; everything else stays.
package sealed

import (
	"context"
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/provider"
)

// Turn encodes the effects of a turn. A text that occurs twice is encoded once.
func Turn(ctx context.Context, c *codec.Codec, turn provider.AckOrchestrationParams) (provider.AckOrchestrationParams, error) {
	m := encoder(ctx, c)
	turn.HistoryDelta = m.events(turn.HistoryDelta)
	turn.WorkerItems = m.items(turn.WorkerItems)
	turn.OrchestratorItems = m.items(turn.OrchestratorItems)
	turn.Metadata.Output = m.optional(turn.Metadata.Output)
	return turn, m.err
}

// Item encodes an item, which may be nil.
func Item(ctx context.Context, c *codec.Codec, item provider.WorkItem) (provider.WorkItem, error) {
	m := encoder(ctx, c)
	return m.item(item), m.err
}

// Text encodes a text, unless it is empty.
func Text(ctx context.Context, c *codec.Codec, text string) (string, error) {
	m := encoder(ctx, c)
	return m.unlessEmpty(text), m.err
}

// OpenText decodes a text.
func OpenText(ctx context.Context, c *codec.Codec, text string) (string, error) {
	m := decoder(ctx, c)
	return m.text(text), m.err
}

// OpenTurn decodes what a turn was fetched with.
func OpenTurn(ctx context.Context, c *codec.Codec, item provider.OrchestrationItem) (provider.OrchestrationItem, error) {
	m := decoder(ctx, c)
	item.History = m.events(item.History)
	item.Messages = m.items(item.Messages)
	item.KVSnapshot = m.values(item.KVSnapshot)
	return item, m.err
}

// OpenItem decodes an item.
func OpenItem(ctx context.Context, c *codec.Codec, item provider.WorkItem) (provider.WorkItem, error) {
	m := decoder(ctx, c)
	return m.item(item), m.err
}

// OpenEvents decodes a history.
func OpenEvents(ctx context.Context, c *codec.Codec, events []provider.Event) ([]provider.Event, error) {
	m := decoder(ctx, c)
	return m.events(events), m.err
}

// OpenOptional decodes a text that may be missing.
func OpenOptional(ctx context.Context, c *codec.Codec, text *string) (*string, error) {
	m := decoder(ctx, c)
	return m.optional(text), m.err
}

// mapper changes payloads. It copies what it changes, and stops at the first error.
type mapper struct {
	// decodes leaves texts alone that are not encoded.
	decodes bool
	change  func(string) (string, error)
	// changes counts the payloads that have changed.
	changes int
	err     error
}

func decoder(ctx context.Context, c *codec.Codec) *mapper {
	return &mapper{decodes: true, change: func(text string) (string, error) { return c.Decode(ctx, text) }}
}

// worthKeeping is how long a text is that is not encoded twice.
const worthKeeping = 64

func encoder(ctx context.Context, c *codec.Codec) *mapper {
	var done map[string]string
	return &mapper{change: func(text string) (string, error) {
		if encoded, ok := done[text]; ok {
			return encoded, nil
		}
		encoded, err := c.Encode(ctx, text)
		if c != nil && err == nil && len(text) >= worthKeeping {
			if done == nil {
				done = map[string]string{}
			}
			done[text] = encoded
		}
		return encoded, err
	}}
}

func (m *mapper) text(text string) string {
	if m.err != nil || m.decodes && !codec.Encoded(text) {
		return text
	}
	changed, err := m.change(text)
	if err != nil {
		m.err = err
		return text
	}
	if changed != text {
		m.changes++
	}
	return changed
}

func (m *mapper) unlessEmpty(text string) string {
	if text == "" {
		return ""
	}
	return m.text(text)
}

func (m *mapper) optional(text *string) *string {
	if text == nil {
		return nil
	}
	before := m.changes
	if changed := m.text(*text); m.changes != before {
		return &changed
	}
	return text
}

func (m *mapper) pairs(pairs []provider.CarriedMessage) []provider.CarriedMessage {
	pairs = slices.Clone(pairs)
	for i := range pairs {
		pairs[i].Data = m.text(pairs[i].Data)
	}
	return pairs
}

func (m *mapper) values(values map[string]provider.KVEntry) map[string]provider.KVEntry {
	changed, copied := values, false
	for key, entry := range values {
		before := m.changes
		if entry.Value = m.text(entry.Value); m.changes == before {
			continue
		}
		if !copied {
			changed, copied = maps.Clone(values), true
		}
		changed[key] = entry
	}
	return changed
}

func (m *mapper) events(events []provider.Event) []provider.Event {
	copied := false
	for i, event := range events {
		before := m.changes
		kind := m.event(event.Kind)
		if m.changes == before {
			continue
		}
		if !copied {
			events, copied = slices.Clone(events), true
		}
		events[i].Kind = kind
	}
	return events
}

func (m *mapper) items(items []provider.WorkItem) []provider.WorkItem {
	copied := false
	for i, item := range items {
		before := m.changes
		changed := m.item(item)
		if m.changes == before {
			continue
		}
		if !copied {
			items, copied = slices.Clone(items), true
		}
		items[i] = changed
	}
	return items
}
