package interleave

import (
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

var update = flag.Bool("update", false, "rewrite testdata/effects.txt")

// TestEffects compares what every operation answers and changes in the world, to the millisecond, with
// testdata/effects.txt. Whoever changes a procedure sees there what else it does now; with -update the file is written
// anew.
func TestEffects(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "effects.txt")
	lab := NewLab(t, Variant{})
	var all []string
	for _, d := range deeds() {
		all = append(all, d.effect(t, lab))
	}
	got := strings.Join(all, "\n\n")
	if *update {
		if err := os.WriteFile(file, []byte(got+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if d := compare(got, strings.Join(written(t), "\n\n")); d != "" {
		t.Errorf("not as in %s:%s", file, d)
	}
}

// written are the parts of testdata/effects.txt, each with its title.
func written(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "effects.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n\n")
}

// deeds are the operations of the matrix, and those that are only looked at alone.
func deeds() []deed {
	var all []deed
	for _, o := range operations() {
		all = append(all, deed{name: o.name, after: 10 * time.Second, batch: o.batch("a", 1)})
	}
	return append(all, alone()...)
}

// deed is a batch that is executed in the world, when something has happened and some time has passed.
type deed struct {
	name, before string
	after        time.Duration
	batch        string
}

// effect is a title and lines: what it answers, and which rows are others behind it.
func (d deed) effect(t *testing.T, lab *Lab) string {
	t.Helper()
	var text strings.Builder
	r := tsqltest.Search(t, tsqltest.Scenario{Base: lab.world(), Sessions: []tsqltest.Session{{Name: "one", Run: func(p *tsqltest.Player) error {
		text.Reset()
		text.WriteString("# " + d.name + "\n")
		if d.before != "" {
			if _, err := p.Exec(d.before); err != nil {
				return err
			}
		}
		p.Advance(d.after)
		before, err := rows(p)
		if err != nil {
			return err
		}
		r, err := p.Exec(d.batch)
		if e, ok := errors.AsType[*tsqltest.Error](err); ok {
			fmt.Fprintf(&text, "error %d\n", e.Number)
		} else if err != nil {
			return err
		}
		if r != nil {
			fmt.Fprintf(&text, "touches fewer than %d keys\n", 1<<bits.Len(uint(r.Keys().Total())))
			for i, s := range r.Sets {
				for _, row := range s.Rows {
					fmt.Fprintf(&text, "%d %s\n", i+1, line(p, s.Columns, row))
				}
			}
		}
		after, err := rows(p)
		difference(&text, before, after)
		return err
	}}}}, tsqltest.Exploration{Preemptions: -1})
	if r.Failure != nil {
		t.Fatalf("%s: %v", d.name, r.Failure)
	}
	return strings.TrimSpace(text.String())
}

// tables are all that hold something.
var tables = []string{
	"code_names", "known_code", "known_code_names", "known_code_tags", "framework_versions", "inboxes", "orchestrator_queue", "instances", "executions",
	"history", "kv_store", "kv_delta", "worker_queue", "sessions", "dead_letters",
}

// rows are all rows, as lines, sorted.
func rows(p *tsqltest.Player) ([]string, error) {
	var lines []string
	for _, table := range tables {
		r, err := p.Exec("SELECT * FROM duroxide." + table + ";") //nolint:unqueryvet // whatever columns there are
		if err != nil {
			return nil, err
		}
		for _, row := range r.Sets[0].Rows {
			lines = append(lines, table+" "+line(p, r.Sets[0].Columns, row))
		}
	}
	slices.Sort(lines)
	return lines, nil
}

// line is a row without what is NULL. Times are relative to now.
func line(p *tsqltest.Player, columns []string, row []any) string {
	var parts []string
	for i, value := range row {
		switch v := value.(type) {
		case nil:
			continue
		case int64:
			if ms := v - p.Now().UnixMilli(); -1e8 < ms && ms < 1e8 {
				value = fmt.Sprintf("%+dms", ms)
			}
		case []byte:
			value = hex.EncodeToString(v)
		case string:
			value = strings.TrimPrefix(v, "00000000-0000-0000-0000-")
		}
		parts = append(parts, fmt.Sprintf("%s=%v", columns[i], value))
	}
	return strings.Join(parts, " ")
}

// difference writes the lines that only one of two lists has.
func difference(text *strings.Builder, before, after []string) {
	for _, l := range before {
		if !slices.Contains(after, l) {
			fmt.Fprintf(text, "- %s\n", l)
		}
	}
	for _, l := range after {
		if !slices.Contains(before, l) {
			fmt.Fprintf(text, "+ %s\n", l)
		}
	}
}

func sortByName(all []deed) {
	slices.SortFunc(all, func(a, b deed) int { return strings.Compare(a.name, b.name) })
}
