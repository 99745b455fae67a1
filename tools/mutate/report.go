package main

import (
	"fmt"
	"os"
	"strings"
)

// writeReport writes a table of who has found how many of each kind, and the survivors.
func writeReport(path string, trials []*trial) error {
	var b strings.Builder
	b.WriteString("| What is changed | Mutants |")
	for _, f := range finders {
		fmt.Fprintf(&b, " %s |", f.name)
	}
	b.WriteString(" survive |\n|---|---|" + strings.Repeat("---|", len(finders)+1) + "\n")
	for _, k := range append(kinds, "") {
		b.WriteString(row(k, trials))
	}
	b.WriteString("\n| Survivor | Why |\n|---|---|\n")
	for _, t := range trials {
		if t.finder == "" {
			fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(t.name, "|", "\\|"), t.survives)
		}
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// row counts the mutants of a kind, or all.
func row(k kind, trials []*trial) string {
	counts, all := map[string]int{}, 0
	for _, t := range trials {
		if k == "" || t.kind == k {
			counts[t.finder]++
			all++
		}
	}
	name := string(k)
	if k == "" {
		name = "all"
	}
	var line strings.Builder
	fmt.Fprintf(&line, "| %s | %d |", name, all)
	for _, f := range finders {
		fmt.Fprintf(&line, " %d |", counts[f.name])
	}
	fmt.Fprintf(&line, " %d |\n", counts[""])
	return line.String()
}
