package samples

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/orchestration"
)

// Words are counted in pieces of a text side by side, and the counts put together. After Temporal's split and merge sample
// and the backup sample of Durable Functions.

type word struct {
	Word  string
	Count int
}

var (
	list  = act[string, []string]("List")
	words = act[string, []string]("Words")
)

var Count = orchestration.New("Count", func(ctx *orchestration.Context, folder string) ([]word, error) {
	files, err := orchestration.Activity(ctx, list, folder, patient).Await()
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	parts, err := orchestration.Map(ctx, files, 10, func(ctx *orchestration.Context, file string) (map[string]int, error) {
		found, err := orchestration.Activity(ctx, words, file).Await()
		return tally(found), err
	})
	if err != nil {
		return nil, err
	}
	total, files2 := map[string]int{}, map[string]bool{}
	for i, part := range parts {
		for w, n := range part {
			total[w] += n
		}
		files2[files[i]] = len(part) > 0
	}
	empty := 0
	for _, full := range files2 {
		if !full {
			empty++
		}
	}
	ctx.SetCustomStatus(strings.Repeat("-", empty))
	var counts []word
	for w, n := range total {
		if n > 1 {
			counts = append(counts, word{w, n})
		}
	}
	slices.SortFunc(counts, func(a, b word) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.Word, b.Word)
	})
	return counts, nil
})

func tally(found []string) map[string]int {
	counts := make(map[string]int, len(found))
	for _, w := range found {
		counts[strings.ToLower(w)]++
	}
	return counts
}
