package planner_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// BenchmarkSeek executes a query of one row, as procedures have many.
func BenchmarkSeek(b *testing.B) {
	l := newLab(b)
	l.run(shop + "DECLARE @id int = 3, @name nvarchar(50);")
	st, err := l.compile("SELECT @name = c.name FROM dbo.customers AS c WHERE c.id = @id")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := l.within(func() error { _, err := st.Run(l.frame(), nil); return err }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJoin executes a join with a sort.
func BenchmarkJoin(b *testing.B) {
	l := newLab(b)
	l.run(shop)
	st, err := l.compile("SELECT c.name, SUM(o.total) AS s FROM dbo.customers AS c JOIN dbo.orders AS o ON o.customer_id = c.id GROUP BY c.name ORDER BY s")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := l.within(func() error { _, err := st.Run(l.frame(), func([]value.Value) error { return nil }); return err }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompile compiles a query.
func BenchmarkCompile(b *testing.B) {
	l := newLab(b)
	l.run(shop)
	stmts := l.parse("SELECT c.name, SUM(o.total) AS s FROM dbo.customers AS c JOIN dbo.orders AS o ON o.customer_id = c.id GROUP BY c.name ORDER BY s")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := compileStatement(l, stmts[0]); err != nil {
			b.Fatal(err)
		}
	}
}
