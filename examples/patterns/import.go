package patterns

import (
	"context"
	"fmt"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
)

// Load loads a part of a file and returns how many rows it had.
var Load = activity.New("Load", func(_ context.Context, part string) (int, error) { return len(part), nil })

// Progress is how far an import is, for those who watch it.
type Progress struct{ Parts, Of int }

// Imported is the custom status of an Import.
var Imported orchestration.CustomStatus[Progress]

// Import loads all parts, 50 at a time, and returns the number of rows.
var Import = orchestration.New("Import", func(ctx *orchestration.Context, parts []string) (int, error) {
	done := 0
	rows, err := orchestration.Map(ctx, parts, 50, func(ctx *orchestration.Context, part string) (int, error) {
		rows, err := orchestration.Activity(ctx, Load, part).Await()
		if err != nil {
			return 0, fmt.Errorf("part %s: %w", part, err)
		}
		if done++; done%100 == 0 { // each status is an event in the history
			Imported.Set(ctx, Progress{Parts: done, Of: len(parts)})
		}
		return rows, nil
	})
	sum := 0
	for _, n := range rows {
		sum += n
	}
	return sum, err
})
