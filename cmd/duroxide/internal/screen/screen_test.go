package screen

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestNoColoursOutsideATerminal(t *testing.T) {
	t.Parallel()
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, s := range []*Screen{
		New(&bytes.Buffer{}, os.Getenv),
		New(file, os.Getenv),
		{terminal: true}, // a terminal with NO_COLOR
	} {
		if got := s.Bold("a") + s.Faint("b") + s.Good("c") + s.Bad("d"); got != "abcd" {
			t.Errorf("got %q, want the bare text", got)
		}
	}
	coloured := Screen{terminal: true, colours: true}
	if got, want := coloured.Good("ok"), "\x1b[32mok\x1b[0m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBarOutsideATerminalIsAFewLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	bar := New(&out, os.Getenv).Bar("squares", 50)
	for n := range 51 {
		bar.Set(n)
	}
	bar.Stop()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 6 {
		t.Fatalf("%d lines, want one for each fifth and one for the start:\n%s", len(lines), out.String())
	}
	if want := "squares " + strings.Repeat("█", 12) + strings.Repeat("░", 18) + " 20/50"; lines[2] != want {
		t.Errorf("got  %s\nwant %s", lines[2], want)
	}
}

func TestBarOnATerminalIsOneLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	bar := (&Screen{Writer: &out, terminal: true}).Bar("squares", 2)
	bar.Set(1)
	bar.Set(1)
	bar.Set(2)
	bar.Stop()
	bar.Stop()
	if got := out.String(); strings.Count(got, "\r") != 2 || strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, "\n") {
		t.Errorf("got %q, want two drawings of one line", got)
	}
}

func TestCounterOutsideATerminalIsAFewLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	counter := New(&out, os.Getenv).Counter("squares")
	for n := range 1001 {
		counter.Set(n)
	}
	counter.Stop()
	if got := out.String(); strings.Count(got, "\n") != 10 || !strings.HasPrefix(got, "squares 1\nsquares 2\nsquares 4\n") {
		t.Errorf("got %q, want a line for each doubling up to 512", got)
	}
}

func TestCounterOnATerminalIsOneLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	counter := (&Screen{Writer: &out, terminal: true}).Counter("squares")
	counter.Stop()
	counter.Set(1)
	counter.Set(7)
	counter.Stop()
	counter.Stop()
	if got, want := out.String(), "\rsquares 1\x1b[K\rsquares 7\x1b[K\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTextFromOutsideCannotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Zürich ✓":           "Zürich ✓",
		"two\nlines\tand":    "two lines and",
		"\x1b[2Jgone\x07":    "\uFFFD[2Jgone\uFFFD",
		"bad \xff utf8":      "bad \uFFFD utf8",
		"right \u202e to le": "right \uFFFD to le",
	} {
		if got := Visible(text); got != want {
			t.Errorf("Visible(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestLinesStayLines(t *testing.T) {
	t.Parallel()
	if got, want := Lines("one\x1b[2J\r\n\ttwo\n"), "one\uFFFD[2J\uFFFD\n two\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "",
		"12345":                   "12345",
		"123456":                  "1234…",
		"ééééé":                   "ééééé",
		strings.Repeat("é", 5000): "éééé…",
	} {
		if got := Preview(text, 5); got != want {
			t.Errorf("Preview(%.20q) = %q, want %q", text, got, want)
		}
	}
}
