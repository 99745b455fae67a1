package screen

import (
	"fmt"
	"strconv"
	"strings"
)

// Bar shows progress towards a total. On a terminal it is one line that moves;
// elsewhere it is a new line for every fifth of the way.
type Bar struct {
	screen *Screen
	label  string
	total  int
	// shown is the number of fifths shown, drawn the line that stands open.
	shown int
	drawn string
}

// barWidth is the number of characters of a full bar.
const barWidth = 30

// Bar returns a bar at zero. total must be positive.
func (s *Screen) Bar(label string, total int) *Bar {
	return &Bar{screen: s, label: label, total: total, shown: -1}
}

// Set shows that n of the total are done.
func (b *Bar) Set(n int) {
	if b.screen.terminal {
		if line := b.line(n); line != b.drawn {
			b.drawn = line
			b.screen.Printf("\r%s\x1b[K", line)
		}
		return
	}
	if fifths := 5 * n / b.total; fifths > b.shown {
		b.shown = fifths
		b.screen.Printf("%s\n", b.line(n))
	}
}

// Stop leaves the bar as it is, so that other lines can follow. Set goes on with
// a new one.
func (b *Bar) Stop() {
	if b.drawn != "" {
		b.drawn = ""
		b.screen.Printf("\n")
	}
}

func (b *Bar) line(n int) string {
	full := min(barWidth*n/b.total, barWidth)
	bar := b.screen.Good(strings.Repeat("█", full)) + b.screen.Faint(strings.Repeat("░", barWidth-full))
	return fmt.Sprintf("%s %s %*d/%d", b.label, bar, len(strconv.Itoa(b.total)), n, b.total)
}
