package provider

import "fmt"

// EncodeEvent returns the event's JSON, compact and in the contract's key order.
// Invalid UTF-8 in strings becomes U+FFFD.
//
// Error: [ErrInvalidArgument] if the event's kind, or the details of its failure, are missing or unknown to the
// contract.
func EncodeEvent(e Event) ([]byte, error) {
	data, _, err := EncodeEventApart(e, 0)
	return data, err
}

// DecodeEvent reads an event's JSON. Unknown keys are ignored, so that an older build reads what a
// newer one wrote. A known key that is given twice is an error.
//
// Integers are read up to 2^64-1. The contract uses none above 2^63-1, but DecodeEvent does not check that.
//
// Error: [ErrCorrupt]. The text names the byte offset, the key and the problem, and never quotes a payload.
func DecodeEvent(data []byte) (Event, error) {
	return DecodeEventApart(data, nil)
}

// EncodeWorkItem returns the item's JSON, {"Variant":{fields}}. Invalid
// UTF-8 in strings becomes U+FFFD.
//
// Error: [ErrInvalidArgument] if the item, or the details of its failure, are missing or unknown to the contract.
func EncodeWorkItem(item WorkItem) ([]byte, error) {
	data, _, err := EncodeWorkItemApart(item, 0)
	return data, err
}

// DecodeWorkItem reads an item's JSON by the rules of [DecodeEvent]. A second
// key beside the variant's name is an error.
//
// Error: [ErrCorrupt].
func DecodeWorkItem(data []byte) (WorkItem, error) {
	return DecodeWorkItemApart(data, nil)
}

// MarshalJSON is [EncodeEvent], for an event inside a larger document. encoding/json then also escapes <, > and & by
// default, so a store calls EncodeEvent instead.
func (e Event) MarshalJSON() ([]byte, error) { return EncodeEvent(e) }

// UnmarshalJSON is [DecodeEvent]. null leaves the event unchanged, as usual in encoding/json.
func (e *Event) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	decoded, err := DecodeEvent(data)
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	*e = decoded
	return nil
}
