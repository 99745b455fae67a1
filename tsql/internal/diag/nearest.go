package diag

import "sync"

// A Meant is a search for what a misspelt word was meant to be. It runs once, and only if somebody reads the answer.
type Meant struct {
	search func() string
	once   sync.Once
	found  string
}

// text returns what the search found, "" if there is none.
func (m *Meant) text() string {
	if m == nil {
		return ""
	}
	m.once.Do(func() { m.found = m.search() })
	return m.found
}

// Nearest returns the candidate that differs least from a word, for a fix that says "did you mean …?", or "" when none
// is near: two typing errors at most, and fewer than half of the letters, since any two words of three letters are
// within two errors of each other. Case counts; a caller whose names have none folds both sides. Candidates that are
// equally near are told apart by the alphabet, so that the order in which a map yields them doesn't show.
func Nearest(word string, candidates []string) string {
	const furthest = 2
	if len(word) > longestWord {
		return ""
	}
	best, distance := "", furthest+1
	for _, c := range candidates {
		d := editDistance(word, c)
		if 2*d < len(c) && (d < distance || d == distance && c < best) {
			best, distance = c, d
		}
	}
	return best
}

// longestWord is the length in bytes beyond which nothing is suggested: the work grows with the square of it, and what
// is longer was hardly typed.
const longestWord = 40

// editDistance counts the insertions, deletions, replacements and swaps of neighbours that make b of a. Swaps count as
// one, because "SLEECT" is the commonest way to mistype a word.
func editDistance(a, b string) int {
	// Three rows of the usual table: the present one and the two before it, of which swaps look at the older.
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
