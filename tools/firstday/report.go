package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	reportFile  = "report.md"
	plansFolder = "plans"
)

// outcome is what came of a check.
type outcome string

// The outcomes.
const (
	held    outcome = "held"
	failed  outcome = "did not hold"
	notDone outcome = "not asked"
)

// result is an outcome with what a reader wants to know of it.
type result struct {
	outcome outcome
	// why is a sentence: what was seen, what went wrong, or why nobody asked.
	why string
	// details are lines of Markdown below it.
	details []string
}

// holds is the result of a check that held.
func holds(format string, args ...any) result {
	return result{outcome: held, why: fmt.Sprintf(format, args...)}
}

// fails is the result of a check that did not hold.
func fails(format string, args ...any) result {
	return result{outcome: failed, why: fmt.Sprintf(format, args...)}
}

// unasked is the result of a check that could not be made.
func unasked(format string, args ...any) result {
	return result{outcome: notDone, why: fmt.Sprintf(format, args...)}
}

// with adds lines to the details.
func (r result) with(lines ...string) result {
	r.details = append(slices.Clone(r.details), lines...)
	return r
}

// entry is the result of a check in one configuration.
type entry struct {
	check  string
	config config
	result
}

// report is what a run found.
type report struct {
	facts   []fact
	configs []config
	entries []entry
	began   time.Time
	took    time.Duration
}

func (r *report) add(check string, c config, result result) {
	r.entries = append(r.entries, entry{check, c, result})
}

func (r *report) count(o outcome) (n int) {
	for _, e := range r.entries {
		if e.outcome == o {
			n++
		}
	}
	return n
}

func (r *report) sum() string {
	return fmt.Sprintf("%d checks held, %d did not hold, %d were not asked", r.count(held), r.count(failed), r.count(notDone))
}

// write writes the report into the folder.
func (r *report) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, reportFile), []byte(r.markdown()), 0o644)
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# The store's first day on this server\n\n**%s.** %s, in %.0f s.\n\n", r.sum(), r.began.UTC().Format("2006-01-02 15:04 UTC"), r.took.Seconds())
	b.WriteString("| The server | |\n|---|---|\n")
	for _, f := range r.facts {
		fmt.Fprintf(&b, "| %s | %s |\n", f.name, cell(f.value))
	}
	r.matrix(&b)
	r.list(&b, failed, "What did not hold")
	r.list(&b, held, "What held")
	r.reasons(&b)
	return b.String()
}

// matrix writes one row for each check and one column for each configuration.
func (r *report) matrix(b *strings.Builder) {
	b.WriteString("\n## Summary\n\nA column is a database: its compatibility level, and what is on. RCSI is READ_COMMITTED_SNAPSHOT. All else is as in the server's database model, but for the simple recovery model and, with the highest level, Query Store. A check is made in every database, or only in those with the highest level if it takes long and the level does not matter.\n\n| Check |")
	for _, c := range r.configs {
		fmt.Fprintf(b, " %s |", c)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(r.configs)) + "\n")
	for _, check := range checks {
		fmt.Fprintf(b, "| [%s](#%s) |", check.name, anchor(check.name))
		for _, c := range r.configs {
			fmt.Fprintf(b, " %s |", r.mark(check.name, c))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| Check | What must hold |\n|---|---|\n")
	for _, check := range checks {
		fmt.Fprintf(b, "| <a id=%q></a>%s | %s |\n", anchor(check.name), check.name, check.promise)
	}
}

// mark is a result in the matrix.
func (r *report) mark(check string, c config) string {
	for _, e := range r.entries {
		if e.check == check && e.config == c {
			if e.outcome == failed {
				return "**" + string(failed) + "**"
			}
			return string(e.outcome)
		}
	}
	return ""
}

// list writes the results with an outcome, check by check. Configurations with the same words share them.
func (r *report) list(b *strings.Builder, o outcome, title string) {
	if r.count(o) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n", title)
	for _, check := range checks {
		heading := false
		for _, group := range r.groups(check.name, o) {
			if !heading {
				fmt.Fprintf(b, "\n### %s\n", check.name)
				heading = true
			}
			fmt.Fprintf(b, "\n**%s:** %s\n", strings.Join(group.configs, "; "), group.why)
			if len(group.details) > 0 {
				b.WriteString("\n" + strings.Join(group.details, "\n") + "\n")
			}
		}
	}
}

// reasons writes why checks were not made.
func (r *report) reasons(b *strings.Builder) {
	if r.count(notDone) == 0 {
		return
	}
	b.WriteString("\n## What was not asked\n\n| Check | Where | Why |\n|---|---|---|\n")
	for _, check := range checks {
		for _, group := range r.groups(check.name, notDone) {
			fmt.Fprintf(b, "| %s | %s | not asked: %s |\n", check.name, strings.Join(group.configs, "; "), cell(group.why))
		}
	}
}

// group is a result that several configurations share.
type group struct {
	result

	configs []string
}

func (r *report) groups(check string, o outcome) (list []*group) {
	for _, e := range r.entries {
		if e.check != check || e.outcome != o {
			continue
		}
		at := slices.IndexFunc(list, func(g *group) bool { return g.why == e.why && slices.Equal(g.details, e.details) })
		if at < 0 {
			at = len(list)
			list = append(list, &group{result: e.result})
		}
		list[at].configs = append(list[at].configs, e.config.String())
	}
	return list
}

// table is a table in Markdown.
func table(head []string, rows [][]string) []string {
	if len(rows) == 0 {
		return nil
	}
	lines := []string{"| " + strings.Join(head, " | ") + " |", "|" + strings.Repeat("---|", len(head))}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, text := range row {
			cells[i] = cell(text)
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
	}
	return append(lines, "")
}

// cell makes a text fit into a table.
func cell(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.ReplaceAll(cmp.Or(text, "–"), "|", "\\|")
}

func anchor(name string) string { return strings.ReplaceAll(name, " ", "-") }
