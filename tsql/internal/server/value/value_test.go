package value_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// typ parses a type as it is declared; a collation may follow.
func typ(t testing.TB, text string) value.Type {
	t.Helper()
	text, name, collated := strings.Cut(text, " COLLATE ")
	parsed, err := value.ParseType(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if collated {
		c, ok := value.CollationByName(name)
		if !ok {
			t.Fatalf("no collation %s", name)
		}
		parsed.Collation = c
	}
	return parsed
}

// val reads a value of a type: NULL, 0x… for binaries, and what Convert reads for all else.
func val(t testing.TB, text string, typ value.Type) value.Value {
	t.Helper()
	if text == "NULL" {
		return value.Value{}
	}
	style := 0
	if typ.IsBinary() {
		style = 1
	}
	v, err := value.Convert(value.OfString(text), value.NVarChar(sqltype.Max), typ, style)
	if err != nil {
		t.Fatalf("%s as %s: %v", text, typ, err)
	}
	return v
}

// outcome is the text of a value, or the number of an error.
func outcome(v value.Value, err error) string {
	var e *fault.Error
	switch {
	case errors.As(err, &e):
		return e.Error()
	case err != nil:
		return err.Error()
	default:
		return v.String()
	}
}

func TestAccessors(t *testing.T) {
	t.Parallel()
	if v := (value.Value{}); !v.IsNull() || v.Kind() != value.Null || v.String() != "NULL" {
		t.Errorf("the zero value is %v", v)
	}
	if v := value.OfBool(true); !v.Bool() || v.Int() != 1 {
		t.Errorf("true is %v", v)
	}
	d := value.OfDateTimeOffset(value.Days(2024, 2, 29), 36_000_000_000, -90)
	if got := d.GoTime().Format("2006-01-02T15:04:05Z07:00"); got != "2024-02-28T23:30:00-01:30" {
		t.Errorf("GoTime: %s", got)
	}
	if got := value.FromTime(d.GoTime(), typ(t, "datetimeoffset")); !got.Equal(d) {
		t.Errorf("FromTime: %v, want %v", got, d)
	}
	inner, it := value.OfVariant(value.OfInt(7), typ(t, "int")).Variant()
	if inner.Int() != 7 || it.Kind != sqltype.Int {
		t.Errorf("variant: %v of %v", inner, it)
	}
	y, m, day := value.Civil(value.Days(1, 1, 1))
	if y != 1 || m != 1 || day != 1 || value.Days(1, 1, 1) != 0 {
		t.Errorf("day 0 is %d-%d-%d", y, m, day)
	}
}

// newInt reads a whole number.
func newInt(text string) *big.Int {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		panic(text)
	}
	return n
}

func newInt64(n int64) *big.Int { return big.NewInt(n) }
