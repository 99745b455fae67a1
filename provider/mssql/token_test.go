package mssql

import (
	"math"
	"testing"
)

// A token of an activity is its row and its secret again, and no other text is a token.
func TestWorkToken(t *testing.T) {
	t.Parallel()
	secret := newToken()
	for _, id := range []int64{0, 1, 42, -1, math.MaxInt64, math.MinInt64} {
		got, row, ok := cutWorkToken(workToken(secret, id))
		if !ok || got != secret || row != id {
			t.Errorf("the token of %d is cut into %v, %d, %t", id, got, row, ok)
		}
	}
	text := tokenText(secret)
	for _, other := range []string{"", "-", text, text + "-", text + "-x", text + "-01", text + "-+1", text + "-9223372036854775808", text + "1", "x" + text[1:] + "-1", text + "-1 "} {
		if _, _, ok := cutWorkToken(other); ok {
			t.Errorf("%q is taken for a token", other)
		}
	}
}
