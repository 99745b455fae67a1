package lock_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
)

// The two small tables of Microsoft's guide to locking, which are written down here a second time.
func TestCompatibilityOfTheGuide(t *testing.T) {
	t.Parallel()
	tables := []struct {
		modes []lock.Mode
		rows  []string
	}{
		{
			[]lock.Mode{lock.IS, lock.S, lock.U, lock.IX, lock.SIX, lock.X},
			[]string{"yyyyyn", "yyynnn", "yynnnn", "ynnynn", "ynnnnn", "nnnnnn"},
		},
		{
			[]lock.Mode{lock.S, lock.U, lock.X, lock.RangeSS, lock.RangeSU, lock.RangeIN, lock.RangeXX},
			[]string{"yynyyyn", "ynnynyn", "nnnnnyn", "yynyynn", "ynnynnn", "yyynnyn", "nnnnnnn"},
		},
		{
			[]lock.Mode{lock.SchS, lock.SchM, lock.BU, lock.S, lock.X, lock.IX},
			[]string{"ynyyyy", "nnnnnn", "ynynnn", "ynnynn", "ynnnnn", "ynnnny"},
		},
	}
	for _, table := range tables {
		for i, a := range table.modes {
			for j, b := range table.modes {
				if got, want := lock.Compatible(a, b), table.rows[i][j] == 'y'; got != want {
					t.Errorf("Compatible(%v, %v) = %v", a, b, got)
				}
			}
		}
	}
}

func TestMatrixIsSymmetric(t *testing.T) {
	t.Parallel()
	for a := range lock.Modes {
		for b := range lock.Modes {
			if lock.Compatible(a, b) != lock.Compatible(b, a) {
				t.Errorf("%v and %v", a, b)
			}
		}
	}
}

// A converted lock must be as strong as both of its modes: it keeps away whatever one of them keeps away.
func TestSupremumIsStrongEnough(t *testing.T) {
	t.Parallel()
	ofKeys := func(m lock.Mode) bool { return m.IsRange() }
	ofObjects := func(m lock.Mode) bool { return m == lock.SchS || m == lock.SchM || m >= lock.IS && m <= lock.BU }
	for a := range lock.Modes {
		for b := range lock.Modes {
			if ofKeys(a) && ofObjects(b) || ofObjects(a) && ofKeys(b) {
				continue // they cannot meet
			}
			sup := lock.Supremum(a, b)
			if sup != lock.Supremum(b, a) {
				t.Errorf("Supremum(%v, %v) depends on the order", a, b)
			}
			for other := range lock.Modes {
				if (ofKeys(sup) && ofObjects(other)) || (ofObjects(sup) && ofKeys(other)) {
					continue
				}
				if lock.Compatible(sup, other) && (!lock.Compatible(a, other) || !lock.Compatible(b, other)) {
					t.Errorf("Supremum(%v, %v) = %v, which admits %v", a, b, sup, other)
				}
			}
		}
	}
}

func TestSupremum(t *testing.T) {
	t.Parallel()
	tests := []struct{ a, b, want lock.Mode }{
		{lock.S, lock.U, lock.U},
		{lock.U, lock.X, lock.X},
		{lock.IS, lock.S, lock.S},
		{lock.IS, lock.IX, lock.IX},
		{lock.IU, lock.IX, lock.IX},
		{lock.IU, lock.S, lock.SIU},
		{lock.S, lock.IX, lock.SIX},
		{lock.SIU, lock.IX, lock.SIX},
		{lock.SIU, lock.U, lock.U},
		{lock.U, lock.IU, lock.U},
		{lock.U, lock.IX, lock.UIX},
		{lock.SIX, lock.U, lock.UIX},
		{lock.UIX, lock.X, lock.X},
		{lock.SchS, lock.IX, lock.IX},
		{lock.IX, lock.SchM, lock.SchM},
		// Those that the guide calls conversion locks.
		{lock.S, lock.RangeIN, lock.RangeIS},
		{lock.U, lock.RangeIN, lock.RangeIU},
		{lock.X, lock.RangeIN, lock.RangeIX},
		{lock.RangeIN, lock.RangeSS, lock.RangeXS},
		{lock.RangeIN, lock.RangeSU, lock.RangeXU},
		{lock.RangeSS, lock.U, lock.RangeSU},
		{lock.RangeSS, lock.X, lock.RangeXX},
		{lock.RangeSU, lock.RangeSS, lock.RangeSU},
	}
	for _, tt := range tests {
		if got := lock.Supremum(tt.a, tt.b); got != tt.want {
			t.Errorf("Supremum(%v, %v) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestParseMode(t *testing.T) {
	t.Parallel()
	for m := range lock.Modes {
		if got, ok := lock.ParseMode(m.String()); !ok || got != m {
			t.Errorf("ParseMode(%q) = %v, %v", m, got, ok)
		}
	}
	if _, ok := lock.ParseMode("RangeS-X"); ok {
		t.Error("RangeS-X is a mode")
	}
}
