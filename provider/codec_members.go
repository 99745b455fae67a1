package provider

// maxFields is the largest number of fields of one object: an event's envelope
// and OrchestrationStarted.
const maxFields = 18

// members finds the fields of an object being read. Fields are asked for in
// wire order, which is the order they have in stored text, so that the next one
// is normally at the cursor. Where it is not, because a key is unknown, out of
// order or spelt with escapes, the rest of the object is listed first and
// fields are taken from the list.
type members struct {
	// asked holds the keys asked for, which are all that must not repeat.
	asked [maxFields]string
	count int
	// taken says that a member was read, so that a comma comes before the next.
	taken bool
	// listed says that rest is filled; after is then the end of the object.
	listed bool
	rest   []member
	after  int
}

// member is where a member of an object is.
type member struct {
	key   []byte
	at    int // of the key
	value int // of the value
	used  bool
}

// begin enters the object.
func (m *members) begin(r *reader) { r.open('{') }

// require is find for a key that must be there.
func (m *members) require(r *reader, key string) bool {
	if m.find(r, key) {
		return true
	}
	r.key = key
	r.fail("key is missing")
	return false
}

// find moves the cursor to the value of the key. It returns false when the
// object does not have it.
func (m *members) find(r *reader, key string) bool {
	if r.err != nil {
		return false
	}
	m.asked[m.count] = key
	m.count++
	if !m.listed {
		if m.takeNext(r, key) {
			return true
		}
		m.list(r)
	}
	return m.takeListed(r, key)
}

// takeNext takes the member at the cursor if it has the key.
func (m *members) takeNext(r *reader, key string) bool {
	r.key = ""
	start := r.pos
	if m.separator(r) && r.hasKey(key) {
		r.pos += len(key) + 2
		r.colon()
		r.key = key
		m.taken = true
		return r.err == nil
	}
	r.pos = start
	return false
}

// separator moves to the next member's key. It returns false at the end of the
// object.
func (m *members) separator(r *reader) bool {
	r.space()
	if r.next('}') {
		return false
	}
	if m.taken {
		r.expect(',')
		r.space()
	}
	return r.err == nil
}

// list fills rest with the members from the cursor on.
func (m *members) list(r *reader) {
	r.key = ""
	m.listed = true
	for m.separator(r) {
		at := r.pos
		key := r.name()
		r.colon()
		m.rest = append(m.rest, member{key: key, at: at, value: r.pos})
		m.taken = true
		r.skip()
	}
	m.after = r.pos
}

// takeListed takes the key's first listed member.
func (m *members) takeListed(r *reader, key string) bool {
	for i := range m.rest {
		if entry := &m.rest[i]; !entry.used && string(entry.key) == key {
			entry.used = true
			r.pos, r.key = entry.value, key
			return true
		}
	}
	return false
}

// end leaves the object. What is left is unknown or a duplicate.
func (m *members) end(r *reader) {
	if !m.listed {
		m.list(r)
	}
	for _, entry := range m.rest {
		for _, key := range m.asked[:m.count] {
			if !entry.used && string(entry.key) == key {
				r.pos, r.key = entry.at, key
				r.fail("key occurs twice")
			}
		}
	}
	r.pos, r.key = m.after, ""
	r.close('}')
}
