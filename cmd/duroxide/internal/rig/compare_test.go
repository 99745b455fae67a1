package rig

import (
	"reflect"
	"testing"
)

// TestCompare has two rounds of two programs, of which the new one prints figures that the old one does not.
func TestCompare(t *testing.T) {
	t.Parallel()
	shown := func(rate, floor, more float64) map[string]float64 {
		figures := map[string]float64{}
		flatten(figures, "", map[string]any{
			"store": "sqlite", "floor": floor, "configurations": []any{map[string]any{
				"completed": 4.0, "rate": rate, "commits": nil, "methods": []any{map[string]any{"calls": rate}},
			}},
		})
		if more != 0 {
			figures["more"] = more
		}
		if completed(figures) != 4 {
			t.Errorf("%g have ended, want 4", completed(figures))
		}
		return figures
	}
	got := compare(
		[]map[string]float64{shown(10, 5, 0), shown(20, 5, 0)},
		[]map[string]float64{shown(30, 5, 1), shown(20, 5, 1)})
	want := []Comparison{{Figure: "configurations[0].rate", Old: 15, New: 25, Ratio: 2, Lowest: 1, Highest: 3}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
