package planner_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
)

// BenchmarkWrites measures compiled statements on a table like a queue.
func BenchmarkWrites(b *testing.B) {
	for name, text := range map[string]string{
		"insert": `INSERT q (instance_id, kind, item, visible_at, created_at) VALUES (N'i1', 1, N'{}', 5, 6)`,
		"update": `UPDATE q SET lock_token = '11111111-1111-1111-1111-111111111111', attempt_count += 1 WHERE instance_id = N'i1' AND id = 1`,
		"output": `UPDATE q SET attempt_count += 1 OUTPUT inserted.id WHERE instance_id = N'i1' AND id = 1`,
	} {
		b.Run(name, func(b *testing.B) {
			w := newWriter(b)
			w.do(`CREATE TABLE q (instance_id nvarchar(400) COLLATE Latin1_General_100_BIN2 NOT NULL, id bigint NOT NULL IDENTITY, kind tinyint NOT NULL,
item nvarchar(max) NOT NULL, visible_at bigint NOT NULL, lock_token uniqueidentifier NULL, attempt_count int NOT NULL DEFAULT 0, created_at bigint NOT NULL,
PRIMARY KEY (instance_id, id), CHECK (kind IN (0, 1, 2, 3)), CHECK (attempt_count >= 0), INDEX k (instance_id, kind, visible_at, id));
INSERT q (instance_id, kind, item, visible_at, created_at) VALUES (N'i1', 1, N'{}', 5, 6)`)
			st, err := planner.Compile(w.env(), w.parse(text)[0])
			if err != nil {
				b.Fatal(err)
			}
			x := w.frame()
			b.ReportAllocs()
			for b.Loop() {
				if err := w.within(func() error {
					_, err := st.Run(x, func([]execute.Value) error { return nil })
					return err
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
