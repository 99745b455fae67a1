package columns

import (
	"fmt"
	"math"
	"strings"
	"time"
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

// CheckNumber refuses what does not fit the signed integers of a database.
func CheckNumber(operation, name string, n uint64) error {
	if n > math.MaxInt64 {
		return Invalid(operation, "%s %d exceeds the largest storable number, %d", name, n, int64(math.MaxInt64))
	}
	return nil
}

// Lease returns a lease's length in milliseconds, which must be positive.
func Lease(operation, name string, d time.Duration) (int64, error) {
	if d <= 0 {
		return 0, Invalid(operation, "%s must be positive, got %v", name, d)
	}
	return milliseconds(d), nil
}

// Delay returns a delay in milliseconds, which must not be negative.
func Delay(operation, name string, d time.Duration) (int64, error) {
	if d < 0 {
		return 0, Invalid(operation, "%s must not be negative, got %v", name, d)
	}
	return milliseconds(d), nil
}

// milliseconds rounds up: a lease is never shorter than asked for, and a short
// Delay is not none.
func milliseconds(d time.Duration) int64 {
	ms := int64(d / time.Millisecond)
	if d%time.Millisecond > 0 {
		ms++
	}
	return ms
}

// Clamp bounds a number of a comparison, for which "very large" is good enough.
func Clamp(n uint64) int64 {
	return int64(min(n, math.MaxInt64))
}
