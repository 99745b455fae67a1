// Package linediff shows how two texts differ, line by line, in the format of diff -u. It is our own because a library
// for it would be in the list of modules of everybody who imports this one.
package linediff

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// context is how many equal lines stand around a difference, as with diff -u.
const context = 3

// Unified returns the differences between two texts, nothing if there are none. The names stand in the heading.
//
// Lines that occur exactly once in both texts are what is matched first, so that a difference begins and ends where a
// reader would say it does, in time proportional to n log n for n lines. The result is not always the shortest.
func Unified(oldName string, before []byte, newName string, after []byte) []byte {
	if bytes.Equal(before, after) {
		return nil
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "diff %s %s\n--- %s\n+++ %s\n", oldName, newName, oldName, newName)
	edits := compare(lines(before), lines(after))
	for _, h := range hunks(edits) {
		writeHunk(&out, edits, h)
	}
	return out.Bytes()
}

// lines parts a text into lines with their ends. A last line without an end gets the remark that diff makes about it.
func lines(text []byte) []string {
	list := strings.SplitAfter(string(text), "\n")
	last := len(list) - 1
	if list[last] == "" {
		return list[:last]
	}
	list[last] += "\n\\ No newline at end of file\n"
	return list
}

// An edit is a line of one text or both: '-' is only in the old one, '+' only in the new one, ' ' in both.
type edit struct {
	kind byte
	line string
}

// compare returns the edits that make y of x.
func compare(x, y []string) []edit {
	var edits []edit
	var at pair // what is before it in either text is in edits
	for _, anchor := range anchors(x, y) {
		if anchor.x < at.x {
			continue // it was part of the equal lines around the anchor before
		}
		// Lines that are equal right before and right behind the anchor belong to it.
		begin, end := anchor, anchor
		for begin.x > at.x && begin.y > at.y && x[begin.x-1] == y[begin.y-1] {
			begin = pair{begin.x - 1, begin.y - 1}
		}
		for end.x < len(x) && end.y < len(y) && x[end.x] == y[end.y] {
			end = pair{end.x + 1, end.y + 1}
		}
		edits = add(edits, '-', x[at.x:begin.x])
		edits = add(edits, '+', y[at.y:begin.y])
		edits = add(edits, ' ', x[begin.x:end.x])
		at = end
	}
	return edits
}

func add(edits []edit, kind byte, lines []string) []edit {
	for _, line := range lines {
		edits = append(edits, edit{kind, line})
	}
	return edits
}

// A pair is a line of x and one of y, by their numbers from 0.
type pair struct{ x, y int }

// anchors returns the beginning of both texts, the longest series of lines that occur once in each and in the same
// order, and the end of both.
func anchors(x, y []string) []pair {
	inX, inY := once(x), once(y)
	var candidates []pair // ordered by x
	for i, line := range x {
		if _, ok := inX[line]; !ok {
			continue
		}
		if j, ok := inY[line]; ok {
			candidates = append(candidates, pair{i, j})
		}
	}
	series := []pair{{0, 0}}
	series = append(series, increasing(candidates)...)
	return append(series, pair{len(x), len(y)})
}

// once maps the lines that occur once to their numbers.
func once(lines []string) map[string]int {
	count := map[string]int{}
	for _, line := range lines {
		count[line]++
	}
	numbers := map[string]int{}
	for i, line := range lines {
		if count[line] == 1 {
			numbers[line] = i
		}
	}
	return numbers
}

// increasing returns a longest series of pairs, ordered by x, in which y grows, too (the algorithm of Szymanski).
func increasing(pairs []pair) []pair {
	var ends []int // ends[n] is the pair with the smallest y that ends a series of n+1 pairs
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n := sort.Search(len(ends), func(k int) bool { return pairs[ends[k]].y >= p.y })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	var series []pair
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			series = append(series, pairs[i])
		}
	}
	slices.Reverse(series)
	return series
}

// A hunk is a range of edits, from begin up to but without end.
type hunk struct{ begin, end int }

// hunks returns the differences with the lines around them. Those whose context would meet are one.
func hunks(edits []edit) []hunk {
	var list []hunk
	for i, e := range edits {
		if e.kind == ' ' {
			continue
		}
		begin, end := max(i-context, 0), min(i+1+context, len(edits))
		if last := len(list) - 1; last >= 0 && begin <= list[last].end {
			list[last].end = end
		} else {
			list = append(list, hunk{begin, end})
		}
	}
	return list
}

// writeHunk writes the lines of a hunk below their numbers in both texts.
func writeHunk(out *bytes.Buffer, edits []edit, h hunk) {
	before := count(edits[:h.begin])
	size := count(edits[h.begin:h.end])
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", first(before.x, size.x), size.x, first(before.y, size.y), size.y)
	for _, e := range edits[h.begin:h.end] {
		out.WriteByte(e.kind)
		out.WriteString(e.line)
	}
}

// count counts the lines of either text.
func count(edits []edit) (n pair) {
	for _, e := range edits {
		if e.kind != '+' {
			n.x++
		}
		if e.kind != '-' {
			n.y++
		}
	}
	return n
}

// first is the number of a hunk's first line, from 1. A hunk without lines is behind the line of that number.
func first(before, size int) int {
	if size == 0 {
		return before
	}
	return before + 1
}
