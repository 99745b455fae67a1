package explore_test

import (
	"math"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/explore"
)

// Random finds a defect of depth d in at least 1/(k·n^(d-1)) of its runs, for k actors and n steps. A defect is here
// what some steps make of which each comes before the next one, and none of the others would do without.
func TestRandomFindsByDepth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		actors []string
		order  []string // pairs of steps: the first one comes before the second one
		seeds  uint64
	}{
		{[]string{"abcdefgh", "ABCDEFGH"}, []string{"Ha"}, 100},
		{[]string{"abcdefgh", "ABCDEFGH"}, []string{"cA", "Bd"}, 1000},
		{[]string{"abcdefgh", "ABCDEFGH"}, []string{"cA", "Cd", "eD"}, 20000},
	} {
		s := &scenario{}
		for _, letters := range tt.actors {
			s.writes(letters)
		}
		depth, length := len(tt.order), 0
		for seed := range tt.seeds {
			_, steps := explore.Random(s, seed, depth-1, length)
			length = max(length, steps)
		}
		found := 0
		for _, run := range s.seen {
			there := true
			for _, pair := range tt.order {
				there = there && strings.IndexByte(run, pair[0]) < strings.IndexByte(run, pair[1])
			}
			if there {
				found++
			}
		}
		promised := float64(tt.seeds) / (float64(len(tt.actors)) * math.Pow(float64(length), float64(depth-1)))
		t.Logf("%v: %d times in %d runs of at most %d steps, promised are %.1f", tt.order, found, tt.seeds, length, promised)
		if chance := 3 * math.Sqrt(promised); float64(found) < promised-chance {
			t.Errorf("%v: found %d times in %d runs, promised are %.1f", tt.order, found, tt.seeds, promised)
		}
	}
}
