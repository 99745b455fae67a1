package provider

import "fmt"

// apartMark stands in JSON for a text that is stored elsewhere: the string of one control character, U+001A.
const apartMark = "\x1a"

// EncodeEventApart is [EncodeEvent] for a store that keeps long texts apart, so that they are neither escaped nor
// written again with each event and work item that has them. The first text of at least shortest bytes is left out of
// the JSON, and returned as apart; nil if there is none, or shortest is 0.
func EncodeEventApart(e Event, shortest int) (data []byte, apart *string, err error) {
	c := codec{writing: true, w: newWriter()}
	c.w.shortest = shortest
	c.open()
	c.event(&e)
	c.close()
	data, err = c.w.finish()
	return data, c.w.apart, err
}

// DecodeEventApart is [DecodeEvent] for the JSON and the text of [EncodeEventApart]. A JSON without a place for the
// text is an error, and so is, unless the text is nil, whatever DecodeEvent refuses. A text that is nil although one
// was left out reads as the mark: for a caller that wants the other fields.
//
// Error: [ErrCorrupt].
func DecodeEventApart(data []byte, text *string) (Event, error) {
	c := codec{r: newReader(data)}
	c.r.apart = text
	var e Event
	c.open()
	c.event(&e)
	c.close()
	if err := c.r.finishApart(); err != nil {
		return Event{}, err
	}
	return e, nil
}

// EncodeWorkItemApart is [EncodeWorkItem], as [EncodeEventApart] is EncodeEvent.
func EncodeWorkItemApart(item WorkItem, shortest int) (data []byte, apart *string, err error) {
	c := codec{writing: true, w: newWriter()}
	c.w.shortest = shortest
	if c.workItem(item) == nil {
		c.unknown("work item", item)
	}
	c.closeVariant()
	data, err = c.w.finish()
	return data, c.w.apart, err
}

// DecodeWorkItemApart is [DecodeWorkItem], as [DecodeEventApart] is DecodeEvent.
//
// Error: [ErrCorrupt].
func DecodeWorkItemApart(data []byte, text *string) (WorkItem, error) {
	c := codec{r: newReader(data)}
	c.r.apart = text
	item := c.workItem(openVariant(&c, "work item", workItems))
	c.closeVariant()
	if err := c.r.finishApart(); err != nil {
		return nil, err
	}
	return item, nil
}

// leaveOut returns what is written of a text. Of a document with a text that reads as the mark, all texts after it are
// written.
func (w *writer) leaveOut(s string) string {
	switch {
	case w.shortest == 0 || w.apart != nil:
	case s == apartMark:
		w.shortest = 0
	case len(s) >= w.shortest:
		apart := s // not s itself, which would then be allocated for each text
		w.apart = &apart
		return apartMark
	}
	return s
}

// ApartBytes is by how many bytes the JSON of an event or work item would be longer with the text that was kept apart.
func ApartBytes(text string) int {
	s, n := text, len(text)-len(`\u001a`)
	for {
		plain := plainLen(s)
		if plain == len(s) {
			return n
		}
		var escape [escapeLen]byte
		n += len(appendEscape(escape[:0], s[plain])) - 1
		s = s[plain+1:]
	}
}

// putBack returns what a text was that was read.
func (r *reader) putBack(s string) string {
	if r.apart != nil && s == apartMark {
		s, r.apart = *r.apart, nil
	}
	return s
}

// finishApart is finish for a document whose text must have found its place.
func (r *reader) finishApart() error {
	err := r.finish()
	if err == nil && r.apart != nil {
		return fmt.Errorf("the JSON has no place for the text of %d bytes that is stored apart: %w", len(*r.apart), ErrCorrupt)
	}
	return err
}
