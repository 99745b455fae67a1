package syntax

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// sample is a file with something of everything that scripts are made of.
const sample = `-- name: Sample :one
CREATE TABLE dbo.orders (
    id bigint IDENTITY(1,1) NOT NULL CONSTRAINT pk_orders PRIMARY KEY CLUSTERED WITH (FILLFACTOR = 80),
    customer nvarchar(50) COLLATE Latin1_General_BIN2 NULL, total AS (price * n) PERSISTED,
    price decimal(18, 2) NOT NULL DEFAULT (0), n int CHECK (n > 0), payload varbinary(max),
    CONSTRAINT fk FOREIGN KEY (customer) REFERENCES dbo..customers (id) ON DELETE CASCADE, INDEX ix (n DESC)
) WITH (DATA_COMPRESSION = PAGE);
CREATE UNIQUE INDEX ix_orders ON dbo.orders (customer, n DESC) INCLUDE (price) WHERE n IS NOT NULL;
GO
CREATE OR ALTER PROCEDURE dbo.place_order
    @customer nvarchar(50), @lines dbo.lines READONLY, @id bigint = NULL OUTPUT
WITH EXECUTE AS OWNER AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    DECLARE @now datetime2(7) = SYSUTCDATETIME();
    DECLARE @t TABLE (id int PRIMARY KEY);
    BEGIN TRY
        BEGIN TRANSACTION;
        WITH c (a) AS (SELECT TOP (1) x.id FROM dbo.orders AS x WITH (UPDLOCK, READPAST) WHERE x.n BETWEEN 1 AND 5 ORDER BY x.id)
        UPDATE o SET n += 1, @id = o.id OUTPUT inserted.id INTO @t (id) FROM dbo.orders AS o INNER JOIN c ON c.a = o.id
        WHERE o.customer LIKE N'a%' ESCAPE '!' AND NOT EXISTS (SELECT 1 FROM @lines) OPTION (RECOMPILE);
        IF @@ROWCOUNT = 0 INSERT INTO dbo.orders (customer) OUTPUT inserted.* VALUES (@customer), (DEFAULT);
        ELSE IF @id IS NULL THROW 50010, N'lock_lost', 1;
        ELSE BEGIN DELETE TOP (5) FROM dbo.orders WHERE n IN (1, 2, -3); RETURN 1 END
        WHILE @@TRANCOUNT > 1 BEGIN COMMIT; CONTINUE; END
        MERGE dbo.orders AS t USING @lines AS s ON t.id = s.id WHEN MATCHED THEN DELETE
        WHEN NOT MATCHED THEN INSERT (n) VALUES (s.n);
        EXEC @rc = dbo.p @a = 1, @b = @id OUTPUT WITH RESULT SETS ((id int NOT NULL));
    END TRY
    BEGIN CATCH
        IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
        RAISERROR ('x %d', 16, 1, @id) WITH NOWAIT;
    END CATCH
    SELECT CASE a WHEN 1 THEN 'x' ELSE N'y' END AS c, SUM(b) OVER (PARTITION BY a ORDER BY b ROWS UNBOUNDED PRECEDING),
        CAST(0x1F AS int), COUNT(DISTINCT a), -1.5e3, $2, CONVERT(varchar(10), d, 126) COLLATE Latin1_General_BIN2
    FROM (VALUES (1, 2)) AS v (a, b) LEFT JOIN OPENJSON(@j) WITH (a int '$.a') AS j ON j.a = v.a
    GROUP BY ROLLUP (a) HAVING COUNT(*) > 1 UNION ALL (SELECT * FROM dbo.f(1)) ORDER BY 1 OFFSET 5 ROWS FETCH NEXT 10 ROWS ONLY FOR JSON PATH
    lbl: GOTO lbl; FETCH NEXT FROM cur INTO @a; WAITFOR DELAY '00:00:01'; PRINT 'x' + 'y';
END
GO
CREATE FUNCTION dbo.f (@a int) RETURNS TABLE WITH SCHEMABINDING AS RETURN (SELECT @a AS a)
GO 2
GRANT SELECT, EXECUTE ON SCHEMA::dbo TO [my role] /* the end */
`

// FuzzParse checks that no text makes the parser panic or hang, and that what it returns fits the text.
func FuzzParse(f *testing.F) {
	for s := range strings.SplitSeq(sample, ";") {
		f.Add(s)
	}
	f.Add(sample)
	for _, s := range []string{
		"", "GO", "BEGIN", "END", "IF 1 = 1", "CREATE", "BEGIN TRY", "ALTER TABLE t DROP a, COLUMN b", "SET a,b ON",
		"DROP INDEX a ON b, c ON d", "EXEC ('x') AT y", "..", "a.b.c.d.e", "WITH", "MERGE", "DECLARE c CURSOR FOR",
		"ALTER TABLE t ADD a int PRIMARY KEY (a)", "IF 1=1 SET ANSI_NULLS, QUOTED_IDENTIFIER ON ELSE THROW", "((((",
		"BEGIN TRY BEGIN END TRY", "CREATE VIEW v AS SELECT 1 2", "GRANT a ON b::c TO d", "\xff", "/*", "'", "[", "CASE END ELSE",
	} {
		f.Add(s)
	}
	for _, c := range statementCases() {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := diag.NewFile("t.sql", text)
		script, found := Parse(file)
		for _, d := range found {
			if d.Span.From < 0 || d.Span.To < d.Span.From || int(d.Span.To) > len(file.Text) {
				t.Errorf("finding %q at %v of %d bytes", d.Message, d.Span, len(file.Text))
			}
		}
		for _, c := range script.Comments {
			if c.From < 0 || c.To < c.From || int(c.To) > len(file.Text) {
				t.Errorf("comment at %v of %d bytes", c.Span, len(file.Text))
			}
		}
		for _, batch := range script.Batches {
			checkSpans(t, file, batch)
		}
	})
}

// checkSpans checks that every node lies in the file and in the node above it.
func checkSpans(t *testing.T, file *diag.File, root Node) {
	t.Helper()
	above := []diag.Span{{From: 0, To: diag.Pos(len(file.Text))}}
	Inspect(root, func(n Node) bool {
		span, outer := n.Range(), above[len(above)-1]
		if span.From > span.To || span.From < outer.From || span.To > outer.To {
			t.Errorf("%T at %v isn't within %v: %s", n, span, outer, sexpr(n))
		}
		above = append(above, span)
		return true
	}, func(Node) { above = above[:len(above)-1] })
}

// TestSpans runs the property of FuzzParse on the sample, which must be free of errors.
func TestSpans(t *testing.T) {
	t.Parallel()
	file := diag.NewFile("t.sql", sample)
	script, found := Parse(file)
	if len(found) > 0 {
		t.Fatal(found.Format())
	}
	for _, batch := range script.Batches {
		checkSpans(t, file, batch)
	}
}

// repeated returns a file of at least a given size made of copies of a text.
func repeated(text string, size int) *diag.File {
	return diag.NewFile("t.sql", strings.Repeat(text, size/len(text)+1))
}

// allocated returns how many bytes and how many objects parsing a file allocates.
func allocated(file *diag.File) (bytes, objects uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	script, _ := Parse(file)
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(script)
	return after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs
}

// TestParseIsLinear compares what parsing 0.5 MB and 5 MB allocates: of good text in many batches, of one procedure, of
// one statement, and of text that is nothing but errors.
func TestParseIsLinear(t *testing.T) { //nolint:paralleltest // it counts what the whole process allocates
	const small, factor = 500_000, 10
	//nolint:paralleltest // as above
	for name, part := range map[string]struct{ head, text string }{
		"batches":   {"", sample},
		"body":      {"CREATE PROCEDURE p AS\n", "UPDATE dbo.t SET a = a + 1 WHERE b IN (1, 2, 3)\nIF @a = 1 BEGIN PRINT 'x' END ELSE SELECT 1\n"},
		"statement": {"INSERT INTO t (a, b) VALUES (0, 0)", ",\n(1, N'text'), (@a, DEFAULT)"},
		"errors":    {"", "SELCT 1 FROM t WHERE (a = 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			of := func(size int) *diag.File {
				return diag.NewFile("t.sql", part.head+repeated(part.text, size).Text)
			}
			bytes, objects := allocated(of(small))
			moreBytes, moreObjects := allocated(of(small * factor))
			// Slices that grow make it a little more than linear at worst.
			if limit := bytes * factor * 3 / 2; moreBytes > limit {
				t.Errorf("%d bytes for %d times the text of which %d were allocated for one", moreBytes, factor, bytes)
			}
			if limit := objects * factor * 3 / 2; moreObjects > limit {
				t.Errorf("%d objects for %d times the text of which %d were allocated for one", moreObjects, factor, objects)
			}
		})
	}
}

// BenchmarkParse measures the throughput at two sizes, which should be the same.
func BenchmarkParse(b *testing.B) {
	for _, size := range []int{50_000, 5_000_000} {
		b.Run(fmt.Sprintf("%dKB", size/1000), func(b *testing.B) {
			file := repeated(sample, size)
			b.SetBytes(int64(len(file.Text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, found := Parse(file); len(found) > 0 {
					b.Fatal(found.Format())
				}
			}
		})
	}
}
