package function

import (
	"strconv"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// JSON is read where it stands: a value is a piece of the text, and nothing is copied but strings with escapes. The
// scanner goes over each byte once and needs no recursion, however deep a document is.

// jsonKind is the kind of a JSON value, numbered as OPENJSON does in its column type.
type jsonKind uint8

const (
	jsonNull jsonKind = iota
	jsonString
	jsonNumber
	jsonBool
	jsonArray
	jsonObject
)

// jsonSpan is a value within a text.
type jsonSpan struct {
	from, to int
	kind     jsonKind
}

// raw returns the text of a value.
func (v jsonSpan) raw(s string) string { return s[v.from:v.to] }

// scalar returns the content of a string, and the text of a number or a truth value.
func (v jsonSpan) scalar(s string) string {
	if v.kind == jsonString {
		return unescape(s[v.from+1 : v.to-1])
	}
	return v.raw(s)
}

// container reports whether a value is an object or an array.
func (v jsonSpan) container() bool { return v.kind >= jsonArray }

// unexpected is the error for text that is no JSON. The server shows the end of the text as a point.
func unexpected(s string, i int) error {
	found := "."
	if i < len(s) {
		r, _ := value.DecodeRune(s[i:])
		found = string(r)
	} else {
		i = len(s)
	}
	return fault.New(13609, found, value.UTF16Len(s[:i]))
}

// maxDepth is how deep objects and arrays may nest.
const maxDepth = 128

// at returns the byte at i, and 0 behind the end.
func at(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// blank returns the place of the first byte from i on that is no white space.
func blank(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\r' || s[i] == '\t') {
		i++
	}
	return i
}

// scanValue reads the value that begins at i, behind white space.
func scanValue(s string, i int) (jsonSpan, error) {
	i = blank(s, i)
	v := jsonSpan{from: i}
	var err error
	switch c := at(s, i); c {
	case '{', '[':
		v.kind = jsonArray
		if c == '{' {
			v.kind = jsonObject
		}
		v.to, err = skipContainer(s, i)
	default:
		v.to, v.kind, err = skipScalar(s, i)
	}
	return v, err
}

// scanDocument reads a text that is one value and nothing else.
func scanDocument(s string) (jsonSpan, error) {
	v, err := scanValue(s, 0)
	if err != nil {
		return v, err
	}
	if i := blank(s, v.to); i < len(s) {
		return v, unexpected(s, i)
	}
	return v, nil
}

// skipScalar reads a string, a number, true, false or null.
func skipScalar(s string, i int) (int, jsonKind, error) {
	switch c := at(s, i); {
	case c == '"':
		end, err := skipString(s, i)
		return end, jsonString, err
	case c == '-' || c >= '0' && c <= '9':
		end, err := skipNumber(s, i)
		return end, jsonNumber, err
	case c == 't':
		end, err := skipWord(s, i, "true")
		return end, jsonBool, err
	case c == 'f':
		end, err := skipWord(s, i, "false")
		return end, jsonBool, err
	case c == 'n':
		end, err := skipWord(s, i, "null")
		return end, jsonNull, err
	default:
		return i, jsonNull, unexpected(s, i)
	}
}

func skipWord(s string, i int, word string) (int, error) {
	for k := range len(word) {
		if at(s, i+k) != word[k] {
			return i, unexpected(s, i+k)
		}
	}
	return i + len(word), nil
}

// skipString reads the string whose first quotation mark is at i.
func skipString(s string, i int) (int, error) {
	for k := i + 1; k < len(s); k++ {
		switch c := s[k]; {
		case c == '"':
			return k + 1, nil
		case c < ' ':
			return k, unexpected(s, k)
		case c == '\\':
			k++
			switch at(s, k) {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				for range 4 {
					k++
					if !isHex(at(s, k)) {
						return k, unexpected(s, k)
					}
				}
			default:
				return k, unexpected(s, k)
			}
		}
	}
	return len(s), unexpected(s, len(s))
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// skipNumber reads the number at i.
func skipNumber(s string, i int) (int, error) {
	if s[i] == '-' {
		i++
	}
	digits := func() bool {
		from := i
		for c := at(s, i); c >= '0' && c <= '9'; c = at(s, i) {
			i++
		}
		return i > from
	}
	if at(s, i) == '0' {
		i++
	} else if !digits() {
		return i, unexpected(s, i)
	}
	if at(s, i) == '.' {
		i++
		if !digits() {
			return i, unexpected(s, i)
		}
	}
	if c := at(s, i); c == 'e' || c == 'E' {
		i++
		if c := at(s, i); c == '+' || c == '-' {
			i++
		}
		if !digits() {
			return i, unexpected(s, i)
		}
	}
	return i, nil
}

// skipContainer reads the object or array at i and all within.
func skipContainer(s string, i int) (int, error) {
	var few [maxDepth + 1]byte
	open := few[:0] // the closing marks that are still to come
	for {
		i = blank(s, i)
		var err error
		switch c := at(s, i); c {
		case '{', '[':
			closing := c + 2 // ] and } stand two behind [ and { in ASCII
			i = blank(s, i+1)
			if at(s, i) == closing {
				i++
				break
			}
			if open = append(open, closing); len(open) > maxDepth {
				return i, fault.New(13606)
			}
			if c == '{' {
				if i, err = skipName(s, i); err != nil {
					return i, err
				}
			}
			continue
		default:
			if i, _, err = skipScalar(s, i); err != nil {
				return i, err
			}
		}
		if i, open, err = afterValue(s, i, open); err != nil || len(open) == 0 {
			return i, err
		}
	}
}

// afterValue reads what follows a value within containers: their ends, or a comma, and the name behind one in an
// object.
func afterValue(s string, i int, open []byte) (end int, rest []byte, err error) {
	for len(open) > 0 {
		i = blank(s, i)
		closing := open[len(open)-1]
		switch at(s, i) {
		case closing:
			i++
			open = open[:len(open)-1]
		case ',':
			i++
			if closing == '}' {
				i, err = skipName(s, blank(s, i))
			}
			return i, open, err
		default:
			return i, open, unexpected(s, i)
		}
	}
	return i, open, nil
}

// skipName reads a name and the colon behind it.
func skipName(s string, i int) (int, error) {
	_, _, i, err := scanName(s, i)
	return i, err
}

// scanName reads a name and the colon behind it, and returns where the name is without its quotation marks, and where
// the value can begin.
func scanName(s string, i int) (from, to, end int, err error) {
	if at(s, i) != '"' {
		return i, i, i, unexpected(s, i)
	}
	to, err = skipString(s, i)
	if err != nil {
		return i, to, to, err
	}
	end = blank(s, to)
	if at(s, end) != ':' {
		return i, to, end, unexpected(s, end)
	}
	return i + 1, to - 1, end + 1, nil
}

// members reads an object or an array step by step.
type members struct {
	s       string
	next    int // where the next member begins, or the end is
	closing byte
	index   int    // of the current member
	name    string // of the current member of an object, as it is written
	value   jsonSpan
	first   bool
}

// membersOf begins to read the container at i.
func membersOf(s string, i int) members {
	return members{s: s, next: i + 1, closing: s[i] + 2, index: -1, first: true}
}

// step reads the next member. It is false behind the last one; next is then behind the container.
func (m *members) step() (bool, error) {
	ok, err := m.begin()
	if !ok || err != nil {
		return false, err
	}
	m.value, err = scanValue(m.s, m.next)
	m.next = m.value.to
	return err == nil, err
}

// begin is step without reading the value, which is at or behind next: the caller does that, and sets next behind it.
func (m *members) begin() (bool, error) {
	i := blank(m.s, m.next)
	c := at(m.s, i)
	switch {
	case c == m.closing:
		m.next = i + 1
		return false, nil
	case m.first:
		m.first = false
	case c == ',':
		i = blank(m.s, i+1)
	default:
		return false, unexpected(m.s, i)
	}
	m.index++
	if m.closing == '}' {
		from, to, end, err := scanName(m.s, i)
		if err != nil {
			return false, err
		}
		m.name, i = m.s[from:to], end
	}
	m.next = i
	return true, nil
}

// key returns the name or the index of the current member.
func (m *members) key() string {
	if m.closing == '}' {
		return unescape(m.name)
	}
	return strconv.Itoa(m.index)
}

// unescape returns the content of a string that has been scanned. One without escapes is not copied.
func unescape(s string) string {
	i := 0
	for i < len(s) && s[i] != '\\' {
		i++
	}
	if i == len(s) {
		return s
	}
	dst := append(make([]byte, 0, len(s)), s[:i]...)
	for ; i < len(s); i++ {
		if s[i] != '\\' {
			dst = append(dst, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			n, _ := strconv.ParseUint(s[i+1:i+5], 16, 16)
			dst = value.AppendRune(dst, rune(n))
			i += 4
		default:
			dst = append(dst, c)
		}
	}
	return string(dst)
}
