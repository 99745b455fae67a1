package scripts_test

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	scripts "github.com/duroxide/duroxide-go/sql"
)

// schemaTables are the tables of the numbered scripts.
func schemaTables(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, script := range []string{"schema/0001_instances.sql", "schema/0002_queues.sql"} {
		text, err := fs.ReadFile(scripts.MSSQLScripts(), script)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`(?m)^CREATE TABLE duroxide\.(\w+)`).FindAllStringSubmatch(string(text), -1) {
			names = append(names, match[1])
		}
	}
	slices.Sort(names)
	return names
}

// The picture of the tables has each of them, and no other.
func TestPictureOfTables(t *testing.T) {
	t.Parallel()
	var drawn []string
	for _, match := range regexp.MustCompile(`(?m)^ +(\w+) [|}][|o]--[|o][|{] (\w+) : `).FindAllStringSubmatch(mermaid(t, "Tables"), -1) {
		drawn = append(drawn, match[1], match[2])
	}
	slices.Sort(drawn)
	if drawn, want := slices.Compact(drawn), schemaTables(t); !slices.Equal(drawn, want) {
		t.Errorf("the picture has %q, and the scripts %q", drawn, want)
	}
}

// The picture of the locks is the order that the linter checks, and the sections Locks of the headers name in it what a
// transaction locks for itself. What it reads may be locked at any time, since nobody waits for a reader that keeps
// nothing.
func TestPictureOfLocks(t *testing.T) {
	t.Parallel()
	order := regexp.MustCompile(`\w+`).FindAllString(strings.TrimPrefix(mermaid(t, "Locks"), "flowchart LR\n"), -1)
	order = slices.Compact(order)
	_, list, _ := strings.Cut(readFile(t, "../sqlc.yaml"), "lock_order:\n")
	var want []string
	for _, match := range regexp.MustCompile(`(?m)\A(?: +- duroxide\.\w+\n)+`).FindAllString(list, 1) {
		for _, table := range regexp.MustCompile(`duroxide\.(\w+)`).FindAllStringSubmatch(match, -1) {
			want = append(want, table[1])
		}
	}
	if !slices.Equal(order, want) {
		t.Errorf("the picture has the order %q, and the linter %q", order, want)
	}
	if tables := slices.Sorted(slices.Values(order)); !slices.Equal(tables, schemaTables(t)) {
		t.Errorf("the picture has %q, and the scripts %q", tables, schemaTables(t))
	}
	for _, m := range readModules(t) {
		transaction := section(m.header, "Transaction:")
		if !strings.HasPrefix(transaction, "its own") && !strings.HasPrefix(transaction, "the caller's") {
			continue
		}
		// What is separated by then or a semicolon is locked in different transactions, or after the first were read.
		for _, part := range regexp.MustCompile(`; |\bthen\b`).Split(section(m.header, "Locks:"), -1) {
			last := -1
			for _, locked := range locks(part) {
				at := slices.Index(order, locked)
				if at >= 0 && at < last {
					t.Errorf("%s names %s after %s, and the picture has it before", m.name, locked, order[last])
				}
				last = max(last, at)
			}
		}
	}
}

// locks are the names of tables in a section Locks without those that are only read.
func locks(text string) []string {
	var names []string
	for _, match := range regexp.MustCompile(`(\w+)( \([^)]*\))?`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(match[2], "shared") && !strings.Contains(match[2], "read") {
			names = append(names, match[1])
		}
	}
	return names
}

// A batch of the README is one call, or a query at the end.
type batch struct {
	procedure string          // empty for the query
	changed   map[string]bool // the tables whose rows are others than before
}

// The picture of an orchestration's life says which procedures the batches of the README call, and which tables each
// of them changes.
func checkLife(t *testing.T, batches []batch) {
	t.Helper()
	picture := mermaid(t, "The life of an orchestration")
	lines := map[string][]string{} // the tables of a participant
	var drawn []string
	for _, match := range regexp.MustCompile(`(?m)^ +participant (\w+) as (.*)$`).FindAllStringSubmatch(picture, -1) {
		lines[match[1]] = strings.Split(match[2], ", ")
		drawn = append(drawn, lines[match[1]]...)
	}
	var want []string
	for _, b := range batches {
		if b.procedure == "" {
			continue
		}
		for table := range b.changed {
			if !slices.Contains(drawn, table) {
				t.Errorf("%s changes %s, which is not in the picture", b.procedure, table)
			}
		}
		var arrows []string
		for participant, tables := range lines {
			if slices.ContainsFunc(tables, func(table string) bool { return b.changed[table] }) {
				arrows = append(arrows, fmt.Sprintf("%s to %s", b.procedure, participant))
			}
		}
		slices.Sort(arrows)
		want = append(want, strings.Join(arrows, ", "))
	}
	// Arrows of one procedure, one after the other, are one call.
	var got, call []string
	last := ""
	for _, match := range regexp.MustCompile(`(?m)^ +\w+->>(\w+): (\w+) `).FindAllStringSubmatch(picture, -1) {
		if match[2] != last {
			got, call, last = append(got, ""), nil, match[2]
		}
		call = append(call, fmt.Sprintf("%s to %s", match[2], match[1]))
		slices.Sort(call)
		got[len(got)-1] = strings.Join(call, ", ")
	}
	if !slices.Equal(got, want) {
		t.Errorf("the picture has\n%s\nand the batches did\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
