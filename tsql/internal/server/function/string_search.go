package function

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// Functions that look for something in a text.

var searchFunctions = map[string]binder{
	"CHARINDEX": bindCharIndex,
	"PATINDEX":  bindPatIndex,
	"REPLACE":   bindReplace,
	"TRANSLATE": bindTranslate,
	"TRIM":      bindTrim,
	"LTRIM":     bindTrim,
	"RTRIM":     bindTrim,
}

// bindCharIndex: 0 where the text isn't found, and for the empty one.
func bindCharIndex(c *bindCall) (*Bound, error) {
	m := matcherOf(c.collationOr())
	types := []value.Type{c.text(0), c.text(1)}
	if len(c.args) == 3 {
		types = append(types, typeBigInt)
	}
	return simple(func(args []value.Value) (value.Value, error) {
		s, skipped := args[1].Str(), 0
		if len(args) == 3 && args[2].Int() > 1 {
			skipped = int(min(args[2].Int()-1, int64(len(s))))
			s = m.slice(s, skipped, len(s))
		}
		part := args[0].Str()
		if part == "" {
			return value.OfInt(0), nil
		}
		from, _ := m.finder(part).next(s)
		if from < 0 {
			return value.OfInt(0), nil
		}
		return value.OfInt(int64(skipped + m.count(s[:from]) + 1)), nil
	}, types...), nil
}

// bindPatIndex: a % at the beginning lets the rest of the pattern begin anywhere, and the first such place counts.
func bindPatIndex(c *bindCall) (*Bound, error) {
	collation := c.collationOr()
	m := matcherOf(collation)
	return simple(func(args []value.Value) (value.Value, error) {
		pattern, s := args[0].Str(), args[1].Str()
		rest := strings.TrimLeft(pattern, "%")
		anywhere := len(rest) < len(pattern)
		if anywhere && rest == "" {
			return value.OfInt(int64(b2i(s != ""))), nil
		}
		for i := 0; i <= len(s); {
			found, err := value.Like(s[i:], rest, 0, collation)
			if err != nil {
				return value.Value{}, err
			}
			if found {
				return value.OfInt(int64(m.count(s[:i]) + 1)), nil
			}
			if !anywhere || i == len(s) {
				break
			}
			_, size := value.DecodeRune(s[i:])
			i += size
		}
		return value.OfInt(0), nil
	}, c.text(0), c.text(1)), nil
}

func bindReplace(c *bindCall) (*Bound, error) {
	m := matcherOf(c.collationOr())
	return simple(func(args []value.Value) (value.Value, error) {
		s, part, with := args[0].Str(), args[1].Str(), args[2].Str()
		if part == "" {
			return value.OfString(s), nil
		}
		f := m.finder(part)
		from, to := f.next(s)
		if from < 0 {
			return value.OfString(s), nil
		}
		dst := make([]byte, 0, len(s)+len(with))
		for from >= 0 {
			if err := value.CheckSize(int64(len(dst) + from + len(with))); err != nil {
				return value.Value{}, err
			}
			dst = append(append(dst, s[:from]...), with...)
			s = s[to:]
			from, to = f.next(s)
		}
		return c.limited(string(append(dst, s...))), nil
	}, c.text(0), c.text(1), c.text(2)), nil
}

// bindTranslate replaces each character of the second text by the one at its place in the third.
func bindTranslate(c *bindCall) (*Bound, error) {
	m := matcherOf(c.collationOr())
	return simple(func(args []value.Value) (value.Value, error) {
		from, to := m.folded(args[1].Str()), []rune{}
		for rest := args[2].Str(); rest != ""; {
			r, size := value.DecodeRune(rest)
			to, rest = append(to, r), rest[size:]
		}
		if len(from) != len(to) {
			return value.Value{}, fault.New(9828)
		}
		other := map[rune]rune{}
		for i, r := range from {
			if _, ok := other[r]; !ok {
				other[r] = to[i]
			}
		}
		var dst []byte
		for rest := args[0].Str(); rest != ""; {
			r, size := value.DecodeRune(rest)
			if with, ok := other[m.fold(r)]; ok {
				r = with
			}
			dst, rest = value.AppendRune(dst, r), rest[size:]
		}
		return value.OfString(string(dst)), nil
	}, c.text(0), c.text(1), c.text(2)), nil
}

// bindTrim is TRIM, LTRIM and RTRIM. The characters come first in TRIM (characters FROM text), and last in the others.
func bindTrim(c *bindCall) (*Bound, error) {
	m := matcherOf(c.collationOr())
	left, right, text, set := c.name != "RTRIM", c.name != "LTRIM", 0, 1
	if c.name == "TRIM" {
		text, set = len(c.args)-1, 0
		if err := c.checkSide(); err != nil {
			return nil, err
		}
	}
	types := make([]value.Type, len(c.args))
	for i := range types {
		types[i] = c.text(i)
	}
	return simple(func(args []value.Value) (value.Value, error) {
		cut := []rune{' '}
		if len(args) == 2 {
			cut = m.folded(args[set].Str())
		}
		s := args[text].Str()
		if left {
			s = m.trimLeft(s, cut)
		}
		if right {
			s = m.trimRight(s, cut)
		}
		return value.OfString(s), nil
	}, types...), nil
}

// trimLeft cuts folded characters off the beginning of a text.
func (m matcher) trimLeft(s string, cut []rune) string {
	for s != "" {
		r, size := value.DecodeRune(s)
		if !slices.Contains(cut, m.fold(r)) {
			break
		}
		s = s[size:]
	}
	return s
}

// trimRight cuts folded characters off the end of a text.
func (m matcher) trimRight(s string, cut []rune) string {
	for s != "" {
		start := len(s) - 1
		for start > 0 && s[start]&0xC0 == 0x80 {
			start--
		}
		if r, _ := value.DecodeRune(s[start:]); !slices.Contains(cut, m.fold(r)) {
			break
		}
		s = s[:start]
	}
	return s
}

// checkSide refuses TRIM with LEADING or TRAILING, which the tree doesn't tell apart from the one without. It goes by
// the room before the first argument: where such a word could stand, one may stand.
func (c *bindCall) checkSide() error {
	if c.args[0].Expr == nil || c.syntax.Span.To == 0 {
		return nil
	}
	const word = len("LEADING")
	if int(c.args[0].Expr.Range().From-c.syntax.Name.Span.To) > word {
		return unsupported("TRIM with LEADING or TRAILING (write LTRIM or RTRIM)")
	}
	return nil
}
