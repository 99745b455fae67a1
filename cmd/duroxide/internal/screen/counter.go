package screen

// Counter shows progress towards an end that nobody knows. On a terminal it is one line that
// counts; elsewhere it is a new line whenever the number has doubled.
type Counter struct {
	screen *Screen
	label  string
	// next is the number at which there is another line; open says that the line stands open.
	next int
	open bool
}

// Counter returns a counter at zero, which shows nothing yet.
func (s *Screen) Counter(label string) *Counter { return &Counter{screen: s, label: label, next: 1} }

// Set shows that n are done.
func (c *Counter) Set(n int) {
	if c.screen.terminal {
		c.open = true
		c.screen.Printf("\r%s %d\x1b[K", c.label, n)
		return
	}
	if n >= c.next {
		c.next = 2 * n
		c.screen.Printf("%s %d\n", c.label, n)
	}
}

// Stop leaves the number as it is, so that other lines can follow.
func (c *Counter) Stop() {
	if c.open {
		c.open = false
		c.screen.Printf("\n")
	}
}
