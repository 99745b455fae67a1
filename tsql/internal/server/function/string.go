package function

import (
	"strings"
	"unicode"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// Functions that measure a text, cut it, and put texts together.

var stringFunctions = map[string]binder{
	"ASCII":      textFunction(ascii),
	"UNICODE":    textFunction(unicodeOf),
	"LOWER":      textFunction(caseOf(unicode.ToLower)),
	"UPPER":      textFunction(caseOf(unicode.ToUpper)),
	"REVERSE":    textFunction(reverse),
	"LEN":        bindLen,
	"DATALENGTH": bindDataLength,
	"LEFT":       bindLeft,
	"RIGHT":      bindLeft,
	"SUBSTRING":  bindSubstring,
	"STUFF":      bindStuff,
	"REPLICATE":  bindReplicate,
	"SPACE":      plain(space, typeInt),
	"CONCAT":     bindConcat,
	"CONCAT_WS":  bindConcatWS,
	"CHAR":       bindChar,
	"NCHAR":      bindNChar,
	"QUOTENAME":  bindQuoteName,
}

// textFunction makes a binder of a function of one text.
func textFunction(f func(c *bindCall, m matcher, s string) value.Value) binder {
	return func(c *bindCall) (*Bound, error) {
		m := matcherOf(c.collationOr())
		return simple(func(args []value.Value) (value.Value, error) { return f(c, m, args[0].Str()), nil }, c.text(0)), nil
	}
}

// ascii returns the first byte of a text in its code page; NULL of the empty text.
func ascii(c *bindCall, _ matcher, s string) value.Value {
	if s == "" {
		return value.Value{}
	}
	_, size := value.DecodeRune(s)
	return value.OfInt(int64(value.EncodeVarchar(nil, s[:size], c.collation())[0]))
}

// unicodeOf returns the first character of a text, or the first half of its surrogate pair.
func unicodeOf(_ *bindCall, m matcher, s string) value.Value {
	if s == "" {
		return value.Value{}
	}
	r, _ := value.DecodeRune(s)
	if r > 0xFFFF && !m.byCharacters {
		r = 0xD800 + (r-0x10000)>>10
	}
	return value.OfInt(int64(r))
}

// caseOf changes the case of each character for itself, so that no text gets longer. In varchar, a character stays if
// the code page doesn't have the other one.
func caseOf(change func(rune) rune) func(*bindCall, matcher, string) value.Value {
	return func(c *bindCall, _ matcher, s string) value.Value {
		national := c.args[0].Type.IsNational()
		dst := make([]byte, 0, len(s))
		for rest := s; rest != ""; {
			r, size := value.DecodeRune(rest)
			other := change(r)
			if other != r && r >= 0x80 && !national && !inCodePage(other, c.collation()) {
				other = r
			}
			dst = value.AppendRune(dst, other)
			rest = rest[size:]
		}
		return value.OfString(string(dst))
	}
}

// inCodePage reports whether varchar in a collation has a character.
func inCodePage(r rune, c *value.Collation) bool {
	s := string(value.AppendRune(nil, r))
	return value.DecodeVarchar(value.EncodeVarchar(nil, s, c), c) == s
}

// reverse turns the UTF-16 units around, and so takes surrogate pairs apart unless the collation knows them.
func reverse(_ *bindCall, m matcher, s string) value.Value {
	dst := make([]byte, 0, len(s))
	for end := len(s); end > 0; {
		start := end - 1
		for start > 0 && s[start]&0xC0 == 0x80 {
			start--
		}
		r, _ := value.DecodeRune(s[start:end])
		if r > 0xFFFF && !m.byCharacters {
			dst = value.AppendRune(dst, 0xDC00+(r-0x10000)&0x3FF)
			r = 0xD800 + (r-0x10000)>>10
		}
		dst = value.AppendRune(dst, r)
		end = start
	}
	return value.OfString(string(dst))
}

// bindLen: trailing blanks don't count.
func bindLen(c *bindCall) (*Bound, error) {
	m := matcherOf(c.collationOr())
	if c.args[0].Type.IsBinary() {
		return simple(func(args []value.Value) (value.Value, error) {
			return value.OfInt(int64(len(strings.TrimRight(args[0].Str(), " ")))), nil
		}), nil
	}
	return simple(func(args []value.Value) (value.Value, error) {
		return value.OfInt(int64(m.count(strings.TrimRight(args[0].Str(), " ")))), nil
	}, c.text(0)), nil
}

func bindDataLength(c *bindCall) (*Bound, error) {
	t := c.args[0].Type
	if t.Kind == sqltype.XML {
		return nil, unsupported("DATALENGTH of xml, which is stored in a form of its own,")
	}
	return simple(func(args []value.Value) (value.Value, error) {
		return value.OfInt(value.DataLength(args[0], t)), nil
	}), nil
}

// bindLeft is LEFT and RIGHT.
func bindLeft(c *bindCall) (*Bound, error) {
	m, right, name := matcherOf(c.collationOr()), c.name == "RIGHT", strings.ToLower(c.name)
	return simple(func(args []value.Value) (value.Value, error) {
		s, n := args[0].Str(), args[1].Int()
		if n < 0 {
			return value.Value{}, fault.New(536, name)
		}
		if n >= int64(len(s)) { // a character has at least a byte
			return value.OfString(s), nil
		}
		start := 0
		if right {
			start = max(0, m.count(s)-int(n))
		}
		return value.OfString(m.slice(s, start, int(n))), nil
	}, c.text(0), typeBigInt), nil
}

// bindSubstring: what lies before the first character counts for the length, and yields nothing.
func bindSubstring(c *bindCall) (*Bound, error) {
	m, binary := matcherOf(c.collationOr()), c.args[0].Type.IsBinary()
	return simple(func(args []value.Value) (value.Value, error) {
		s, start, n := args[0].Str(), args[1].Int(), args[2].Int()
		if n < 0 {
			return value.Value{}, fault.New(537)
		}
		start--
		if start < 0 {
			n, start = n+start, 0
		}
		n, start = min(max(n, 0), int64(len(s))), min(start, int64(len(s)))
		if binary {
			return value.OfRaw(s[start:min(start+n, int64(len(s)))]), nil
		}
		return value.OfString(m.slice(s, int(start), int(n))), nil
	}, c.textOrBytes(0), typeBigInt, typeBigInt), nil
}

// bindStuff: NULL for a beginning outside of the text, and for a negative length.
func bindStuff(c *bindCall) (*Bound, error) {
	m, binary := matcherOf(c.collationOr()), c.args[0].Type.IsBinary()
	insert := c.text(3)
	if binary {
		insert = value.VarBinary(sqltype.Max)
	}
	stuff := func(args []value.Value) value.Value {
		if args[0].IsNull() || args[1].IsNull() || args[2].IsNull() {
			return value.Value{}
		}
		s, start, n := args[0].Str(), args[1].Int(), args[2].Int()
		length := int64(m.count(s))
		if binary {
			length = int64(len(s))
		}
		if start < 1 || start > length || n < 0 {
			return value.Value{}
		}
		with := ""
		if !args[3].IsNull() {
			with = args[3].Str()
		}
		end := min(start-1+min(n, length), length)
		if binary {
			return value.OfRaw(s[:start-1] + with + s[end:])
		}
		out := value.Concat(value.Concat(m.slice(s, 0, int(start-1)), with), m.slice(s, int(end), int(length-end)))
		return c.limited(out)
	}
	return &Bound{
		Deterministic: true, Args: []value.Type{c.textOrBytes(0), typeBigInt, typeBigInt, insert},
		Eval: func(_ Environment, args []value.Value) (value.Value, error) { return stuff(args), nil },
	}, nil
}

// limited cuts a text to the type of the call: 8,000 bytes unless it is a (max) type.
func (c *bindCall) limited(s string) value.Value {
	switch {
	case c.result.IsMax() || len(s) <= c.result.Length:
	case c.result.IsNational():
		s = value.Slice16(s, 0, c.result.Length)
	default:
		for len(s) > c.result.Length && len(value.EncodeVarchar(nil, s, c.result.Collation)) > c.result.Length {
			s = value.Slice16(s, 0, min(c.result.Length, value.UTF16Len(s)-1))
		}
	}
	return value.OfString(s)
}

// bindReplicate: up to 8,000 bytes, unless the text is of a (max) type.
func bindReplicate(c *bindCall) (*Bound, error) {
	binary := c.args[0].Type.IsBinary()
	return simple(func(args []value.Value) (value.Value, error) {
		s, n := args[0].Str(), args[1].Int()
		if n < 0 {
			return value.Value{}, nil
		}
		limit := int64(value.MaxBytes)
		if !c.result.IsMax() {
			limit = 32000 // more than 8,000 bytes of varchar or 4,000 characters can take here
		}
		if s == "" {
			n = 0
		} else {
			n = min(n, limit/int64(len(s))+1)
		}
		if err := value.CheckSize(n * int64(len(s))); err != nil {
			return value.Value{}, err
		}
		text := strings.Repeat(s, int(n))
		if binary {
			if !c.result.IsMax() {
				text = text[:min(len(text), c.result.Length)]
			}
			return value.OfRaw(text), nil
		}
		return c.limited(text), nil
	}, c.textOrBytes(0), typeBigInt), nil
}

func space(args []value.Value) (value.Value, error) {
	n := args[0].Int()
	if n < 0 {
		return value.Value{}, nil
	}
	return value.OfString(strings.Repeat(" ", int(min(n, 8000)))), nil
}

// bindConcat: NULL is the empty text.
func bindConcat(c *bindCall) (*Bound, error) {
	return &Bound{Deterministic: true, Args: c.allText(), Eval: func(_ Environment, args []value.Value) (value.Value, error) {
		return c.join("", args)
	}}, nil
}

// bindConcatWS: NULL is left out with its separator, and a separator that is NULL is empty.
func bindConcatWS(c *bindCall) (*Bound, error) {
	return &Bound{Deterministic: true, Args: c.allText(), Eval: func(_ Environment, args []value.Value) (value.Value, error) {
		separator := ""
		if !args[0].IsNull() {
			separator = args[0].Str()
		}
		return c.join(separator, args[1:])
	}}, nil
}

// allText converts all arguments to text.
func (c *bindCall) allText() []value.Type {
	types := make([]value.Type, len(c.args))
	for i := range types {
		types[i] = c.text(i)
		if c.args[i].Type.IsBinary() {
			types[i] = value.VarChar(sqltype.Max)
		}
	}
	return types
}

// join puts the texts that are not NULL together. Halves of a surrogate pair that meet become one character.
func (c *bindCall) join(separator string, args []value.Value) (value.Value, error) {
	var size int
	for _, arg := range args {
		if !arg.IsNull() {
			size += len(separator) + len(arg.Str())
		}
	}
	if err := value.CheckSize(int64(size)); err != nil {
		return value.Value{}, err
	}
	var dst []byte
	first := true
	add := func(s string) {
		if s != "" && s[0] == 0xED && len(dst) > 0 { // perhaps half a pair
			r, size := value.DecodeRune(s)
			dst = append(value.AppendRune(dst, r), s[size:]...)
			return
		}
		dst = append(dst, s...)
	}
	for _, arg := range args {
		if arg.IsNull() {
			continue
		}
		if !first {
			add(separator)
		}
		first = false
		add(arg.Str())
	}
	return c.limited(string(dst)), nil
}

// bindChar: the character of a byte in the code page; NULL for what is no byte.
func bindChar(c *bindCall) (*Bound, error) {
	b := simple(func(args []value.Value) (value.Value, error) {
		n := args[0].Int()
		if n < 0 || n > 255 {
			return value.Value{}, nil
		}
		return value.OfString(value.DecodeVarchar([]byte{byte(n)}, c.collation())), nil
	}, typeBigInt)
	b.Nullable = !c.args[0].within(0, 255)
	return b, nil
}

// bindNChar: half a surrogate pair is a character too.
func bindNChar(c *bindCall) (*Bound, error) {
	b := simple(func(args []value.Value) (value.Value, error) {
		n := args[0].Int()
		if n < 0 || n > 0xFFFF {
			return value.Value{}, nil
		}
		return value.OfString(string(value.AppendRune(nil, rune(n)))), nil
	}, typeBigInt)
	b.Nullable = !c.args[0].within(0, 0xFFFF)
	return b, nil
}

// quotes are the marks that QUOTENAME knows, with what closes them. All are written twice within if they close.
var quotes = map[string]string{
	"": "[]", "[": "[]", "]": "[]", "'": "''", `"`: `""`, "`": "``", "(": "()", ")": "()", "<": "<>", ">": "<>", "{": "{}", "}": "{}",
}

// bindQuoteName: NULL for more than 128 characters, and for other marks.
func bindQuoteName(c *bindCall) (*Bound, error) {
	types := []value.Type{typeMaxText}
	if len(c.args) == 2 {
		types = append(types, typeMaxText)
	}
	return simple(func(args []value.Value) (value.Value, error) {
		s, mark := args[0].Str(), "["
		if len(args) == 2 {
			mark = value.Slice16(args[1].Str(), 0, 1)
		}
		pair, ok := quotes[mark]
		if !ok || value.UTF16Len(s) > 128 {
			return value.Value{}, nil
		}
		closing := pair[1:]
		return value.OfString(pair[:1] + strings.ReplaceAll(s, closing, closing+closing) + closing), nil
	}, types...), nil
}
