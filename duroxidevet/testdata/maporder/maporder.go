// Package maporder has loops over maps.
package maporder

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
)

var ship = activity.New("Ship", func(_ context.Context, item string) (string, error) { return item, nil })

func bad(ctx *orchestration.Context, stock map[string]int) ([]string, error) {
	var names []string
	for name := range stock { // want `the order of a map, another one each time, can reach the result or a call; range over slices.Sorted\(maps.Keys\(m\)\)`
		names = append(names, name)
	}
	for name := range stock { // want `the order of a map`
		if _, err := orchestration.Activity(ctx, ship, name).Await(); err != nil {
			return nil, err
		}
	}
	last := ""
	for name := range stock { // want `the order of a map`
		last = name
	}
	text := ""
	for name := range stock { // want `the order of a map`
		text += name
	}
	var weights map[string]float64
	sum := 0.0
	for _, weight := range weights { // want `the order of a map`
		sum += weight
	}
	first, n := "", 0
	for name := range stock { // want `the order of a map`
		n++
		if name == last {
			break
		}
	}
	for name, count := range stock { // want `the order of a map`
		if count < 0 {
			return nil, fmt.Errorf("%s is missing", name)
		}
	}
	for name, count := range stock { // want `the order of a map`
		if count > 0 {
			return []string{name}, nil
		}
	}
	for name, count := range stock { // want `the order of a map`
		if count > n {
			n = count
			first = name
		}
	}
	var sorted []string
	for name := range stock { // want `the order of a map`
		sorted = append(sorted, name)
	}
	ctx.Sleep(1)
	use(sorted)
	slices.Sort(sorted)
	for name := range maps.Keys(stock) { // want `maps.Keys has another order each time`
		use([]string{name})
	}
	keys := slices.Collect(maps.Keys(stock)) // want `maps.Keys has another order each time`
	use(keys)
	_, _ = first, text
	return listed(stock), nil // want `listed, where the order of a map, another one each time, can reach the result or a call \(maporder.go:\d+\)`
}

func use([]string) {}

func listed(stock map[string]int) (names []string) {
	for name := range stock {
		names = append(names, name)
	}
	return names
}

type stage string

func good(ctx *orchestration.Context, stock map[string]int) ([]string, error) {
	var names, others []string
	for name, count := range stock {
		if count == 0 {
			continue
		}
		names = append(names, strings.ToUpper(name))
	}
	slices.Sort(names)
	if len(stock) > 1 {
		for name := range stock {
			others = append(others, name)
		}
	}
	sort.Slice(others, func(i, j int) bool { return others[i] < others[j] })
	sum, most := 0, 0
	doubled := map[string]int{}
	seen := map[stage]bool{}
	for name, count := range stock {
		sum += count
		twice := count * 2
		doubled[name] = twice
		if count > most {
			most = count
		}
		seen[stage("any")] = true
		if count < 0 {
			delete(doubled, name)
		}
	}
	for name := range stock {
		if name == "" {
			return nil, errors.New("a name is empty")
		}
		most = max(most, len(name))
	}
	var long []string
	for name := range stock {
		long = append(long, name)
	}
	if len(long) == 0 {
		return nil, nil
	}
	slices.Sort(long)
	found := false
	for _, count := range stock {
		if count > 3 {
			found = true
			break
		}
	}
	for _, count := range stock {
		if count < 0 {
			return nil, nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(stock)) {
		if _, err := orchestration.Activity(ctx, ship, name).Await(); err != nil {
			return nil, err
		}
	}
	keys := slices.Collect(maps.Keys(stock))
	sort.Strings(keys)
	copied := maps.Collect(maps.All(stock))
	for range maps.Keys(copied) {
		sum++
	}
	_ = found
	return append(names, tidy(stock)...), nil
}

func tidy(stock map[string]int) []string {
	names := slices.Collect(maps.Keys(stock))
	slices.Sort(names)
	return names
}
