package provider

// skip takes a value of any kind. Recursion is bounded by maxDepth.
func (r *reader) skip() {
	if r.err != nil {
		return
	}
	switch {
	case r.next('{'):
		r.skipList('{', '}', func() {
			r.quoted()
			r.colon()
			r.skip()
		})
	case r.next('['):
		r.skipList('[', ']', r.skip)
	case r.next('"'):
		r.quoted()
	case r.literal("true"), r.literal("false"), r.literal("null"):
	default:
		r.skipNumber()
	}
}

func (r *reader) skipList(first, last byte, element func()) {
	r.open(first)
	for n := 0; r.err == nil && !r.next(last); n++ {
		if n > 0 {
			r.expect(',')
			r.space()
		}
		element()
		r.space()
	}
	r.close(last)
}

// skipNumber takes a number of any form JSON knows.
func (r *reader) skipNumber() {
	if r.next('-') {
		r.pos++
	}
	zero := r.next('0')
	if n := r.digits(); n == 0 || zero && n > 1 {
		r.fail("expected a value")
		return
	}
	if r.next('.') {
		r.pos++
		if r.digits() == 0 {
			r.fail("expected a digit")
		}
	}
	if r.next('e') || r.next('E') {
		r.pos++
		if r.next('+') || r.next('-') {
			r.pos++
		}
		if r.digits() == 0 {
			r.fail("expected a digit")
		}
	}
}

// digits takes digits and returns how many.
func (r *reader) digits() int {
	start := r.pos
	for r.pos < len(r.data) && isDigit(r.data[r.pos]) {
		r.pos++
	}
	return r.pos - start
}
