package value

import (
	"strings"
	"sync"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/language"
)

// Collation is a named order of text. There is one for each name, so collations are compared by their pointers.
type Collation struct {
	Name string

	utf8          bool // char and varchar are UTF-8
	supplementary bool // _SC: a character outside the basic plane counts as one in LIKE and string functions
	binary        bool // _BIN2 and _BIN: by code
	oldBinary     bool // _BIN: by the first character's code and then by bytes
	ignoreCase    bool
	ignoreAccents bool
	family        *family
	version       int // 80, 90, 100, 140
	words         *words
}

// family is what the collations of a language share.
type family struct {
	name     string
	language language.Tag
	codePage int
	// contracts says that the language sorts some pairs of ASCII letters as one letter, such as Czech "ch".
	contracts bool
}

// families are the languages whose collations the server knows, by folded name.
var families = func() map[string]*family {
	m := map[string]*family{}
	for _, f := range []family{
		{"Latin1_General", language.English, 1252, false},
		{"SQL_Latin1_General_CP1", language.English, 1252, false},
		{"SQL_Latin1_General_CP437", language.English, 437, false},
		{"SQL_Latin1_General_CP850", language.English, 850, false},
		{"SQL_Latin1_General_CP1250", language.English, 1250, false},
		{"SQL_Latin1_General_CP1251", language.English, 1251, false},
		{"SQL_Latin1_General_CP1253", language.English, 1253, false},
		{"SQL_Latin1_General_CP1254", language.English, 1254, false},
		{"SQL_Latin1_General_CP1255", language.English, 1255, false},
		{"SQL_Latin1_General_CP1256", language.English, 1256, false},
		{"SQL_Latin1_General_CP1257", language.English, 1257, false},
		{"Cyrillic_General", language.Russian, 1251, false},
		{"Czech", language.Czech, 1250, true},
		{"Danish_Norwegian", language.Danish, 1252, true},
		{"Danish_Greenlandic", language.Danish, 1252, true},
		{"Estonian", language.Estonian, 1257, true},
		{"Finnish_Swedish", language.Swedish, 1252, true},
		{"French", language.French, 1252, false},
		{"German_PhoneBook", language.MustParse("de-u-co-phonebk"), 1252, true},
		{"Greek", language.Greek, 1253, false},
		{"Hebrew", language.Hebrew, 1255, false},
		{"Hungarian", language.Hungarian, 1250, true},
		{"Icelandic", language.Icelandic, 1252, false},
		{"Latvian", language.Latvian, 1257, true},
		{"Lithuanian", language.Lithuanian, 1257, true},
		{"Modern_Spanish", language.Spanish, 1252, false},
		{"Polish", language.Polish, 1250, false},
		{"Romanian", language.Romanian, 1250, false},
		{"Slovak", language.Slovak, 1250, true},
		{"Slovenian", language.Slovenian, 1250, false},
		{"Thai", language.Thai, 874, false},
		{"Traditional_Spanish", language.MustParse("es-u-co-trad"), 1252, true},
		{"Turkish", language.Turkish, 1254, true},
		{"Ukrainian", language.Ukrainian, 1251, false},
		{"Vietnamese", language.Vietnamese, 1258, true},
	} {
		m[strings.ToLower(f.name)] = &f
	}
	return m
}()

// codePages are the code pages of one byte that collations have.
var codePages = map[int]*charmap.Charmap{
	437: charmap.CodePage437, 850: charmap.CodePage850, 874: charmap.Windows874,
	1250: charmap.Windows1250, 1251: charmap.Windows1251, 1252: charmap.Windows1252, 1253: charmap.Windows1253,
	1254: charmap.Windows1254, 1255: charmap.Windows1255, 1256: charmap.Windows1256, 1257: charmap.Windows1257,
	1258: charmap.Windows1258,
}

// collations has the collations that were asked for, by folded name: what a name means never changes.
var collations sync.Map

// DefaultCollation is that of a server that was installed in English.
var DefaultCollation = mustCollation("SQL_Latin1_General_CP1_CI_AS")

func mustCollation(name string) *Collation {
	c, ok := CollationByName(name)
	if !ok {
		panic("value: no collation " + name)
	}
	return c
}

// CollationByName finds a collation by its name in any case. It is false for a name that SQL Server does not know, and
// for languages that this server does not: the Asian ones and a few others.
func CollationByName(name string) (*Collation, bool) {
	folded := strings.ToLower(name)
	if known, ok := collations.Load(folded); ok {
		c, ok := known.(*Collation)
		return c, ok
	}
	c, ok := parseCollation(folded)
	if !ok {
		return nil, false
	}
	if !c.binary {
		c.words = newWords(c)
	}
	kept, _ := collations.LoadOrStore(folded, c)
	c, ok = kept.(*Collation)
	return c, ok
}

// parseCollation reads a folded name: a language, a version, and what differs.
func parseCollation(folded string) (*Collation, bool) {
	f := findFamily(folded)
	if f == nil {
		return nil, false
	}
	c := &Collation{Name: f.name, family: f, version: 80}
	sensitivity := 0 // which of case, accent, kana and width was read last
	parts := strings.Split(folded[len(f.name):], "_")
	if parts[0] != "" {
		return nil, false
	}
	sql := strings.HasPrefix(f.name, "SQL_")
	for i, part := range parts[1:] {
		var ok bool
		switch part {
		case "90", "100", "140":
			ok = i == 0 && !sql
			c.version = map[string]int{"90": 90, "100": 100, "140": 140}[part]
		case "bin", "bin2":
			ok = sensitivity == 0 && (!sql || f.codePage == 437 || f.codePage == 850)
			c.binary, c.oldBinary, sensitivity = true, part == "bin", 10
		case "ci", "cs":
			ok = sensitivity == 0
			c.ignoreCase, sensitivity = part == "ci", 1
		case "ai", "as":
			ok = sensitivity == 1
			c.ignoreAccents, sensitivity = part == "ai", 2
		case "ks":
			ok, sensitivity = sensitivity == 2 && !sql, 3
		case "ws":
			ok, sensitivity = (sensitivity == 2 || sensitivity == 3) && !sql, 4
		case "sc":
			ok = sensitivity >= 2 && sensitivity <= 4 && c.version >= 90
			c.supplementary, sensitivity = true, 5
		case "utf8":
			ok = c.version >= 100 && (sensitivity == 5 || sensitivity == 10 && !c.oldBinary)
			c.utf8, c.supplementary, sensitivity = true, true, 11
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
		c.Name += "_" + strings.ToUpper(part)
	}
	return c, sensitivity >= 2
}

// findFamily finds the language that a folded name of a collation begins with, the longest one that does.
func findFamily(folded string) *family {
	for end := len(folded); end > 0; end = strings.LastIndexByte(folded[:end], '_') {
		if f := families[folded[:end]]; f != nil {
			return f
		}
	}
	return nil
}

// page is the code page of char and varchar; not that of UTF-8.
func (c *Collation) page() *charmap.Charmap { return codePages[c.family.codePage] }

// IsBinary reports whether text is ordered by its codes.
func (c *Collation) IsBinary() bool { return c.binary }

// IgnoresCase reports whether letters that differ by case are equal.
func (c *Collation) IgnoresCase() bool { return !c.binary && c.ignoreCase }

// Supplementary reports whether string functions count a character outside the basic plane as one.
func (c *Collation) Supplementary() bool { return c.supplementary }
