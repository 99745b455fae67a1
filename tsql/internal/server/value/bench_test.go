package value_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

func BenchmarkCompare(b *testing.B) {
	benchmarks := []struct{ name, typ, x, y string }{
		{"int", "int", "1", "2"},
		{"bin2", "nvarchar(50)" + bin2, "order-12345678", "order-12345679"},
		{"ci ASCII", "nvarchar(50)" + ciAS, "order-12345678", "ORDER-12345679"},
		{"ci accents", "nvarchar(50)" + ciAS, "Bäcker 1", "Bäcker 2"},
		{"decimal", "decimal(18,2)", "1.50", "1.51"},
	}
	for _, bench := range benchmarks {
		typ := typ(b, bench.typ)
		x, y := val(b, bench.x, typ), val(b, bench.y, typ)
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if value.Compare(x, y, typ) >= 0 {
					b.Fatal("order")
				}
			}
		})
	}
}

func BenchmarkAppendKey(b *testing.B) {
	benchmarks := []struct{ name, typ, x string }{
		{"bigint", "bigint", "1"},
		{"bin2", "nvarchar(50)" + bin2, "order-12345678"},
		{"ci ASCII", "nvarchar(50)" + ciAS, "order-12345678"},
		{"ci accents", "nvarchar(50)" + ciAS, "Bäcker 1"},
		{"decimal", "decimal(18,2)", "1.50"},
		{"uniqueidentifier", "uniqueidentifier", "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
	}
	for _, bench := range benchmarks {
		typ := typ(b, bench.typ)
		x := val(b, bench.x, typ)
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = value.AppendKey(dst[:0], x, typ, false)
			}
		})
	}
}

func BenchmarkConvert(b *testing.B) {
	benchmarks := []struct{ name, from, to, x string }{
		{"same", "nvarchar(50)", "nvarchar(50)", "order-12345678"},
		{"nvarchar longer", "nvarchar(50)", "nvarchar(100)", "order-12345678"},
		{"int to bigint", "int", "bigint", "12345678"},
		{"small int to nvarchar", "int", "nvarchar(20)", "42"},
		{"int to nvarchar", "int", "nvarchar(20)", "12345678"},
		{"nvarchar to int", "nvarchar(20)", "int", "12345678"},
		{"datetime2 to datetime", "datetime2(7)", "datetime", "2024-01-01 10:00:00"},
		{"nvarchar to datetime2", "nvarchar(50)", "datetime2(7)", "2024-01-01 10:00:00.1234567"},
		{"datetime2 to nvarchar", "datetime2(7)", "nvarchar(50)", "2024-01-01 10:00:00.1234567"},
	}
	for _, bench := range benchmarks {
		from, to := typ(b, bench.from), typ(b, bench.to)
		x := val(b, bench.x, from)
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := value.Convert(x, from, to, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLike(b *testing.B) {
	p := value.CompileLike("order-%", 0, collation(b, "Latin1_General_100_BIN2"))
	b.ReportAllocs()
	for b.Loop() {
		if !p.Match("order-12345678", true) {
			b.Fatal("no match")
		}
	}
}
