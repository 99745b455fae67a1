package sqlite

import (
	"testing"
)

// An id that no instance can have is nobody's, and not that of an instance that it is encoded like.
func TestProgressOfAnIDThatNamesNothing(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	create(t, s, "i\ufffd", 0)
	list, err := s.ReadProgress(t.Context(), []string{"i\xff", "i\ufffd", "", "i\ufffd\x00"})
	must(t, err)
	for i, want := range []bool{false, true, false, false} {
		if got := list[i].Use != nil; got != want {
			t.Errorf("id %d is used: %t, want %t", i, got, want)
		}
	}
}
