package value

import (
	"bytes"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/collate"
	"golang.org/x/text/unicode/norm"
)

// words orders text as a language does. The weights are those of Unicode's CLDR, which agree with Windows' on letters
// and digits, and differ on the order of some punctuation.
type words struct {
	collation *Collation
	pool      sync.Pool // of *collator: one is not for concurrent use, and servers run in parallel
	ascii     *asciiWeights
}

// collator is what comparing needs of memory.
type collator struct {
	*collate.Collator
	buffer collate.Buffer
}

// asciiWeights are the weights of characters below 128, by which text of them alone is compared without a collator.
type asciiWeights struct {
	primary   [128][2]byte // zeros if there is none: control characters don't count
	secondary [128][2]byte
	tertiary  [128]byte
	rank      [128]uint16 // the primary weight as a number
}

func newWords(c *Collation) *words {
	w := &words{collation: c}
	w.pool.New = func() any {
		var options []collate.Option
		if c.ignoreAccents {
			options = append(options, collate.IgnoreDiacritics)
		}
		if c.ignoreCase {
			options = append(options, collate.IgnoreCase)
		}
		return &collator{Collator: collate.New(c.family.language, options...)}
	}
	if !c.family.contracts {
		w.ascii = w.newASCII()
	}
	return w
}

// newASCII reads the weights of single characters out of their keys: primary weights, two zeros, secondary weights, two
// zeros, tertiary weights. Levels that don't count are left out.
func (w *words) newASCII() *asciiWeights {
	a := &asciiWeights{}
	c := w.take()
	defer w.pool.Put(c)
	for i := range 128 {
		c.buffer.Reset()
		key := c.KeyFromString(&c.buffer, string(rune(i)))
		if len(key) < 2 || key[0] == 0 && key[1] == 0 {
			continue
		}
		copy(a.primary[i][:], key)
		a.rank[i] = uint16(key[0])<<8 | uint16(key[1])
		rest := key[2:]
		if !w.collation.ignoreAccents {
			copy(a.secondary[i][:], rest[2:])
			rest = rest[4:]
		}
		if !w.collation.ignoreCase {
			a.tertiary[i] = rest[2]
		}
	}
	return a
}

// weighed is a text without the characters that have no weight. Collations older than version 90 know no characters
// outside the basic plane: in them, all emoji are equal, and equal to nothing. Where accents don't count but case does,
// marks go as well, for they have a weight where that of case is.
func (w *words) weighed(s string) string {
	s = trimBlanks(s)
	if w.collation.ignoreAccents && !w.collation.ignoreCase {
		s = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) {
				return -1
			}
			return r
		}, norm.NFD.String(s))
	}
	if w.collation.version >= 90 || !strings.ContainsFunc(s, func(r rune) bool { return r > 0xFFFF || r == '\uFFFD' }) {
		return s
	}
	dst := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, size := DecodeRune(s[i:])
		if r <= 0xFFFF && !weightless(r) {
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return string(dst)
}

// compare orders two texts without regard to trailing blanks.
func (w *words) compare(a, b string) int {
	if a == b {
		return 0
	}
	if w.ascii != nil && IsASCII(a) && IsASCII(b) {
		return w.compareASCII(trimBlanks(a), trimBlanks(b))
	}
	// Keys and not CompareString, so that Compare and AppendKey can't differ.
	c := w.take()
	defer w.pool.Put(c)
	c.buffer.Reset()
	x := c.KeyFromString(&c.buffer, w.weighed(a))
	y := c.KeyFromString(&c.buffer, w.weighed(b))
	return bytes.Compare(x, y)
}

// compareASCII is compare for characters below 128: first by letters, then by accents, of which they have none, then by
// case.
func (w *words) compareASCII(a, b string) int {
	i, j := 0, 0
	for {
		for i < len(a) && w.ascii.rank[a[i]] == 0 {
			i++
		}
		for j < len(b) && w.ascii.rank[b[j]] == 0 {
			j++
		}
		switch {
		case i == len(a) && j == len(b):
			return w.compareCase(a, b)
		case i == len(a):
			return -1
		case j == len(b):
			return 1
		}
		if x, y := w.ascii.rank[a[i]], w.ascii.rank[b[j]]; x != y {
			if x < y {
				return -1
			}
			return 1
		}
		i++
		j++
	}
}

// compareCase orders texts of the same letters.
func (w *words) compareCase(a, b string) int {
	if w.collation.ignoreCase {
		return 0
	}
	i, j := 0, 0
	for {
		for i < len(a) && w.ascii.rank[a[i]] == 0 {
			i++
		}
		for j < len(b) && w.ascii.rank[b[j]] == 0 {
			j++
		}
		if i == len(a) || j == len(b) {
			return 0 // both end together, for they have the same letters
		}
		if x, y := w.ascii.tertiary[a[i]], w.ascii.tertiary[b[j]]; x != y {
			if x < y {
				return -1
			}
			return 1
		}
		i++
		j++
	}
}

// key appends the key of a text: keys sort as texts do. It is not self-delimiting.
func (w *words) key(dst []byte, s string) []byte {
	if w.ascii != nil && IsASCII(s) {
		return w.asciiKey(dst, trimBlanks(s))
	}
	c := w.take()
	defer w.pool.Put(c)
	c.buffer.Reset()
	return append(dst, c.KeyFromString(&c.buffer, w.weighed(s))...)
}

// asciiKey is key for characters below 128.
func (w *words) asciiKey(dst []byte, s string) []byte {
	for i := range len(s) {
		if w.ascii.rank[s[i]] != 0 {
			dst = append(dst, w.ascii.primary[s[i]][:]...)
		}
	}
	if !w.collation.ignoreAccents {
		dst = append(dst, 0, 0)
		for i := range len(s) {
			if w.ascii.rank[s[i]] != 0 {
				dst = append(dst, w.ascii.secondary[s[i]][:]...)
			}
		}
	}
	if !w.collation.ignoreCase {
		dst = append(dst, 0, 0)
		for i := range len(s) {
			if w.ascii.rank[s[i]] != 0 {
				dst = append(dst, w.ascii.tertiary[s[i]])
			}
		}
	}
	return dst
}

// take takes a collator out of the pool.
func (w *words) take() *collator {
	c, ok := w.pool.Get().(*collator)
	if !ok {
		panic("value: the pool of collators has something else")
	}
	return c
}

// compareExact orders two single characters; blanks count.
func (w *words) compareExact(a, b string) int {
	c := w.take()
	defer w.pool.Put(c)
	c.buffer.Reset()
	x := c.KeyFromString(&c.buffer, a)
	y := c.KeyFromString(&c.buffer, b)
	if r := bytes.Compare(x, y); r != 0 || len(x) > 0 && (x[0] != 0 || len(x) > 1 && x[1] != 0) {
		return r
	}
	return strings.Compare(a, b) // neither has a weight
}
