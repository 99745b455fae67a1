package maporder

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/duroxide/duroxide-go/orchestration"
)

type part struct {
	count int
	name  string
}

type place struct{ shelf, item string }

type list struct{ names []string }

// Loops over maps that give the same in every order.
func harmless(_ *orchestration.Context, stock map[string]int) (int, error) {
	set := map[int]struct{}{}
	for _, count := range stock {
		set[count] = struct{}{}
	}
	sum, all, some := 0, true, false
	for _, count := range stock {
		sum = sum + count
		all = all && count > 0
		some = count > 3 || some
	}
	kinds := map[string]int{}
	for name, count := range stock {
		switch {
		case count > 10:
			kinds["many"]++
		case strings.HasPrefix(name, "x"):
			sum += count
		default:
			kinds[name] = count
		}
	}
	for name, count := range stock {
		for i := 0; i < count; i++ {
			sum += len(name)
		}
	}
	for name, count := range stock {
		kinds[name] = cmp.Compare[int](count, 0)
	}
	shelves := map[string]map[string]int{}
	copied := map[string]map[string]int{}
	flat := map[place]int{}
	for shelf, items := range shelves {
		copied[shelf] = map[string]int{}
		for item, count := range items {
			copied[shelf][item] = count
			flat[place{shelf, item}] = count
		}
	}
	parts := map[string]*part{}
	byKind := map[string]*part{}
	for name, p := range parts {
		p.name = strings.ToUpper(p.name)
		byKind[name].count = p.count
	}
	lists := map[string][]int{}
	n := 0
	for _, counts := range lists {
		for _, count := range counts {
			if count == 7 {
				n++
				break
			}
		}
	}
	for name := range stock {
		if name == "" {
			panic("a name is empty")
		}
	}
	var l list
	for name := range stock {
		l.names = append(l.names, name)
	}
	sort.Strings(l.names)
	var names, more []string
	for name := range stock {
		names = append(names, name)
	}
	if slices.Contains(names, "chair") {
		n++
	}
	for _, name := range slices.Sorted(slices.Values(names)) {
		n += len(name)
	}
	for name := range stock {
		more = append(more, name)
	}
	more = slices.Sorted(slices.Values(more))
	distinct, seen := 0, map[int]bool{}
	var each []int
	for _, count := range stock {
		if !seen[count] {
			seen[count] = true
			distinct++
			each = append(each, count)
		}
	}
	slices.Sort(each)
	_, _, _ = all, some, more
	return n + sum + distinct, nil
}

// Loops whose result is that of the entries that came first.
func takes(_ *orchestration.Context, stock map[string]int) (int, error) {
	n, picked := 0, map[string]int{}
	for name, count := range stock { // want `the order of a map`
		if n < 3 {
			n++
			picked[name] = count
		}
	}
	for name, count := range stock { // want `the order of a map`
		if n >= 3 {
			continue
		}
		n++
		picked[name] = count
	}
	budget := 100
	for name, count := range stock { // want `the order of a map`
		if count <= budget {
			budget -= count
			picked[name] = count
		}
	}
	costs, seen := 0, map[int]bool{}
	for name, count := range stock { // want `the order of a map`
		if !seen[count] {
			seen[count] = true
			costs += len(name)
		}
	}
	shelves := [][]string{{"a"}}
outer:
	for range shelves {
		for name := range stock { // want `the order of a map`
			n += len(name)
			continue outer
		}
	}
	var p part
	for name := range stock { // want `the order of a map`
		p.name = name
	}
	owners := map[string]*part{}
	for name, owner := range owners { // want `the order of a map`
		owner.name = name
	}
	var names []string
	for name := range stock { // want `the order of a map`
		names = append(names, name)
	}
	names = slices.Compact(names)
	for _, count := range stock { // want `the order of a map`
		n = count - n
	}
	flat := map[int]string{}
	for name, count := range stock { // want `the order of a map`
		flat[count] = name
	}
	return n + costs + len(names) + len(flat), nil
}
