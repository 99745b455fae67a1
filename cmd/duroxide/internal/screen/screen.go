// Package screen writes for people: colours and a moving progress bar on a
// terminal, plain lines everywhere else.
package screen

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"unicode"

	// Already linked by the SQLite driver, and it knows the terminals of Windows.
	"github.com/mattn/go-isatty"
)

// Screen is a writer for people. It keeps the first error of a write for the end of the
// program, so that what writes line by line need not look at it.
type Screen struct {
	io.Writer

	terminal bool
	colours  bool

	mu  sync.Mutex
	err error
}

// New returns a screen on w. Colours need a terminal, and that the environment
// variable NO_COLOR is not set (https://no-color.org).
func New(w io.Writer, getenv func(string) string) *Screen {
	terminal := IsTerminal(w) && getenv("TERM") != "dumb"
	return &Screen{Writer: w, terminal: terminal, colours: terminal && getenv("NO_COLOR") == ""}
}

// IsTerminal reports whether somebody types into what is read, or sees what is written.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && (isatty.IsTerminal(file.Fd()) || isatty.IsCygwinTerminal(file.Fd()))
}

// Printf writes. [Screen.Err] tells whether that failed.
func (s *Screen) Printf(format string, args ...any) { _, _ = fmt.Fprintf(s, format, args...) }

// Write writes to what the screen was made on.
func (s *Screen) Write(data []byte) (int, error) {
	n, err := s.Writer.Write(data)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = cmp.Or(s.err, err)
	}
	return n, err
}

// Err is the first error of a write, nil if all is written.
func (s *Screen) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Bold is for headings.
func (s *Screen) Bold(text string) string { return s.colour("1", text) }

// Faint is for what need not be read.
func (s *Screen) Faint(text string) string { return s.colour("2", text) }

// Good is for success.
func (s *Screen) Good(text string) string { return s.colour("32", text) }

// Bad is for failure.
func (s *Screen) Bad(text string) string { return s.colour("1;31", text) }

func (s *Screen) colour(code, text string) string {
	if !s.colours || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Visible makes text from outside safe to print: one line without control
// characters, which could otherwise steer the terminal.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// Lines is [Visible] for text of several lines, which stay.
func Lines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Visible(line)
	}
	return strings.Join(lines, "\n")
}

// Preview is [Visible], cut to at most limit characters.
func Preview(text string, limit int) string {
	if len(text) > 4*limit {
		text = text[:4*limit] // no character is longer than 4 bytes
	}
	runes := []rune(Visible(text))
	if len(runes) <= limit {
		return string(runes)
	}
	return string(runes[:limit-1]) + "…"
}

// Counted says how many things there are: "1 byte", "2 bytes".
func Counted(n uint64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.FormatUint(n, 10) + " " + thing + "s"
}
