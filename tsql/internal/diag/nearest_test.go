package diag_test

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
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

// TestMeant checks that nobody searches for what was meant before a finding is printed, and then once.
func TestMeant(t *testing.T) {
	t.Parallel()
	f := diag.NewFile("a.sql", "SELECT nane, x")
	searches := 0
	var found diag.List
	for range 2 { // a repetition
		found.Add(f, diag.Span{From: 7, To: 11}, "name", "define it", "no column nane")
		found.Meant(func() string { searches++; return "did you mean name?" })
	}
	found.Add(f, diag.Span{From: 13, To: 14}, "name", "define it", "no column x")
	found.Meant(func() string { searches++; return "" })
	found.Sort()
	if len(found) != 2 || searches != 0 {
		t.Errorf("%d findings after sorting, want 2; %d searches, want none", len(found), searches)
	}
	for range 2 {
		if text := found.Format(); strings.Count(text, "fix: did you mean name?\n") != 1 || strings.Count(text, "fix: define it\n") != 1 {
			t.Errorf("printed as\n%s", text)
		}
	}
	if searches != 2 {
		t.Errorf("%d searches after printing, want one for each finding", searches)
	}
}
