package columns

import (
	"context"
	"log/slog"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
)

// KindRunes is how much of a letter's text [ItemKind] looks at.
const KindRunes = 80

// ItemKind is the name that a work item's text begins with, also if nothing else of the text can be read; empty if
// there is none. It is a word, never a payload.
func ItemKind(text string) string {
	const blanks = " \t\r\n"
	rest, object := strings.CutPrefix(strings.TrimLeft(text, blanks), "{")
	rest, named := strings.CutPrefix(strings.TrimLeft(rest, blanks), `"`)
	if name, _, ended := strings.Cut(rest, `":`); object && named && ended && isWord(name) {
		return name
	}
	return ""
}

// isWord reports whether a name is letters and digits, as those of the contract are.
func isWord(name string) bool {
	letters := func(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' }
	return name != "" && len(name) < KindRunes && strings.IndexFunc(name, func(c rune) bool { return !letters(c) }) < 0
}

// TellSetAside tells of a letter that was set aside: the caller of the fetch, or else the store's own log.
func TellSetAside(ctx context.Context, log *slog.Logger, told func(provider.DeadLetter), letter provider.DeadLetter) {
	if told != nil {
		told(letter)
		return
	}
	log.LogAttrs(ctx, slog.LevelError, "set a message aside that cannot be decoded: see duroxide dead-letters",
		slog.String("instance_id", letter.InstanceID), slog.Bool("activity", letter.Activity),
		slog.String("kind", letter.Kind), slog.String("error", letter.Reason))
}

// Undecodable is what a store says of a letter that this release cannot decode either.
func Undecodable(operation string, err error) error {
	return provider.Permanent(operation, "the letter stays where it is, because this release cannot decode it either ("+err.Error()+
		"): send it again with the release that wrote it, or delete it", err)
}
