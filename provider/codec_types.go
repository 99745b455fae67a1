package provider

import "math"

// codec is one JSON document on its way out or in. Its methods are the types a
// field can have; each holds both directions side by side, so that they cannot
// drift apart. An error sticks to the writer or reader: it ends no method early,
// but nothing more is read, and the result is thrown away.
//
// Three words tell how a field behaves when it is absent: a plain field must be
// there, a nullable one is written as null, an optional one is left out. Reading
// accepts a missing key and null for both of the latter.
//
// Everything is held by value and called statically, which keeps a codec on the
// stack.
type codec struct {
	writing bool
	w       writer
	r       reader
	m       members // of the object being read
}

// open begins a body of fields.
func (c *codec) open() {
	if c.writing {
		c.w.raw("{")
		return
	}
	c.m.begin(&c.r)
}

// close ends it. Reading skips unknown members and refuses duplicates.
func (c *codec) close() {
	if c.writing {
		c.w.raw("}")
		return
	}
	c.m.end(&c.r)
}

// field writes the key, or moves to the value of a key that must be there. It
// reports whether the value is next.
func (c *codec) field(key string) bool {
	if c.writing {
		c.w.key(key)
		return true
	}
	return c.m.require(&c.r, key)
}

// present moves to the value of a key that may be missing or null. It reports
// whether there is a value to read.
func (c *codec) present(key string) bool {
	return c.m.find(&c.r, key) && !c.r.null()
}

func (c *codec) text(key string, p *string) {
	if !c.field(key) {
		return
	}
	if c.writing {
		c.w.text(*p)
	} else {
		*p = c.r.text()
	}
}

func (c *codec) number(key string, p *uint64) {
	if !c.field(key) {
		return
	}
	if c.writing {
		c.w.number(*p)
	} else {
		*p = c.r.number(math.MaxUint64)
	}
}

// count is a number of 32 bits.
func (c *codec) count(key string, p *uint32) {
	if !c.field(key) {
		return
	}
	if c.writing {
		c.w.number(uint64(*p))
	} else {
		*p = uint32(c.r.number(math.MaxUint32)) // bounded by the argument
	}
}

func (c *codec) flag(key string, p *bool) {
	if !c.field(key) {
		return
	}
	if c.writing {
		c.w.flag(*p)
	} else {
		*p = c.r.flag()
	}
}

// numberOrZero is a number whose missing key means 0. null is an error.
func (c *codec) numberOrZero(key string, p *uint64) {
	if c.writing {
		c.number(key, p)
	} else if c.m.find(&c.r, key) {
		*p = c.r.number(math.MaxUint64)
	}
}

// numberUnlessZero is a number that is left out when it is 0.
func (c *codec) numberUnlessZero(key string, p *uint64) {
	switch {
	case !c.writing && c.present(key):
		*p = c.r.number(math.MaxUint64)
	case c.writing && *p != 0:
		c.number(key, p)
	}
}

// textUnlessEmpty is a text that is left out when it is empty.
func (c *codec) textUnlessEmpty(key string, p *string) {
	switch {
	case !c.writing && c.present(key):
		*p = c.r.text()
	case c.writing && *p != "":
		c.text(key, p)
	}
}

// flagUnlessFalse is a flag that is left out when it is false.
func (c *codec) flagUnlessFalse(key string, p *bool) {
	switch {
	case !c.writing && c.present(key):
		*p = c.r.flag()
	case c.writing && *p:
		c.flag(key, p)
	}
}

func (c *codec) nullableText(key string, p **string) {
	if c.writing && *p == nil {
		c.w.null(key)
		return
	}
	c.optionalText(key, p)
}

func (c *codec) optionalText(key string, p **string) {
	switch {
	case !c.writing && c.present(key):
		s := c.r.text()
		*p = &s
	case c.writing && *p != nil:
		c.text(key, *p)
	}
}

func (c *codec) nullableNumber(key string, p **uint64) {
	if c.writing && *p == nil {
		c.w.null(key)
		return
	}
	c.optionalNumber(key, p)
}

func (c *codec) optionalNumber(key string, p **uint64) {
	switch {
	case !c.writing && c.present(key):
		n := c.r.number(math.MaxUint64)
		*p = &n
	case c.writing && *p != nil:
		c.number(key, *p)
	}
}

// pairs is a list whose missing key means an empty one. null is an error.
func (c *codec) pairs(key string, p *[]CarriedMessage) {
	if c.writing {
		c.w.key(key)
		c.w.pairs(*p)
	} else if c.m.find(&c.r, key) {
		*p = c.r.pairs()
	}
}

// optionalPairs is a list that is left out when empty. The reference writes an empty
// one in one place; it reads like none.
func (c *codec) optionalPairs(key string, p *[]CarriedMessage) {
	switch {
	case !c.writing && c.present(key):
		*p = c.r.pairs()
	case c.writing && len(*p) > 0:
		c.pairs(key, p)
	}
}

// kind is an event's type with, on the same level, the kind's own fields.
func (c *codec) kind(key string, p *EventKind) {
	if c.writing {
		if c.eventKind(*p) == nil {
			c.unknown("event kind", *p)
		}
	} else if c.field(key) {
		*p = c.eventKind(lookup(&c.r, "event type", eventKinds))
	}
}

// tag writes an event's type. A reader has taken it already to get here.
func (c *codec) tag(name string) *codec {
	if c.writing {
		c.w.key("type")
		c.w.text(name)
	}
	return c
}

//nolint:unparam // the field lists name every key, also where it is always the same
func (c *codec) details(key string, p *ErrorDetails) {
	if !c.field(key) {
		return
	}
	outer, details := c.nest(), *p
	if !c.writing {
		details = openVariant(c, "error details", errorDetails)
	}
	if *p = c.errorDetails(details); *p == nil {
		c.unknown("error details", details)
	}
	c.closeVariant()
	c.m = outer
}

func (c *codec) messageType(key string, p *PoisonMessageType) {
	if !c.field(key) {
		return
	}
	outer, message := c.nest(), *p
	if !c.writing {
		message = openVariant(c, "message type", messageTypes)
	}
	if *p = c.poisonMessage(message); *p == nil {
		c.unknown("message type", message)
	}
	c.closeVariant()
	c.m = outer
}

// applicationKind is a name, or for a cancellation an object that holds the
// reason. A reason beside any other kind has no place on the wire.
func (c *codec) applicationKind(key string, kind *AppErrorKind, reason *string) {
	if !c.field(key) {
		return
	}
	if c.writing && *kind != AppCancelled || !c.writing && c.r.next('"') {
		fixedName(c, "error kind", applicationKinds, kind)
		return
	}
	outer := c.nest()
	if !c.writing {
		*kind = openVariant(c, "error kind", cancelledKind)
	}
	c.variant(string(AppCancelled)).text("reason", reason)
	c.closeVariant()
	c.m = outer
}

func (c *codec) configurationKind(key string, p *string) {
	if c.field(key) {
		fixedName(c, "configuration kind", configurationKinds, p)
	}
}

// fixedName is a text out of a fixed set.
func fixedName[T ~string](c *codec, what string, known map[string]T, p *T) {
	if !c.writing {
		*p = lookup(&c.r, what, known)
		return
	}
	if _, ok := known[string(*p)]; !ok {
		c.unknown(what, *p)
	}
	c.w.text(string(*p))
}

// variant writes what precedes the fields of an externally tagged value,
// {"Name":{. A reader has taken it already, with openVariant.
func (c *codec) variant(name string) *codec {
	if c.writing {
		c.w.raw("{")
		c.w.key(name)
		c.open()
	}
	return c
}

// openVariant reads what variant writes and returns the zero value of the named
// type, or the zero T after an error.
func openVariant[T any](c *codec, what string, known map[string]T) T {
	c.r.open('{')
	zero := lookup(&c.r, what, known)
	c.r.colon()
	c.open()
	return zero
}

// closeVariant ends what variant or openVariant began. A second key is an error.
func (c *codec) closeVariant() {
	c.close()
	if c.writing {
		c.w.raw("}")
		return
	}
	c.r.only()
}

// nest sets the object's members aside while one inside it is read.
func (c *codec) nest() (outer members) {
	outer, c.m = c.m, members{}
	return outer
}

// unknown fails a write. Reading has failed already, where the name was.
func (c *codec) unknown(what string, value any) {
	if c.writing {
		c.w.unknown(what, value)
	}
}
