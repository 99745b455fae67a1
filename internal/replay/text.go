package replay

import "unicode/utf8"

// wellFormed is an action with its texts as events hold them (§3.1): a replay compares the two, and
// messages go by their names. Ids, tags and sessions stay, as the stores refuse those that are not
// valid UTF-8.
func wellFormed(action Action) Action {
	switch a := action.(type) {
	case CallActivity:
		if mend(&a.Name, &a.Input) {
			return a
		}
	case WaitEvent:
		if mend(&a.Name) {
			return a
		}
	case Dequeue:
		if mend(&a.Name) {
			return a
		}
	case CallSub:
		if mend(&a.Name, &a.Input) {
			return a
		}
	case StartDetached:
		if mend(&a.Name, &a.Input) {
			return a
		}
	case SetKV:
		if mend(&a.Key, &a.Value) {
			return a
		}
	case ClearKV:
		if mend(&a.Key) {
			return a
		}
	}
	return action
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
