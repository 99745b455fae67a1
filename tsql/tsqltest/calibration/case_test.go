package calibration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// A script is a file below testdata. It begins with sentences on what it is about. The part "setup" has the batches
// that come first, separated by GO. Every other part is a case, a list of steps; its name says under which isolation
// levels it runs, separated by commas, or just what it shows.
type script struct {
	name  string
	setup []string
	cases []scriptCase
}

// scriptCase is one part of a script.
type scriptCase struct {
	name  string
	steps []step
}

// A step is something that a session executes, or the end of what it was executing:
//
//	T1: a statement
//	  | and its other lines
//	    what it returns, a line for each row, error and message
//	T2 goes on
//	    what it returns in the end
//
// Values in a row are separated by commas, texts stand in quotes; "no rows" is an empty result set. A number of an
// error may have its text after a colon. "waits" says that the statement waits for another session.
type step struct {
	line     int
	session  string
	text     string // empty for "goes on"
	expected []string
}

const (
	waits   = "waits"
	goesOn  = " goes on"
	more    = "  | "
	returns = "    "
)

func (s step) waits() bool { return len(s.expected) == 1 && s.expected[0] == waits }

// timesOut reports whether the step ends with the error for a lock that was not granted in time.
func (s step) timesOut() bool {
	return slices.ContainsFunc(s.expected, func(line string) bool { return strings.HasPrefix(line, "error 1222") })
}

// find returns the case of a name; nil if there is none.
func (s script) find(name string) *scriptCase {
	for i := range s.cases {
		if slices.Contains(strings.Split(s.cases[i].name, ", "), name) {
			return &s.cases[i]
		}
	}
	return nil
}

// scripts reads a directory below testdata.
func scripts(t *testing.T, directory string) []script {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", directory, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts in %s: %v", directory, err)
	}
	list := make([]script, len(paths))
	for i, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if list[i], err = parseScript(txtar.Parse(data)); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		list[i].name = strings.TrimSuffix(filepath.Base(path), ".txtar")
	}
	return list
}

func parseScript(archive *txtar.Archive) (script, error) {
	var s script
	for _, part := range archive.Files {
		if part.Name == "setup" {
			s.setup = batches(string(part.Data))
			continue
		}
		steps, err := parseSteps(string(part.Data))
		if err != nil {
			return s, fmt.Errorf("%s: %w", part.Name, err)
		}
		s.cases = append(s.cases, scriptCase{part.Name, steps})
	}
	return s, nil
}

// batches splits at lines that say GO.
func batches(text string) []string {
	var list []string
	var b strings.Builder
	for line := range strings.Lines(text + "\nGO\n") {
		if strings.TrimSpace(line) != "GO" {
			b.WriteString(line)
			continue
		}
		if strings.TrimSpace(b.String()) != "" {
			list = append(list, b.String())
		}
		b.Reset()
	}
	return list
}

func parseSteps(text string) ([]step, error) {
	var steps []step
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, " \n")
		name, statement, isStep := strings.Cut(line, ": ")
		last := len(steps) - 1
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, more) && last >= 0:
			steps[last].text += "\n" + strings.TrimPrefix(line, more)
		case strings.HasPrefix(line, returns) && last >= 0:
			steps[last].expected = append(steps[last].expected, strings.TrimSpace(line))
		case strings.HasSuffix(line, goesOn):
			steps = append(steps, step{line: number, session: strings.TrimSuffix(line, goesOn)})
		case isStep && !strings.Contains(name, " "):
			steps = append(steps, step{line: number, session: name, text: statement})
		default:
			return nil, fmt.Errorf("line %d is no step: %s", number, line)
		}
	}
	return steps, nil
}

func TestParseSteps(t *testing.T) {
	t.Parallel()
	steps, err := parseSteps("# why\nT1: SELECT 1\n  | AS a\n    1\n\nT2: UPDATE t\n    waits\nT2 goes on\n    error 1205\n")
	if err != nil || len(steps) != 3 {
		t.Fatalf("%v, %v", steps, err)
	}
	if steps[0].text != "SELECT 1\nAS a" || !steps[1].waits() || steps[2].text != "" || steps[2].expected[0] != "error 1205" {
		t.Errorf("%+v", steps)
	}
	for _, wrong := range []string{"SELECT 1", "    1\nT1: SELECT 1", "a b: SELECT 1"} {
		if _, err := parseSteps(wrong); err == nil {
			t.Errorf("%q is taken for steps", wrong)
		}
	}
}
