package value_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

const (
	bin2    = " COLLATE Latin1_General_100_BIN2"
	bin     = " COLLATE Latin1_General_BIN"
	utf8    = " COLLATE Latin1_General_100_BIN2_UTF8"
	ciAS    = " COLLATE SQL_Latin1_General_CP1_CI_AS"
	csAS    = " COLLATE Latin1_General_100_CS_AS"
	ciAI    = " COLLATE Latin1_General_100_CI_AI"
	csAI    = " COLLATE Latin1_General_CS_AI"
	ciASsc  = " COLLATE Latin1_General_100_CI_AS_SC_UTF8"
	turkish = " COLLATE Turkish_100_CI_AS"
)

// sign writes an order as T-SQL does.
func sign(n int) string { return []string{"<", "=", ">"}[min(max(n, -1), 1)+1] }

func TestCompare(t *testing.T) {
	t.Parallel()
	tests := []struct{ typ, a, order, b string }{
		{"int", "-1", "<", "1"},
		{"bigint", "9223372036854775807", ">", "-9223372036854775808"},
		{"decimal(38,2)", "12345678901234567890123456789012345.67", ">", "12345678901234567890123456789012345.66"},
		{"decimal(38,2)", "-12345678901234567890123456789012345.67", "<", "0"},
		{"money", "-0.0001", "<", "0"},
		{"float", "-1e300", "<", "1e-300"},
		{"date", "2024-01-01", "<", "2024-01-02"},
		{"datetime", "1899-12-31 23:00", "<", "1900-01-01"},
		{"datetime2(7)", "2024-01-01 00:00:00.0000001", ">", "2024-01-01"},
		{"datetimeoffset(0)", "2024-01-01 00:00 +02:00", "=", "2023-12-31 22:00 +00:00"},
		// The last six bytes of a uniqueidentifier decide first, then the two before them, and so on to the left.
		{"uniqueidentifier", "FFFFFFFF-FFFF-FFFF-FFFF-000000000000", "<", "00000000-0000-0000-0000-010000000000"},
		{"uniqueidentifier", "00000000-0000-0000-0100-000000000000", ">", "00000000-0000-0000-0001-000000000000"},
		{"uniqueidentifier", "00000000-0000-0100-0000-000000000000", "<", "00000000-0000-0001-0000-000000000000"},
		{"uniqueidentifier", "01000000-0000-0000-0000-000000000000", "<", "00000001-0000-0000-0000-000000000000"},
		// Binaries are filled up with zeros.
		{"varbinary(9)", "0x0100", "=", "0x01"},
		{"varbinary(9)", "0x010001", ">", "0x01"},
		{"varbinary(9)", "0x01FF", "<", "0x02"},
		// Trailing blanks don't count, in any collation: the shorter text counts as if blanks followed.
		{"nvarchar(9)" + bin2, "a", "=", "a  "},
		{"nvarchar(9)" + ciAS, "a", "=", "a  "},
		{"nvarchar(9)" + bin2, "", "=", " "},
		{"nvarchar(9)" + bin2, " a", "<", "a"},
		{"nvarchar(9)" + bin2, "a", ">", "a\t"},
		{"nvarchar(9)" + bin2, "a", "<", "a!"},
		{"nvarchar(9)" + bin2, "a", ">", "a  \t"},
		{"nvarchar(9)" + bin2, "a \t", "<", "a  !"},
		{"nvarchar(9)" + bin2, "A", "<", "a"},
		{"nvarchar(9)" + bin2, "é", ">", "z"},
		// A character outside the basic plane is two units from D800 on, in nvarchar.
		{"nvarchar(9)" + bin2, "😀", "<", "\uFF01"},
		{"varchar(9)" + utf8, "😀", ">", "\uFF01"},
		// The euro is 0x80 in code page 1252.
		{"varchar(9)" + bin2, "€", "<", "é"},
		{"nvarchar(9)" + bin2, "€", ">", "é"},
		// The old binary order compares bytes after the first unit, the low one first.
		{"nvarchar(9)" + bin, "aĀ", "<", "ab"},
		{"nvarchar(9)" + bin, "Āa", ">", "ba"},
		{"nvarchar(9)" + ciAS, "abc", "=", "ABC"},
		{"nvarchar(9)" + ciAS, "resume", "<", "résumé"},
		{"nvarchar(9)" + ciAS, "e\u0301", "=", "É"},
		{"nvarchar(9)" + ciAS, "ｘ", "=", "X"},
		{"nvarchar(9)" + csAS, "abc", "<", "ABC"},
		{"nvarchar(9)" + csAS, "abd", ">", "ABC"},
		{"nvarchar(9)" + ciAI, "RESUME", "=", "résumé"},
		{"nvarchar(9)" + csAI, "resume", "=", "résumé"},
		{"nvarchar(9)" + csAI, "Resume", ">", "résumé"},
		{"nvarchar(9)" + ciAS, "a-b", "<", "a1"},
		{"nvarchar(9)" + ciAS, "a", "<", "a b"},
		{"nvarchar(9)" + ciAS, "10", "<", "9"},
		{"nvarchar(9)" + ciAS, "_", "<", "0"},
		// Collations older than version 90 know no characters outside the basic plane.
		{"nvarchar(9)" + ciAS, "😀", "=", "😁"},
		{"nvarchar(9)" + ciASsc, "😀", "<", "😁"},
		{"nvarchar(9)" + turkish, "i", ">", "I"},
	}
	for _, test := range tests {
		typ := typ(t, test.typ)
		a, b := val(t, test.a, typ), val(t, test.b, typ)
		if strings.Contains(test.typ, "char") {
			a, b = value.OfString(test.a), value.OfString(test.b)
		}
		if got := sign(value.Compare(a, b, typ)); got != test.order {
			t.Errorf("%s: %q %s %q, want %s", test.typ, test.a, got, test.b, test.order)
		}
		x, y := value.AppendKey(nil, a, typ, false), value.AppendKey(nil, b, typ, false)
		if got := sign(bytes.Compare(x, y)); got != test.order {
			t.Errorf("%s: the key of %q %s that of %q, want %s", test.typ, test.a, got, test.b, test.order)
		}
	}
}

func TestCompareVariants(t *testing.T) {
	t.Parallel()
	variant := func(text, name string) value.Value {
		return value.OfVariant(val(t, text, typ(t, name)), typ(t, name))
	}
	// Families from the lowest to the highest; within one, values decide.
	ordered := []value.Value{
		variant("6F9619FF-8B86-D011-B42D-00C04FC964FF", "uniqueidentifier"),
		variant("0xFF", "varbinary(5)"), variant("abc", "nvarchar(5)"), variant("abd", "varchar(5)"),
		variant("-5", "int"), variant("1.5", "decimal(9,2)"), variant("2", "money"), variant("1000", "bigint"),
		variant("1", "float"), variant("2000-01-01", "date"), variant("2000-01-01 01:00", "datetime"),
	}
	sv := typ(t, "sql_variant")
	for i := range ordered {
		for j := range ordered {
			want := sign(i - j)
			if got := sign(value.Compare(ordered[i], ordered[j], sv)); got != want {
				t.Errorf("%v %s %v, want %s", ordered[i], got, ordered[j], want)
			}
			x, y := value.AppendKey(nil, ordered[i], sv, false), value.AppendKey(nil, ordered[j], sv, false)
			if got := sign(bytes.Compare(x, y)); got != want {
				t.Errorf("key of %v %s that of %v, want %s", ordered[i], got, ordered[j], want)
			}
		}
	}
	if value.Compare(variant("1.50", "decimal(9,2)"), variant("1.5", "money"), sv) != 0 {
		t.Error("1.5 of decimal and of money differ")
	}
}

// texts draws texts that are hard to order: blanks, controls, accents, wide letters, halves of surrogate pairs.
func texts() *rapid.Generator[string] {
	pieces := []string{
		"a", "b", "A", "B", "z", "0", "9", " ", " ", "  ", "\t", "\x01", "\x00", "!", "~", "-", "_", "'", "é", "É", "e\u0301", "ß", "ss", "æ", "ａ",
		"€", "Ж", "中", "\uFF01", "😀", "😁", "\U00010000", "\xED\xA0\x80", "\xED\xB0\x80", "\u200B", "\u0300",
	}
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6), func(p []string) string {
		s := ""
		for _, piece := range p {
			s = value.Concat(s, piece)
		}
		return s
	})
}

// values draws values of a type.
func values(typ value.Type) *rapid.Generator[value.Value] {
	switch {
	case typ.IsCharacter():
		return rapid.Map(texts(), func(s string) value.Value {
			v, err := value.Convert(value.OfString(s), value.NVarChar(-1), typ, 0)
			if err != nil {
				panic(err)
			}
			return v
		})
	case typ.IsBinary():
		return rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0, 1, 0xFE, 0xFF}), 0, 6), value.OfBytes)
	case typ.Kind == "decimal":
		big := rapid.Custom(func(t *rapid.T) value.Value {
			coef, _ := value.OfDecimal(newInt(rapid.StringMatching(`-?[0-9]{1,38}`).Draw(t, "coef")), typ.Scale).Decimal()
			return value.OfDecimal(coef, typ.Scale)
		})
		return rapid.OneOf(big, rapid.Map(rapid.Int64(), func(n int64) value.Value { return value.OfDecimal(newInt64(n), typ.Scale) }))
	case typ.Kind == "float":
		return rapid.Map(rapid.Float64(), value.OfFloat)
	case typ.Kind == "uniqueidentifier":
		return rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0xFF}), 16, 16), func(b []byte) value.Value { return value.OfGUID([16]byte(b)) })
	case typ.Kind == "datetime2":
		return rapid.Custom(func(t *rapid.T) value.Value {
			return value.OfDateTime2(rapid.IntRange(0, 3).Draw(t, "days"), rapid.Int64Range(0, 864_000_000_000-1).Draw(t, "ticks"))
		})
	default:
		return rapid.Map(rapid.Int64(), value.OfInt)
	}
}

var keyTypes = []string{
	"bigint", "decimal(38,5)", "float", "uniqueidentifier", "datetime2(7)", "varbinary(20)", "nvarchar(40)" + bin2,
	"varchar(40)" + bin2, "nvarchar(40)" + bin, "varchar(40)" + utf8, "nvarchar(40)" + ciAS, "nvarchar(40)" + csAS,
	"nvarchar(40)" + ciAI, "nvarchar(40)" + csAI, "nvarchar(40)" + ciASsc, "varchar(40)" + ciAS, "nvarchar(40)" + turkish,
}

// Keys sort as values do, up and down, NULL first and last; and what follows a key does not change that.
func TestKeyOrder(t *testing.T) {
	t.Parallel()
	for _, name := range keyTypes {
		typ := typ(t, name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				g := rapid.OneOf(values(typ), values(typ), values(typ), rapid.Just(value.Value{}))
				a, b := g.Draw(t, "a"), g.Draw(t, "b")
				want := 0
				switch {
				case a.IsNull() && !b.IsNull():
					want = -1
				case !a.IsNull() && b.IsNull():
					want = 1
				case !a.IsNull():
					want = value.Compare(a, b, typ)
					if back := value.Compare(b, a, typ); sign(back) != sign(-want) {
						t.Fatalf("%q and %q compare as %d and back as %d", a, b, want, back)
					}
				}
				for _, desc := range []bool{false, true} {
					x := value.AppendKey([]byte("before"), a, typ, desc)
					y := value.AppendKey([]byte("before"), b, typ, desc)
					// The second column must decide only if the first ones are equal.
					x, y = append(x, 0xFF), append(y, 0)
					order := want
					if desc {
						order = -want
					}
					if order == 0 {
						order = 1
					}
					if got := bytes.Compare(x, y); sign(got) != sign(order) {
						t.Fatalf("%q and %q (desc %v): keys %x and %x compare as %d, want %d", a, b, desc, x, y, got, order)
					}
				}
			})
		})
	}
}

// An order is one only if it is transitive.
func TestCompareIsTransitive(t *testing.T) {
	t.Parallel()
	for _, name := range keyTypes {
		typ := typ(t, name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				g := values(typ)
				a, b, c := g.Draw(t, "a"), g.Draw(t, "b"), g.Draw(t, "c")
				if value.Compare(a, b, typ) <= 0 && value.Compare(b, c, typ) <= 0 && value.Compare(a, c, typ) > 0 {
					t.Fatalf("%q <= %q <= %q, but not the first and the last", a, b, c)
				}
			})
		})
	}
}
