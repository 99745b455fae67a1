package function_test

import (
	"slices"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
)

// TestEveryFunctionHasAPlace: what the front end knows is evaluated here, or said to be elsewhere.
func TestEveryFunctionHasAPlace(t *testing.T) {
	t.Parallel()
	places := map[string][]string{
		"Scalars": function.Scalars(), "Aggregates": function.Aggregates(), "Windows": function.Windows(),
		"Lazy": function.Lazy(), "OfSession": function.OfSession(), "Unsupported": function.Unsupported(),
	}
	for _, name := range builtin.Names() {
		var found []string
		for place, names := range places {
			if slices.Contains(names, name) {
				found = append(found, place)
			}
		}
		if len(found) != 1 {
			t.Errorf("%s is in %v", name, found)
		}
	}
	for place, names := range places {
		for _, name := range names {
			if !slices.Contains(builtin.Names(), name) {
				t.Errorf("%s has %s, which the front end doesn't know", place, name)
			}
		}
	}
}

// TestRefused says what a call is refused with when it is compiled.
func TestRefused(t *testing.T) {
	t.Parallel()
	run(t, []example{
		{`LEN()`, `error 174`},
		{`LEN('a', 'b')`, `error 174`},
		{`SUBSTRING('a', 1)`, `error 174`},
		{`ROUND(1)`, `error 189`},
		{`CONCAT('a')`, `error 189`},
		{`DATEADD(sunday, 1, GETDATE())`, `error 155`},
		{`DATEPART(hour, CAST('2020-01-01' AS date))`, `error 9810`},
		{`DATEADD(year, 1, CAST('12:00' AS time))`, `error 9810`},
		{`DATEADD(ns, 1, GETDATE())`, `error 9810`},
		{`DATETIME2FROMPARTS(2020, 1, 1, 0, 0, 0, 0, 9)`, `error 10760`},
		{`ABS(CAST('2020-01-01' AS date))`, `error 8116`},
		{`SUBSTRING(1, 1, 1)`, `error 8116`},
		{`FORMAT('a', 'N')`, `error 8116`},
		{`DECOMPRESS('a')`, `error 8116`},
		{`ENCRYPTBYKEY(KEY_GUID('k'), 'x')`, `unsupported`},
		{`COALESCE(NULL, 1)`, `unsupported`},
		{`HASHBYTES('MD4', 'x')`, `unsupported`},
		{`TRIM(LEADING 'x' FROM 'xax')`, `unsupported`},
	})
}
