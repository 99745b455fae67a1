package tsqltest_test

import (
	"errors"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// Whatever makes a long value of short ones stops at 256 MiB, before it has taken the memory.
func TestValuesOfMoreThan256MiBAreRefused(t *testing.T) {
	t.Parallel()
	conn, err := tsqltest.New(t, tsqltest.Options{}).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const long = "DECLARE @x VARCHAR(MAX) = REPLICATE(CAST('x' AS VARCHAR(MAX)), 100000000), @b VARBINARY(MAX); "
	for _, expr := range []string{
		"REPLICATE(@x, 3)",
		"CONCAT(@x, @x, @x)",
		"CONCAT_WS(@x, @x, @x)",
		"@x + @x + @x",
		"REPLACE('aaa', 'a', @x)",
	} {
		if _, err := conn.Exec(t.Context(), long+"SELECT LEN("+expr+")"); !isUnsupported(err) {
			t.Errorf("%s: %v; want error 49900", expr, err)
		}
	}
	for _, batch := range []string{
		long + "SELECT LEN(STRING_AGG(@x, '')) FROM (VALUES (1), (2), (3)) AS v (a)",
		long + "SET @b = CAST(@x AS VARBINARY(MAX)); SELECT DATALENGTH(@b + @b + @b)",
		"SELECT LEN(REPLICATE(CAST('x' AS VARCHAR(MAX)), 268435457))",
	} {
		if _, err := conn.Exec(t.Context(), batch); !isUnsupported(err) {
			t.Errorf("%s: %v; want error 49900", batch, err)
		}
	}
	if _, err := conn.Exec(t.Context(), "SELECT LEN(REPLICATE(CAST('x' AS VARCHAR(MAX)), 268435456))"); err != nil {
		t.Error(err)
	}
}

func isUnsupported(err error) bool {
	e, ok := errors.AsType[*tsqltest.Error](err)
	return ok && e.Number == 49900
}
