package columns

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/provider"
)

// Invalid is a call that can never succeed as it is.
func Invalid(operation, format string, args ...any) error {
	return provider.Permanent(operation, fmt.Sprintf(format, args...), provider.ErrInvalidArgument)
}

// CheckID refuses what cannot name an instance. name is what the caller knows it
// as.
func CheckID(operation, name, id string) error {
	if id == "" {
		return Invalid(operation, "%s must not be empty", name)
	}
	return CheckText(operation, name, id)
}

// CheckText refuses text for a column that would not come back from JSON or SQL as
// it went in.
func CheckText(operation, name, text string) error {
	switch {
	case !utf8.ValidString(text):
		return Invalid(operation, "%s %q must be valid UTF-8", name, text)
	case strings.ContainsRune(text, 0):
		return Invalid(operation, "%s %q must not contain NUL", name, text)
	}
	return nil
}

// checkNumber refuses what does not fit the signed integers of a database.
func checkNumber(operation, name string, n uint64) error {
	if n > math.MaxInt64 {
		return Invalid(operation, "%s %d exceeds the largest storable number, %d", name, n, int64(math.MaxInt64))
	}
	return nil
}

// Clamp bounds a number of a comparison, for which "very large" is good enough.
func Clamp(n uint64) int64 {
	return int64(min(n, math.MaxInt64))
}

// ExecutionKey is the column of an execution to be read. No execution has an id that does not fit, and none has the id
// 0.
func ExecutionKey(id uint64) int64 {
	if id > math.MaxInt64 {
		return 0
	}
	return int64(id)
}

// CheckHeartbeat refuses what are no details of a heartbeat.
func CheckHeartbeat(operation, details string) error {
	if n := len(details); n == 0 || n > provider.MaxHeartbeat {
		return Invalid(operation, "the details of a heartbeat have %d bytes; they must have 1 to %d", n, provider.MaxHeartbeat)
	}
	if !utf8.ValidString(details) || strings.ContainsRune(details, 0) {
		return Invalid(operation, "the details of a heartbeat must be UTF-8 without NUL") // which are not shown: a payload
	}
	return nil
}
