package store_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// benchmark runs f in a statement of a transaction each, on a table of 10,000 rows and two indexes.
func benchmark(b *testing.B, o store.StatementOptions, f func(l *lab, st *store.Statement, n int64) error) {
	b.Helper()
	l := newLab(b)
	const rows = 10_000
	for n := range int64(rows) {
		l.fill(row(n, n, 0))
	}
	s := l.e.Session(1)
	b.ReportAllocs()
	n := int64(rows)
	for b.Loop() {
		s.Begin(o.Isolation)
		st := s.Statement(b.Context(), o)
		if err := f(l, st, n); err != nil {
			b.Fatal(err)
		}
		st.End(nil)
		s.Commit()
		n++
	}
}

func BenchmarkInsert(b *testing.B) {
	benchmark(b, store.StatementOptions{}, func(l *lab, st *store.Statement, n int64) error {
		_, err := st.Insert(l.table, row(n, n, 0))
		return err
	})
}

func seek(st *store.Statement, ix *store.Index, n int64, a store.Access) (*store.Cursor, error) {
	c := st.Scan(ix, one(n), false, a)
	_, err := c.Next()
	return c, err
}

func BenchmarkSeek(b *testing.B) {
	for name, o := range map[string]store.StatementOptions{
		"locked": {}, "versions": {RowVersions: true}, "serializable": {Isolation: store.Serializable},
	} {
		b.Run(name, func(b *testing.B) {
			benchmark(b, o, func(l *lab, st *store.Statement, n int64) error {
				c, err := seek(st, l.pk, n*7919%10_000, st.Access())
				c.Close()
				return err
			})
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	benchmark(b, store.StatementOptions{}, func(l *lab, st *store.Statement, n int64) error {
		a := st.Access()
		a.Lookup = true
		c, err := seek(st, l.ix, n*7919%10_000, a)
		c.Close()
		return err
	})
}

func BenchmarkUpdate(b *testing.B) {
	benchmark(b, store.StatementOptions{}, func(l *lab, st *store.Statement, n int64) error {
		c, err := seek(st, l.pk, n*7919%10_000, store.Access{Mode: lock.U})
		if err == nil {
			err = st.Update(l.table, c.Row(), with(c.Values(), v, n))
		}
		c.Close()
		return err
	})
}

func BenchmarkUpdateOfAnIndexedColumn(b *testing.B) {
	benchmark(b, store.StatementOptions{}, func(l *lab, st *store.Statement, n int64) error {
		c, err := seek(st, l.pk, n*7919%10_000, store.Access{Mode: lock.U})
		if err == nil {
			err = st.Update(l.table, c.Row(), with(c.Values(), k, n))
		}
		c.Close()
		return err
	})
}

func BenchmarkScan(b *testing.B) {
	for name, o := range map[string]store.StatementOptions{"locked": {}, "versions": {RowVersions: true}} {
		b.Run(name, func(b *testing.B) {
			benchmark(b, o, func(l *lab, st *store.Statement, _ int64) error {
				c := st.Scan(l.pk, between(0, 99), false, st.Access())
				defer c.Close()
				for {
					ok, err := c.Next()
					if err != nil || !ok {
						return err
					}
				}
			})
		})
	}
}
