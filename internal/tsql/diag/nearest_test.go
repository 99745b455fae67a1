package diag_test

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/internal/tsql/diag"
)

// TestNearest checks which words are near enough to be suggested, and that the order of the candidates doesn't matter.
func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"gen:param", "gen:null", "int", "bit", strings.Repeat("x", 50)}
	tests := map[string]string{
		"gen:nulll": "gen:null", "gen:parma": "gen:param", "gen:other": "",
		"itn": "int", "inx": "int", "bot": "bit", "ixt": "int",
		"": "", "xyz": "", strings.Repeat("x", 49): "",
	}
	for word, want := range tests {
		if got := diag.Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	for _, candidates := range [][]string{{"cart", "card"}, {"card", "cart"}} {
		if got := diag.Nearest("carx", candidates); got != "card" {
			t.Errorf("Nearest of %v = %q, want the first in the alphabet", candidates, got)
		}
	}
}
