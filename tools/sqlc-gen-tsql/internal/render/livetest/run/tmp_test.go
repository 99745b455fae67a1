package run_test
import ("testing";"context";"time";"database/sql";"os";"errors";"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/render/livetest/livedb")
func TestTmpTx(t *testing.T) {
	db, name := server(t)
	q0 := livedb.New(db, livedb.WithSchema("GEN_LIVE", name))
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Second); defer stop()
	tx := must(db.BeginTx(ctx, nil))(t)
	q := q0.WithTx(tx)
	n := 0
	for row, err := range q.CountTo(ctx, livedb.CountToParams{N: 5000}, nil) {
		n++
		if err != nil { t.Log("loop error", row.N, err); break }
		_ = row
	}
	t.Log(n)
	_, err := q.CountItems(ctx); t.Log("after:", err)
	t.Log(tx.Rollback())
	// break in tx
	tx = must(db.BeginTx(t.Context(), nil))(t)
	q = q0.WithTx(tx)
	for row := range q.CountTo(t.Context(), livedb.CountToParams{N: 5000}, nil) { if row.N == 3 {break} }
	_, err = q.CountItems(t.Context()); t.Log("after break:", err)
	// error in tx
	at := time.Now()
	_, err = q.AddItems(t.Context(), []livedb.AddItemsParams{{ID: 1, MadeAt: at}, {ID: 1, MadeAt: at}}); t.Log(err)
	c, err := q.CountItems(t.Context()); t.Log("after dup:", c, err)
	_, err = q.Flow(t.Context(), livedb.FlowParams{Which: 5}); t.Log(err)
	c, err = q.CountItems(t.Context()); t.Log("after throw:", c, err)
	_, err = q.Flow(t.Context(), livedb.FlowParams{Which: 9}); t.Log(err)
	c, err = q.CountItems(t.Context()); t.Log("after shape:", c, err)
	c2, cancel := context.WithCancel(t.Context())
	for row, err := range q.CountTo(c2, livedb.CountToParams{N: 5000}, nil) { if err != nil {t.Log(err, errors.Is(err, context.Canceled))}; if row.N == 3 {cancel()} }
	c, err = q.CountItems(t.Context()); t.Log("after cancel:", c, err)
	t.Log(tx.Rollback())
	old, _ := sql.Open("mssql", os.Getenv("DUROXIDE_TEST_MSSQL")); defer old.Close()
	_, err = livedb.New(old, livedb.WithSchema("GEN_LIVE", name)).CountOf(t.Context(), livedb.CountOfParams{}); t.Log("mssql", err)
}
