package provider

import "errors"

// EncodeEvent returns the event's JSON, compact and in the contract's key order
// (§3.1). Invalid UTF-8 in strings becomes U+FFFD.
func EncodeEvent(e Event) ([]byte, error) { return nil, errors.ErrUnsupported }

// DecodeEvent reads an event's JSON. Error: [ErrCorrupt], whose text says what
// is wrong and where.
func DecodeEvent(data []byte) (Event, error) { return Event{}, errors.ErrUnsupported }

// EncodeWorkItem returns the item's JSON (§3.5).
func EncodeWorkItem(item WorkItem) ([]byte, error) { return nil, errors.ErrUnsupported }

// DecodeWorkItem reads an item's JSON. Error: [ErrCorrupt].
func DecodeWorkItem(data []byte) (WorkItem, error) { return nil, errors.ErrUnsupported }
