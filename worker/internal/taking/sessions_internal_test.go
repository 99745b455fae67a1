package taking

import (
	"testing"
)

func TestSessions(t *testing.T) {
	t.Parallel()
	s := NewSessions(2)
	steps := []struct {
		do   func() bool
		want bool
		full bool
	}{
		{func() bool { return s.Enter("a") }, true, false},
		{func() bool { return s.Enter("a") }, true, false}, // counts once
		{func() bool { return s.Enter("b") }, true, true},
		{func() bool { return s.Enter("c") }, false, true},
		{func() bool { return s.Enter("b") }, true, true},
		{func() bool { s.Leave("a"); return true }, true, true},
		{func() bool { s.Leave("a"); return true }, true, false},
		{func() bool { return s.Enter("c") }, true, true},
	}
	for i, step := range steps {
		if got := step.do(); got != step.want || s.Full() != step.full {
			t.Errorf("step %d: %t, full %t; want %t, %t", i, got, s.Full(), step.want, step.full)
		}
	}
}
