package wire

import (
	"encoding/binary"
	"strings"
	"sync"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// A collation has five bytes on the wire: 20 bits of a locale, 8 bits of flags, 4 bits of a version, and the number of
// the sort order of collations that are older than Windows' own.

// The flags.
const (
	collationIgnoresCase   = 0x01
	collationIgnoresAccent = 0x02
	collationIgnoresKana   = 0x04
	collationIgnoresWidth  = 0x08
	collationBinary        = 0x10
	collationBinary2       = 0x20
	collationUTF8          = 0x40
)

const collationFlagsShift, collationVersionShift, collationLocaleMask = 20, 28, 0xFFFFF

// collationBytes is a collation on the wire.
type collationBytes [5]byte

func (b collationBytes) flags() byte {
	return byte(binary.LittleEndian.Uint32(b[:]) >> collationFlagsShift)
}

func (b collationBytes) locale() uint32 {
	return binary.LittleEndian.Uint32(b[:]) & collationLocaleMask
}

func (b collationBytes) version() byte {
	return byte(binary.LittleEndian.Uint32(b[:]) >> collationVersionShift)
}

// sortOrders are the collations that have a number. The locale of all of them is American English.
var sortOrders = map[byte]string{
	30: "SQL_Latin1_General_CP437_BIN", 31: "SQL_Latin1_General_CP437_CS_AS", 32: "SQL_Latin1_General_CP437_CI_AS",
	33: "SQL_Latin1_General_Pref_CP437_CI_AS", 34: "SQL_Latin1_General_CP437_CI_AI",
	40: "SQL_Latin1_General_CP850_BIN", 41: "SQL_Latin1_General_CP850_CS_AS", 42: "SQL_Latin1_General_CP850_CI_AS",
	43: "SQL_Latin1_General_Pref_CP850_CI_AS", 44: "SQL_Latin1_General_CP850_CI_AI",
	51: "SQL_Latin1_General_CP1_CS_AS", 52: "SQL_Latin1_General_CP1_CI_AS",
	53: "SQL_Latin1_General_Pref_CP1_CI_AS", 54: "SQL_Latin1_General_CP1_CI_AI",
	81: "SQL_Latin1_General_CP1250_CS_AS", 82: "SQL_Latin1_General_CP1250_CI_AS",
	105: "SQL_Latin1_General_CP1251_CS_AS", 106: "SQL_Latin1_General_CP1251_CI_AS",
	113: "SQL_Latin1_General_CP1253_CS_AS", 114: "SQL_Latin1_General_CP1253_CI_AS",
	129: "SQL_Latin1_General_CP1254_CS_AS", 130: "SQL_Latin1_General_CP1254_CI_AS",
	137: "SQL_Latin1_General_CP1255_CS_AS", 138: "SQL_Latin1_General_CP1255_CI_AS",
	145: "SQL_Latin1_General_CP1256_CS_AS", 146: "SQL_Latin1_General_CP1256_CI_AS",
	153: "SQL_Latin1_General_CP1257_CS_AS", 154: "SQL_Latin1_General_CP1257_CI_AS",
}

// sortOrderNumbers is sortOrders the other way round.
var sortOrderNumbers = func() map[string]byte {
	numbers := map[string]byte{}
	for number, name := range sortOrders {
		numbers[name] = number
	}
	return numbers
}()

// americanEnglish is the locale of most collations.
const americanEnglish = 0x0409

// locales are those of Windows' collations.
var locales = map[string]uint32{
	"Latin1_General": americanEnglish,
	"Albanian":       0x041C, "Arabic": 0x0401, "Chinese_PRC": 0x0804, "Chinese_Taiwan_Stroke": 0x0404, "Croatian": 0x041A,
	"Cyrillic_General": 0x0419, "Czech": 0x0405, "Danish_Greenlandic": 0x0406, "Danish_Norwegian": 0x0406, "Estonian": 0x0425, "Finnish_Swedish": 0x040B,
	"French": 0x040C, "German_PhoneBook": 0x10407, "Greek": 0x0408, "Hebrew": 0x040D, "Hungarian": 0x040E,
	"Icelandic": 0x040F, "Japanese": 0x0411, "Korean_Wansung": 0x0412, "Latvian": 0x0426, "Lithuanian": 0x0427,
	"Modern_Spanish": 0x0C0A, "Polish": 0x0415, "Romanian": 0x0418, "Slovak": 0x041B, "Slovenian": 0x0424, "Thai": 0x041E,
	"Traditional_Spanish": 0x040A, "Turkish": 0x041F, "Ukrainian": 0x0422, "Vietnamese": 0x042A,
}

// localeNames is locales the other way round.
var localeNames = func() map[uint32]string {
	names := map[uint32]string{}
	for name, locale := range locales {
		names[locale] = name
	}
	names[locales["Danish_Norwegian"]] = "Danish_Norwegian"
	return names
}()

// collationVersions are the versions of Windows' collations, as their names write them.
var collationVersions = []string{"", "_90", "_100", "_140"}

// encodedCollations caches encodeCollation: collationBytes by the collation's name.
var encodedCollations sync.Map

// encodeCollation is a collation on the wire; nil is the default one.
func encodeCollation(c *value.Collation) collationBytes {
	if c == nil {
		c = value.DefaultCollation
	}
	if known, ok := encodedCollations.Load(c.Name); ok {
		return known.(collationBytes) //nolint:errcheck,forcetypeassert // nothing else is stored
	}
	b := encodeCollationName(c.Name)
	encodedCollations.Store(c.Name, b)
	return b
}

func encodeCollationName(name string) (b collationBytes) {
	number := sortOrderNumbers[name]
	locale, rest := uint32(americanEnglish), name
	version := 0
	if number == 0 {
		longest := ""
		for prefix, l := range locales {
			if strings.HasPrefix(name, prefix) && len(prefix) > len(longest) {
				longest, locale = prefix, l
			}
		}
		rest = name[len(longest):]
		for v, text := range collationVersions {
			if text != "" && strings.HasPrefix(rest, text) {
				version = v
			}
		}
	}
	bits := locale | uint32(collationFlags(rest))<<collationFlagsShift | uint32(version)<<collationVersionShift
	binary.LittleEndian.PutUint32(b[:], bits)
	b[4] = number
	return b
}

// collationFlags reads the flags off the parts of a name, such as CI, AS and UTF8.
func collationFlags(name string) byte {
	has := func(part string) bool { return strings.Contains(name+"_", "_"+part+"_") }
	var utf8 byte
	if has("UTF8") {
		utf8 = collationUTF8
	}
	switch {
	case has("BIN"):
		return collationBinary | utf8
	case has("BIN2"):
		return collationBinary2 | utf8
	}
	flags := utf8
	for part, flag := range map[string]byte{"CI": collationIgnoresCase, "AI": collationIgnoresAccent} {
		if has(part) {
			flags |= flag
		}
	}
	for part, flag := range map[string]byte{"KS": collationIgnoresKana, "WS": collationIgnoresWidth} {
		if !has(part) {
			flags |= flag
		}
	}
	return flags
}

// decodeCollation finds the collation that a client names. Zero bytes are the server's choice, nil; false means that
// the server does not have it.
func decodeCollation(b collationBytes) (*value.Collation, bool) {
	if b == (collationBytes{}) {
		return nil, true
	}
	if b[4] != 0 {
		name, ok := sortOrders[b[4]]
		if !ok {
			return nil, false
		}
		return value.CollationByName(name)
	}
	name, ok := localeNames[b.locale()]
	if !ok || int(b.version()) >= len(collationVersions) {
		return nil, false
	}
	if name == "Danish_Norwegian" && b.version() > 1 {
		name = "Danish_Greenlandic" // its name since version 100
	}
	return value.CollationByName(name + collationVersions[b.version()] + collationSuffix(b))
}

// collationSuffix is the part of a name that collationFlags reads. Whether characters beyond the first plane count as
// one (SC) is not on the wire, except that all collations in UTF-8 before version 140 do.
func collationSuffix(b collationBytes) string {
	flags, utf8 := b.flags(), b.flags()&collationUTF8 != 0
	var s strings.Builder
	switch {
	case flags&collationBinary != 0:
		s.WriteString("_BIN")
	case flags&collationBinary2 != 0:
		s.WriteString("_BIN2")
	default:
		s.WriteString(choose(flags&collationIgnoresCase != 0, "_CI", "_CS"))
		s.WriteString(choose(flags&collationIgnoresAccent != 0, "_AI", "_AS"))
		s.WriteString(choose(flags&collationIgnoresKana != 0, "", "_KS"))
		s.WriteString(choose(flags&collationIgnoresWidth != 0, "", "_WS"))
		s.WriteString(choose(utf8 && int(b.version()) < len(collationVersions)-1, "_SC", ""))
	}
	s.WriteString(choose(utf8, "_UTF8", ""))
	return s.String()
}

// choose is a conditional expression.
func choose[T any](condition bool, yes, no T) T {
	if condition {
		return yes
	}
	return no
}
