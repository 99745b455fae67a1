package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
)

// printJSON prints one document on one line.
func (a *app) printJSON(document any) error {
	encoder := json.NewEncoder(a.screen)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(document)
}

// printTable prints rows in columns. Cells may come from outside.
func printTable(w io.Writer, rows [][]string) {
	const padding = 2
	table := tabwriter.NewWriter(w, 0, 0, padding, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = screen.Visible(cell)
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	_ = table.Flush() // the screen keeps the error
}

// moment is a time as tables show it.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// instant is a time as JSON shows it: UTC, to the millisecond.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// decimal is a count as tables show it.
func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// text is a payload that may be absent.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// sized says how many there are and how large they are together.
func sized(n uint64, thing string, bytes uint64) string {
	return screen.Counted(n, thing) + ", " + screen.Counted(bytes, "byte")
}
