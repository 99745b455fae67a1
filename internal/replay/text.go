package replay

import (
	"fmt"
	"unicode/utf8"
)

// wellFormed is an action with its payloads as events hold them (contract §3.1): a replay compares the two.
// A name that is not valid UTF-8 ends the function: an event, a queue and a key would have another name than the one
// that was asked for, and two of them could be one.
func wellFormed(action Action) Action {
	switch a := action.(type) {
	case CallActivity:
		mustBeText("an activity's name", a.Name)
		if a.Tag != nil {
			mustBeText("a tag", *a.Tag)
		}
		if a.SessionID != nil {
			mustBeText("a session's id", *a.SessionID)
		}
		if mend(&a.Input) {
			return a
		}
	case WaitEvent:
		mustBeText("an event's name", a.Name)
	case Dequeue:
		mustBeText("a queue's name", a.Name)
	case CallSub:
		mustBeText("an orchestration's name", a.Name)
		if mend(&a.Input) {
			return a
		}
	case StartDetached:
		mustBeText("an orchestration's name", a.Name)
		if mend(&a.Input) {
			return a
		}
	case SetKV:
		mustBeText("a key", a.Key)
		if mend(&a.Value) {
			return a
		}
	case ClearKV:
		mustBeText("a key", a.Key)
	}
	return action
}

// mustBeText panics if a name is not valid UTF-8.
func mustBeText(what, name string) {
	if !utf8.ValidString(name) {
		panic(fmt.Sprintf("%s must be valid UTF-8: %q", what, name))
	}
}

// mend makes each byte that is not valid UTF-8 U+FFFD, and reports whether there was one.
func mend(texts ...*string) (changed bool) {
	for _, text := range texts {
		if !utf8.ValidString(*text) {
			*text, changed = string([]rune(*text)), true
		}
	}
	return changed
}
