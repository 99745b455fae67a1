package analyze

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// TestConversionFails compares conversions with the ranges of Microsoft's reference: whether some value of one type is
// out of the range of the other.
func TestConversionFails(t *testing.T) {
	t.Parallel()
	parse := func(name string, args ...string) sqltype.Type {
		of, err := sqltype.Parse(name, args)
		if err != nil {
			t.Fatal(err)
		}
		return of
	}
	for _, test := range []struct {
		from, to sqltype.Type
		want     bool
	}{
		{parse("tinyint"), parse("int"), false},
		{parse("int"), parse("tinyint"), true},
		{parse("int"), parse("bigint"), false},
		{parse("int"), parse("bit"), false},
		{parse("int"), parse("float"), false},
		{parse("int"), parse("decimal", "10", "0"), false},
		{parse("int"), parse("decimal", "10", "1"), true},
		{parse("decimal", "10", "0"), parse("int"), true},
		{parse("decimal", "9", "2"), parse("int"), false},
		{parse("decimal", "9", "2"), parse("decimal", "10", "3"), false},
		{parse("decimal", "9", "2"), parse("decimal", "8", "1"), true}, // 9999999.99 rounds to 10000000.0
		{parse("decimal", "9", "2"), parse("decimal", "9", "1"), false},
		{parse("money"), parse("decimal", "19", "4"), false},
		{parse("money"), parse("decimal", "18", "4"), true},
		{parse("decimal", "19", "4"), parse("money"), true},
		{parse("money"), parse("smallmoney"), true},
		{parse("smallint"), parse("smallmoney"), false},
		{parse("int"), parse("smallmoney"), true},
		{parse("float"), parse("real"), true},
		{parse("real"), parse("float"), false},
		{parse("float"), parse("decimal", "38", "0"), true},
		{parse("varchar", "10"), parse("int"), true},
		{parse("varchar", "10"), parse("float"), true},
		{parse("int"), parse("varchar", "20"), false},
		{parse("int"), parse("varchar", "10"), true},
		{parse("varchar", "10"), parse("varchar", "5"), false},
		{parse("varchar", "10"), parse("date"), true},
		{parse("datetime2"), parse("datetime"), true},
		{parse("datetime"), parse("datetime2"), false},
		{parse("datetime2"), parse("date"), false},
		{parse("datetime"), parse("smalldatetime"), true},
		{parse("datetime2"), parse("datetimeoffset"), true},
		{parse("varbinary", "4"), parse("int"), false},
		{parse("uniqueidentifier"), parse("varchar", "36"), false},
	} {
		if got := conversionFails(test.from, test.to); got != test.want {
			t.Errorf("%s to %s: %v, want %v", test.from, test.to, got, test.want)
		}
	}
}
