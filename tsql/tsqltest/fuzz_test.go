package tsqltest_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// seeds are batches of all kinds of statements; the fuzzer makes others of them.
var seeds = []string{
	"SELECT TOP (2) p.sku, p.price * 2 AS twice FROM dbo.products AS p WHERE p.stock BETWEEN 1 AND 20 ORDER BY p.name DESC",
	"DECLARE @n int = 3; WHILE @n > 0 BEGIN SET @n -= 1; IF @n = 1 BREAK; END; PRINT CONCAT('n is ', @n)",
	"BEGIN TRY INSERT INTO dbo.products (sku, name, price) VALUES ('tea', N'x', -1) END TRY BEGIN CATCH SELECT ERROR_NUMBER(), XACT_STATE() END CATCH",
	"BEGIN TRANSACTION; UPDATE dbo.products SET stock += 1 OUTPUT inserted.sku, deleted.stock; SAVE TRANSACTION s; DELETE FROM dbo.orders; ROLLBACK TRANSACTION s; COMMIT",
	"WITH c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 10) SELECT SUM(n) OVER (ORDER BY n ROWS 2 PRECEDING), ROW_NUMBER() OVER (ORDER BY n) FROM c",
	"SELECT j.[key], j.value, w.a FROM OPENJSON(N'[1,{\"a\":2}]') AS j OUTER APPLY OPENJSON(CASE WHEN ISJSON(j.value) = 1 THEN j.value END) WITH (a int '$.a') AS w",
	"MERGE dbo.products AS t USING (VALUES ('tea', 1), ('mug', 2)) AS s (sku, n) ON t.sku = s.sku WHEN MATCHED THEN UPDATE SET stock = s.n WHEN NOT MATCHED THEN INSERT (sku, name, price) VALUES (s.sku, N'Mug', 1) OUTPUT $action;",
	"CREATE TABLE #t (id int IDENTITY PRIMARY KEY, v nvarchar(10) COLLATE Latin1_General_100_BIN2 UNIQUE); INSERT INTO #t (v) VALUES (N'a'), (N'b'); SELECT * FROM #t; DROP TABLE #t",
	"EXEC sp_executesql N'SELECT @a + 1, LEN(@b)', N'@a decimal(10, 2), @b varchar(max)', @a = 1.5, @b = 'x '",
	"SELECT CAST('2024-02-29' AS date), DATEADD(MONTH, 1, '20240131'), CONVERT(varchar(30), GETDATE(), 121), TRY_CAST('x' AS int), 1 / 3.0, 0x10 ^ 3, N'ß' COLLATE Latin1_General_CI_AS",
	"CREATE PROCEDURE dbo.p @x int = 1 OUTPUT AS BEGIN SET NOCOUNT ON; SELECT @x; RETURN 7 END",
	"SELECT c.name, t.name FROM sys.columns AS c INNER JOIN sys.types AS t ON t.user_type_id = c.user_type_id WHERE c.object_id = OBJECT_ID(N'dbo.products')",
	"SET LOCK_TIMEOUT 0; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; SELECT COUNT(*) FROM dbo.products WITH (UPDLOCK, HOLDLOCK, INDEX (pk_products))",
	"DECLARE c CURSOR FOR SELECT sku FROM dbo.products; OPEN c; FETCH NEXT FROM c; CLOSE c; DEALLOCATE c; RAISERROR ('%s %d', 16, 1, 'x', 3)",
}

// patience is how long a batch of the fuzzer may go on after it was cancelled. Cancelled ones end at their next
// statement.
const patience = 20 * time.Second

// FuzzBatch executes batches in a shop. Whatever they are, the server answers: no panic, which would come as an error
// of class 20, and no batch that goes on when it has been cancelled.
func FuzzBatch(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	scripts := os.DirFS("testdata/shop")
	f.Fuzz(func(t *testing.T, batch string) {
		server := tsqltest.New(t, tsqltest.Options{Seed: 1})
		server.Apply(t, scripts, "schema.sql", "procedures/*.sql")
		conn, err := server.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			_, err := conn.Exec(ctx, batch)
			ended <- err
		}()
		select {
		case err := <-ended:
			if err != nil && strings.Contains(err.Error(), "tsqltest has failed") {
				t.Fatal(err)
			}
		case <-time.After(patience):
			t.Fatalf("the batch goes on after it was cancelled: %q", batch)
		}
	})
}
