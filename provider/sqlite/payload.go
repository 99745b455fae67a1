package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
)

// A payload is written once, however many messages, activities and events have it: a text of
// longText bytes and more has a row of its own, which all of them name (table payloads).

// longText is how many bytes a text has at least to be kept apart.
const longText = 4_096

// payloadOf returns the id of a text's row, which is added if there is none; nil for no text. The
// caller stores a row that names it.
func (t *tx) payloadOf(ctx context.Context, text *string) (id *int64, err error) {
	if text == nil {
		return nil, nil
	}
	digest := t.ready.lastDigest.of(*text)
	used, err := t.UsePayload(ctx, digest[:])
	if err != nil {
		return nil, err
	}
	if used.Uses == 1 {
		err = t.AddPayloadText(ctx, used.ID, *text, int64(provider.ApartBytes(*text)))
	}
	return &used.ID, err
}

// payloadText reads the text of a payload; nil for none.
func (t *tx) payloadText(ctx context.Context, id *int64) (*string, error) {
	if id == nil {
		return nil, nil
	}
	text, err := t.GetPayloadText(ctx, *id)
	return &text, err
}

// decodeItem decodes a stored work item, and reads its payload if it has one. undecodable is for the caller to set
// aside.
func (t *tx) decodeItem(ctx context.Context, body string, payload *int64) (item provider.WorkItem, undecodable, err error) {
	text, err := t.payloadText(ctx, payload)
	if err != nil {
		return nil, nil, err
	}
	item, undecodable = provider.DecodeWorkItemApart([]byte(body), text)
	return item, undecodable, nil
}

// textDigest remembers the digest of the last text: a turn often stores one in several rows.
type textDigest struct {
	text   string
	digest [sha256.Size]byte
}

func (d *textDigest) of(text string) [sha256.Size]byte {
	if text != d.text {
		d.text, d.digest = text, sha256.Sum256([]byte(text))
	}
	return d.digest
}

// longOutput returns an output as it is stored: if it is long, the column is empty and names a
// payload.
func (t *tx) longOutput(ctx context.Context, output *string) (_ *string, payload *int64, err error) {
	if output == nil || len(*output) < longText {
		return output, nil, nil
	}
	payload, err = t.payloadOf(ctx, output)
	return new(""), payload, err
}

// whole is the JSON of a work item with the text that was kept apart, nil for none.
func whole(short string, apart *string) string {
	if apart == nil {
		return short
	}
	text, err := json.Marshal(*apart)
	if err != nil {
		return short // a string always marshals
	}
	return strings.Replace(short, `"\u001a"`, string(text), 1)
}
