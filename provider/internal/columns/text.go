package columns

import (
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/provider"
)

// Text is a text of the user's as a column keeps it: each byte that is no valid UTF-8
// becomes U+FFFD, as it does in the JSON of events ([provider.EncodeEvent], contract §3.1). Keys
// of the key-value map are looked up in the same form.
func Text(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	// Not strings.ToValidUTF8, which makes one of several bytes in a row.
	return string([]rune(text))
}

// optionalText is Text for a text that may be missing.
func optionalText(text *string) *string {
	if text == nil {
		return nil
	}
	return new(Text(*text))
}

// OrEmpty is a text that may be missing.
func OrEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// IDs are those ids of a list that can name something, in their order. What is left out
// names nothing, and passed on in JSON or to a driver might come to name something else
// ([CheckID]).
func IDs(ids []string) []string {
	list := make([]string, 0, len(ids))
	for _, id := range ids {
		if CheckID("", "", id) == nil {
			list = append(list, id)
		}
	}
	return list
}

// Tags are those tags of a filter that an activity can have, see [NewWork].
func Tags(filter provider.TagFilter) []string {
	tags := filter.Tags()
	list := make([]string, 0, len(tags))
	for _, tag := range tags {
		if CheckText("", "", tag) == nil {
			list = append(list, tag)
		}
	}
	return list
}
