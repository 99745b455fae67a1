package function

import (
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// FormatMessage puts arguments into a text as RAISERROR and FORMATMESSAGE do: %d %i %u %o %x %X for whole numbers, %s
// for text, with flags, width and precision as in C. Each of width and precision may be a * that takes an argument. An
// argument that is NULL prints as (null), and so does one that is missing.
//
// Whole numbers and text are all that it takes; an argument of another type, or one that is no number for %d, is error
// 2786.
func FormatMessage(format string, args []FormatArgument) (string, error) {
	f := messageFormatter{args: args}
	for {
		before, rest, found := strings.Cut(format, "%")
		f.out.WriteString(before)
		if !found {
			return f.out.String(), nil
		}
		n, err := f.verb(rest)
		if err != nil {
			return "", err
		}
		format = rest[n:]
	}
}

// FormatArgument is an argument of FormatMessage.
type FormatArgument struct {
	Value value.Value
	Type  value.Type
}

type messageFormatter struct {
	out  strings.Builder
	args []FormatArgument
	used int // how many arguments have been taken
}

// verb formats what stands behind a % and returns how much of the text it is.
func (f *messageFormatter) verb(s string) (int, error) {
	i := 0
	for i < len(s) && strings.IndexByte("-+0# ", s[i]) >= 0 {
		i++
	}
	flags := s[:i]
	width, i, err := f.number(s, i)
	if err != nil {
		return 0, err
	}
	precision := -1
	if at(s, i) == '.' {
		if precision, i, err = f.number(s, i+1); err != nil {
			return 0, err
		}
		precision = max(precision, 0)
	}
	if strings.HasPrefix(s[i:], "I64") {
		i += 3
	} else if c := at(s, i); c == 'h' || c == 'l' {
		i++
	}
	var text string
	switch c := at(s, i); c {
	case '%':
		f.out.WriteByte('%')
		return i + 1, nil
	case 's':
		v, err := f.next(false)
		if err != nil {
			return 0, err
		}
		text = "(null)"
		if !v.IsNull() {
			text = v.Str()
		}
		if precision >= 0 {
			text = value.Slice16(text, 0, precision)
		}
	case 'd', 'i', 'u', 'o', 'x', 'X':
		v, err := f.next(true)
		if err != nil {
			return 0, err
		}
		text = "(null)"
		if !v.IsNull() {
			text = whole(v.Int(), c, flags, precision)
		}
	default:
		return 0, fault.New(2787, "%"+s[:min(len(s), i+1)])
	}
	f.pad(text, flags, width, at(s, i) != 's' && precision < 0)
	return i + 1, nil
}

// number reads a width or a precision, -1 if there is none.
func (f *messageFormatter) number(s string, i int) (n, end int, err error) {
	if at(s, i) == '*' {
		v, err := f.next(true)
		return int(min(max(v.Int(), -2047), 2047)), i + 1, err
	}
	from := i
	for c := at(s, i); c >= '0' && c <= '9'; c = at(s, i) {
		i++
	}
	if n, err = strconv.Atoi(s[from:i]); err != nil {
		return -1, i, nil //nolint:nilerr // no digits, or too many: there is none
	}
	return min(n, 2047), i, nil
}

// next takes the next argument, a number or a text; a missing one is NULL.
func (f *messageFormatter) next(number bool) (value.Value, error) {
	if f.used >= len(f.args) {
		return value.Value{}, nil
	}
	arg := f.args[f.used]
	f.used++
	v := arg.Value
	if v.Kind() == value.Variant {
		v, _ = v.Variant()
	}
	switch {
	case v.IsNull():
		return v, nil
	case v.Kind() == value.Int && !number, v.Kind() == value.String && number, v.Kind() != value.Int && v.Kind() != value.String:
		return v, fault.New(2786, f.used)
	}
	return v, nil
}

// whole formats a number. The unsigned verbs see a negative int as its 32 bits.
func whole(n int64, verb byte, flags string, precision int) string {
	var text, prefix string
	if verb == 'd' || verb == 'i' {
		text = strconv.FormatInt(n, 10)
		switch {
		case n < 0:
			text, prefix = text[1:], "-"
		case strings.Contains(flags, "+"):
			prefix = "+"
		case strings.Contains(flags, " "):
			prefix = " "
		}
	} else {
		u := uint64(n)
		if n < 0 && n >= -1<<31 {
			u = uint64(uint32(n))
		}
		base := map[byte]int{'u': 10, 'o': 8, 'x': 16, 'X': 16}[verb]
		text = strconv.FormatUint(u, base)
		if strings.Contains(flags, "#") && u != 0 {
			prefix = map[byte]string{'o': "0", 'x': "0x", 'X': "0X"}[verb]
		}
		if verb == 'X' {
			text = strings.ToUpper(text)
		}
	}
	return prefix + strings.Repeat("0", max(0, precision-len(text))) + text
}

// pad brings a text to a width. Zeros go behind the sign.
func (f *messageFormatter) pad(text, flags string, width int, number bool) {
	left := strings.Contains(flags, "-")
	if width < -1 {
		left, width = true, -width
	}
	room := max(0, width-value.UTF16Len(text))
	switch {
	case left:
		f.out.WriteString(text + strings.Repeat(" ", room))
	case number && strings.Contains(flags, "0"):
		sign := len(text) - len(strings.TrimLeft(text, "+- "))
		f.out.WriteString(text[:sign] + strings.Repeat("0", room) + text[sign:])
	default:
		f.out.WriteString(strings.Repeat(" ", room) + text)
	}
}
