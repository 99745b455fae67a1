package global

// A test may replace what is fixed in the program.
func replace() { replaced = func() int { return 2 } }
