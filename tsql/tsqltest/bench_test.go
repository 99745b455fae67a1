package tsqltest_test

import (
	"database/sql"
	"os"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

func newShop(tb testing.TB) *tsqltest.Server {
	tb.Helper()
	server := tsqltest.New(tb, tsqltest.Options{})
	server.Apply(tb, os.DirFS("testdata/shop"), "schema.sql", "procedures/*.sql")
	return server
}

// BenchmarkCall measures a small procedure, an update and a read by key, through a session without a socket.
func BenchmarkCall(b *testing.B) {
	conn, err := newShop(b).Connect(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	for b.Loop() {
		if _, err := conn.Call(b.Context(), "dbo.reserve", tsqltest.Arg{Name: "sku", Value: "tea"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCallTDS measures the same through the driver.
func BenchmarkCallTDS(b *testing.B) {
	db := newShop(b).DB()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			var stock int
			if err := db.QueryRowContext(b.Context(), "dbo.reserve", sql.Named("sku", "tea")).Scan(&stock); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
