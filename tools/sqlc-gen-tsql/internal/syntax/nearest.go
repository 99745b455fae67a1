package syntax

import (
	"iter"
	"slices"
)

// nearest returns the candidate that differs least from a word, or "" when none is near: two typing errors at most, and
// fewer than half of the letters. Candidates that are equally near are told apart by the alphabet.
func nearest(word string, candidates iter.Seq[string]) string {
	const furthest = 2
	if len(word) > 40 { // no keyword is that long
		return ""
	}
	best, distance := "", furthest+1
	for _, c := range slices.Sorted(candidates) {
		if d := editDistance(word, c); d < distance && 2*d < len(c) {
			best, distance = c, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions, replacements and swaps of neighbours that make b of a.
func editDistance(a, b string) int {
	// Three rows of the usual table: the present one and the two before it.
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(b)]
}
