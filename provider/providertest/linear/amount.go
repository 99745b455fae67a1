package linear

import (
	"os"
	"strconv"
	"testing"
)

// Amount is how many histories, or explored schedules of a scenario, a test checks: the environment variable
// DUROXIDE_TEST_HISTORIES, or another number without it.
func Amount(t testing.TB, otherwise int) int {
	t.Helper()
	text := os.Getenv("DUROXIDE_TEST_HISTORIES")
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		t.Fatalf("DUROXIDE_TEST_HISTORIES: %v", err)
	}
	return int(n)
}
