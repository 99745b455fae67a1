package migrate

import (
	"strconv"
	"strings"
)

// Batch is what goes to the server at once: the text between two GO lines.
type Batch struct {
	Text string
	// File and Line are where the text begins in the scripts. File is empty for a
	// batch that records a step.
	File string
	Line int
	// Repeat is how often the batch runs: the count of its GO line, otherwise 1.
	Repeat int
}

// split cuts a script at its GO lines, which belong to no batch. Batches without a
// statement are left out.
func split(script string) []Batch {
	var list []Batch
	for _, batch := range cut(tokens(script)) {
		if batch.statement {
			list = append(list, batch.Batch)
		}
	}
	return list
}

// piece is a batch, and whether there is more in it than comments.
type piece struct {
	Batch

	statement bool
}

// cut makes a batch of all tokens up to each GO line, and of those after the last.
func cut(list []token) []piece {
	var pieces []piece
	var text strings.Builder
	current := piece{Batch: Batch{Line: 1}}
	for _, t := range list {
		if t.kind == tokenGo {
			current.Text, current.Repeat = text.String(), repeat(t)
			pieces = append(pieces, current)
			text.Reset()
			current = piece{Batch: Batch{Line: t.line + 1}}
			continue
		}
		text.WriteString(t.text)
		current.statement = current.statement || t.significant()
	}
	current.Text, current.Repeat = text.String(), 1
	return append(pieces, current)
}

// repeat returns the count of a GO line. One too large for an int is not told from 1:
// no server would live to see the end of it.
func repeat(t token) int {
	fields := strings.Fields(t.text)
	if len(fields) < 2 {
		return 1
	}
	count, err := strconv.Atoi(fields[1])
	if err != nil {
		return 1
	}
	return count
}
