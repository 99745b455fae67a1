package function

import (
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// jsonPath is a path such as lax $.lines[0]."unit price".
type jsonPath struct {
	strict bool // what is missing is an error; in lax mode, the default, it is NULL
	append bool // of JSON_MODIFY
	// identity marks $.sql:identity(), which OPENJSON has for the number of the row, from 0.
	identity bool
	steps    []jsonStep
}

// jsonStep leads from an object to a member, or from an array to an element.
type jsonStep struct {
	key   string
	index int // -1 for a key
}

// parsePath reads a path.
func parsePath(text string) (jsonPath, error) {
	var p jsonPath
	i := blank(text, 0)
	word := func(w string) bool {
		rest := text[i:]
		if len(rest) > len(w) && strings.EqualFold(rest[:len(w)], w) && (rest[len(w)] == ' ' || rest[len(w)] == '$') {
			i = blank(text, i+len(w))
			return true
		}
		return false
	}
	p.append = word("append")
	if p.strict = word("strict"); !p.strict {
		word("lax")
	}
	if at(text, i) != '$' {
		return p, badPath(text, i)
	}
	i++
	if strings.TrimSpace(text[i:]) == ".sql:identity()" {
		p.identity = true
		return p, nil
	}
	for i = blank(text, i); i < len(text); i = blank(text, i) {
		step, end, err := parseStep(text, i)
		if err != nil {
			return p, err
		}
		p.steps = append(p.steps, step)
		i = end
	}
	return p, nil
}

// badPath is the error for a path that can't be read.
func badPath(text string, i int) error {
	found := "."
	if i < len(text) {
		r, _ := value.DecodeRune(text[i:])
		found = string(r)
	}
	return fault.New(13607, found, value.UTF16Len(text[:min(i, len(text))]))
}

// parseStep reads one of .key, ."key" and [n].
func parseStep(text string, i int) (step jsonStep, end int, err error) {
	switch text[i] {
	case '[':
		from := blank(text, i+1)
		end = from
		for at(text, end) >= '0' && at(text, end) <= '9' {
			end++
		}
		n, err := strconv.Atoi(text[from:end])
		if err != nil {
			return step, end, badPath(text, end)
		}
		end = blank(text, end)
		if at(text, end) != ']' {
			return step, end, badPath(text, end)
		}
		return jsonStep{index: n}, end + 1, nil
	case '.':
		i = blank(text, i+1)
		if at(text, i) == '"' {
			end, err = skipString(text, i)
			if err != nil {
				return step, end, badPath(text, end)
			}
			return jsonStep{key: unescape(text[i+1 : end-1]), index: -1}, end, nil
		}
		end = i
		for end < len(text) && isKeyByte(text[end], end > i) {
			end++
		}
		if end == i {
			return step, end, badPath(text, i)
		}
		return jsonStep{key: text[i:end], index: -1}, end, nil
	default:
		return step, i, badPath(text, i)
	}
}

// isKeyByte reports whether a byte can be part of a key without quotation marks.
func isKeyByte(c byte, inside bool) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80 || inside && c >= '0' && c <= '9'
}

// find follows the path in a document, which must be an object or an array. Of members with the same name, it is the
// first. The text behind what it looks for is not read.
func (p jsonPath) find(s string) (v jsonSpan, found bool, err error) {
	i := blank(s, 0)
	if c := at(s, i); c != '{' && c != '[' {
		return v, false, unexpected(s, i)
	}
	return findFrom(s, i, p.steps)
}

// findFrom follows steps from the value at i.
func findFrom(s string, i int, steps []jsonStep) (v jsonSpan, found bool, err error) {
	i = blank(s, i)
	for _, step := range steps {
		i, found, err = step.take(s, i)
		if !found || err != nil {
			return v, false, err
		}
	}
	v, err = scanValue(s, i)
	return v, err == nil, err
}

// take returns where the member begins that the step leads to from the value at i.
func (step jsonStep) take(s string, i int) (at int, found bool, err error) {
	i = blank(s, i)
	if i >= len(s) || step.index < 0 && s[i] != '{' || step.index >= 0 && s[i] != '[' {
		return i, false, nil
	}
	m := membersOf(s, i)
	for {
		ok, err := m.begin()
		if !ok || err != nil {
			return i, false, err
		}
		if step.leadsTo(&m) {
			return m.next, true, nil
		}
		v, err := scanValue(s, m.next)
		if err != nil {
			return i, false, err
		}
		m.next = v.to
	}
}

// leadsTo reports whether the step leads to the current member.
func (step jsonStep) leadsTo(m *members) bool {
	if step.index >= 0 {
		return m.index == step.index
	}
	return m.name == step.key || strings.IndexByte(m.name, '\\') >= 0 && unescape(m.name) == step.key
}

// pathArgument returns how to get the path of a call, the second argument: read once if it is a literal.
func (c *bindCall) pathArgument() func(args []value.Value) (jsonPath, error) {
	const i = 1
	if i >= len(c.args) {
		return func([]value.Value) (jsonPath, error) { return jsonPath{}, nil }
	}
	if text, ok := c.args[i].literalText(); ok {
		p, err := c.path(text)
		return func([]value.Value) (jsonPath, error) { return p, err }
	}
	return func(args []value.Value) (jsonPath, error) { return c.path(args[i].Str()) }
}

// path reads a path that the call may have: append is for JSON_MODIFY alone.
func (c *bindCall) path(text string) (jsonPath, error) {
	p, err := parsePath(text)
	if err == nil && (p.identity || p.append && c.name != "JSON_MODIFY") {
		err = badPath(text, blank(text, 0))
	}
	return p, err
}
