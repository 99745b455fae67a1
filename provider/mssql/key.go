package mssql

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode/utf16"

	mssqldriver "github.com/microsoft/go-mssqldb"

	"github.com/google/uuid"

	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// maxKey is the length of the columns that hold ids, names, keys and tags, in UTF-16
// units, which is what T-SQL counts: the longest that fits every index (rule T5).
const maxKey = 400

// guard ends the stored form of a key that ends in a blank. T-SQL ignores blanks at
// the end when it compares, in binary collations too, so 'a' would meet 'a ' (rule
// T3). A key that ends in the guard gets another one, so that each stored form stands
// for one key.
const guard = "\u241f" // ␟

// stored is the form of a key in the database. Nearly every key is stored as it is.
func stored(key string) string {
	text := storedString(key)
	if strings.HasSuffix(text, " ") || strings.HasSuffix(text, guard) {
		return text + guard
	}
	return text
}

// restored is the key of a stored form.
func restored(text string) string { return restoredText(strings.TrimSuffix(text, guard)) }

// storedKey checks a key's length and returns its stored form. name is what the
// caller knows it as. Error: [provider.ErrInvalidArgument]; T-SQL itself would cut
// what is too long, and the key would stand for another one.
func storedKey(operation, name, key string) (string, error) {
	text := stored(key)
	return text, checkLength(operation, name, text)
}

// checkLength refuses a text that does not fit its column.
func checkLength(operation, name, text string) error {
	if len(text) <= maxKey {
		return nil
	}
	units := 0
	for _, r := range text {
		units += utf16.RuneLen(r)
	}
	if units > maxKey {
		return columns.Invalid(operation, "%s of %d UTF-16 units is too long: at most %d fit: %.60q…", name, units, maxKey, text)
	}
	return nil
}

// storedQueue is the form of the name of a queue. A name that is too long is stored as its digest:
// a queue is only looked up, and its messages have the name.
func storedQueue(name *string) *string {
	if name == nil {
		return nil
	}
	text := stored(*name)
	if checkLength("", "", text) != nil {
		text = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(*name)))
	}
	return &text
}

// storedOptional is storedKey for a key that may be missing.
func storedOptional(operation, name string, key *string) (*string, error) {
	if key == nil {
		return nil, nil
	}
	text, err := storedKey(operation, name, *key)
	if err != nil {
		return nil, err
	}
	return &text, nil
}

// storedTag is the stored form of a tag, the empty text for none. A tag that is itself the empty text ends in the
// guard, as one that ends in a blank does.
func storedTag(operation string, tag *string) (string, error) {
	switch {
	case tag == nil:
		return "", nil
	case *tag == "":
		return guard, nil
	}
	return storedKey(operation, "tag", *tag)
}

// restoredTag is the tag of a stored form.
func restoredTag(text string) *string {
	if text == "" {
		return nil
	}
	return new(restored(text))
}

// storedID checks what names an instance and returns its stored form.
func storedID(operation, instance string) (string, error) {
	if err := columns.CheckID(operation, "instance id", instance); err != nil {
		return "", err
	}
	return storedKey(operation, "instance id", instance)
}

// lookupID is storedID for a call that only looks: ok is false for an id that no
// instance can have.
func lookupID(instance string) (text string, ok bool) {
	text, err := storedID("", instance)
	return text, err == nil
}

// newToken returns a new lock token: 122 random bits, so that nobody guesses it and
// no two are the same.
func newToken() mssqldriver.UniqueIdentifier { return mssqldriver.UniqueIdentifier(uuid.New()) }

// tokenText is the token as callers get it.
func tokenText(token mssqldriver.UniqueIdentifier) string { return uuid.UUID(token).String() }

// parseToken reads a token as tokenText writes it. ok is false for any other text:
// nobody holds such a token.
func parseToken(text string) (token mssqldriver.UniqueIdentifier, ok bool) {
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text {
		return mssqldriver.UniqueIdentifier{}, false
	}
	return mssqldriver.UniqueIdentifier(id), true
}
