package generate

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
)

// procedures returns the scripts of a system of n procedures with a table for every ten of them. Each procedure has
// five parameters and yields two result sets, over a join and over an aggregate.
func procedures(n int) []Source {
	var tables strings.Builder
	tables.WriteString("CREATE SCHEMA s;\nGO\n")
	for i := range n/10 + 1 {
		fmt.Fprintf(&tables, `CREATE TABLE s.t%d (
    id BIGINT NOT NULL PRIMARY KEY, parent BIGINT NULL, name NVARCHAR(200) NOT NULL, code VARCHAR(20) NULL,
    amount DECIMAL(19, 4) NOT NULL, changed_at DATETIME2(3) NOT NULL, body VARBINARY(MAX) NULL
);
GO
`, i)
	}
	sources := []Source{{Name: "schema.sql", Text: tables.String(), Role: Schema}}
	for i := range n {
		sources = append(sources, Source{
			Name: fmt.Sprintf("p%d.sql", i),
			Role: Procedures,
			Text: strings.NewReplacer("%p", fmt.Sprint(i), "%t", fmt.Sprint(i/10), "%u", fmt.Sprint(i/10+1)).Replace(`
-- p%p reads a row with its parent, and totals.
CREATE PROCEDURE s.p%p @id BIGINT, @name NVARCHAR(200) = NULL, @since DATETIME2(3), @code VARCHAR(20), @found INT OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @least DECIMAL(19, 4) = 0.5;
    IF @id < 0
        THROW 50001, N'no such id', 1;
    BEGIN TRY
        UPDATE s.t%t SET changed_at = SYSUTCDATETIME() WHERE id = @id AND (@name IS NULL OR name = @name);
        SET @found = @@ROWCOUNT;
    END TRY
    BEGIN CATCH
        THROW;
    END CATCH;
    -- gen:result Item
    SELECT a.id, a.name, COALESCE(a.code, @code, '') AS code, p.name AS parent_name, a.amount * 2 AS doubled, a.body
    FROM s.t%t AS a LEFT JOIN s.t%t AS p ON p.id = a.parent
    WHERE a.id = @id;
    -- gen:result Totals
    SELECT a.code, COUNT(*) AS items, SUM(a.amount) AS total, MAX(a.changed_at) AS latest
    FROM s.t%t AS a WHERE a.changed_at >= @since AND a.amount > @least GROUP BY a.code;
END;
`),
		})
	}
	return sources
}

func options(pkg string) config.Config {
	c := config.Default()
	c.Model.Package = pkg
	return c
}

// BenchmarkGenerate reports time and allocations for each procedure, from text to formatted Go.
func BenchmarkGenerate(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("procedures=%d", n), func(b *testing.B) {
			sources := procedures(n)
			b.ReportAllocs()
			for b.Loop() {
				if _, findings := Run(sources, options("db")); len(findings) > 0 {
					b.Fatal(findings.Format())
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/procedure")
		})
	}
}

// BenchmarkGenerateBesideCompile generates from 1,000 procedures and compiles the result, the packages it imports not
// counted, and reports the ratio: below 1, the generator is faster than the compiler.
func BenchmarkGenerateBesideCompile(b *testing.B) {
	sources := procedures(1000)
	var generating, compiling time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		result, findings := Run(sources, options("db"))
		generating += time.Since(start)
		if len(findings) > 0 {
			b.Fatal(findings.Format())
		}
		// Inside this module, so that the imports resolve; a folder whose name begins with _ is no package of "./...".
		folder, err := os.MkdirTemp(".", "_compile") //nolint:usetesting // inside the module
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { os.RemoveAll(folder) })
		for name, content := range result.Files {
			// A constant that differs each time keeps the compiler's cache out of the measurement.
			content = fmt.Appendf(content, "\nconst measured%s = %d\n", strings.Map(letters, name), time.Now().UnixNano())
			if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
				b.Fatal(err)
			}
		}
		build := func() {
			if out, err := exec.CommandContext(b.Context(), "go", "build", "./"+folder).CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
		}
		if i == 0 { // the packages that the result imports
			build()
			if err := os.WriteFile(filepath.Join(folder, "again.go"), []byte("package db\n\nconst again = 1\n"), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		start = time.Now()
		build()
		compiling += time.Since(start)
	}
	b.ReportMetric(generating.Seconds()/float64(b.N), "s/generate")
	b.ReportMetric(compiling.Seconds()/float64(b.N), "s/compile")
	b.ReportMetric(generating.Seconds()/compiling.Seconds(), "generate/compile")
}

// letters drops everything else from a name.
func letters(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
		return r
	}
	return -1
}
