package planner_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// anyPlan takes any plan that is legal, by a seed.
type anyPlan struct{ random *rand.Rand }

func (c *anyPlan) Choose(_ string, costs []float64) int { return c.random.IntN(len(costs)) }

// TestAnyPlan executes queries by plans taken at random: all must have the same rows.
func TestAnyPlan(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"SELECT c.name, o.id, o.total FROM dbo.customers AS c JOIN dbo.orders AS o ON o.customer_id = c.id AND o.total > 2 WHERE c.id < 4",
		"SELECT c.name, o.id, p.id FROM dbo.customers AS c LEFT JOIN dbo.orders AS o ON o.customer_id = c.id LEFT JOIN dbo.orders AS p ON p.customer_id = o.customer_id AND p.id > o.id",
		"SELECT a.name, b.name, o.note FROM dbo.customers AS a JOIN dbo.customers AS b ON b.city = a.city JOIN dbo.orders AS o ON o.customer_id = b.id WHERE a.id <> b.id OR o.note IS NULL",
		"SELECT c.name, x.n FROM dbo.customers AS c CROSS APPLY (SELECT COUNT(*) AS n FROM dbo.orders AS o WHERE o.customer_id = c.id) AS x JOIN dbo.orders AS p ON p.id = x.n",
		"SELECT c.name FROM dbo.customers AS c WHERE c.city IN (N'Rome', N'Oslo') AND c.id IN (SELECT o.customer_id FROM dbo.orders AS o)",
		"SELECT MIN(o.at) AS a, MAX(o.id) AS b FROM dbo.orders AS o WHERE o.customer_id IN (1, 3)",
		"SELECT MAX(o.at) AS a FROM dbo.orders AS o WHERE o.customer_id = 1 AND o.total < 15",
		"SELECT d.c, d.n FROM (SELECT o.customer_id AS c, COUNT(*) AS n FROM dbo.orders AS o GROUP BY o.customer_id) AS d JOIN dbo.customers AS c ON c.id = d.c WHERE d.c > 1",
		"SELECT u.id FROM (SELECT id, customer_id AS c FROM dbo.orders UNION ALL SELECT id, id FROM dbo.customers) AS u JOIN dbo.customers AS c ON c.id = u.c WHERE u.id BETWEEN 2 AND 4",
		"SELECT TOP (3) o.id FROM dbo.orders AS o JOIN dbo.customers AS c ON c.id = o.customer_id ORDER BY o.at DESC, o.id",
		"SELECT a.id, b.id FROM dbo.customers AS a FULL JOIN dbo.orders AS b ON b.customer_id = a.id AND b.total < 8",
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.run(shop)
			var want []string
			plans := map[string]bool{}
			for seed := range uint64(60) {
				if seed > 0 {
					l.chooser = &anyPlan{rand.New(rand.NewPCG(seed, 1))}
				}
				st, err := l.compile(query)
				if err != nil {
					t.Fatal(err)
				}
				got, err := l.query(query)
				if err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, st.Explain)
				}
				slices.Sort(got)
				if seed == 0 {
					want = got
					if len(want) == 0 {
						t.Fatal("no rows")
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d: got %v, want %v\n%s", seed, got, want, st.Explain)
				}
				plans[st.Explain] = true
			}
			if len(plans) < 2 && strings.Contains(query, "JOIN") {
				t.Error("only one plan:", fmt.Sprint(plans))
			}
		})
	}
}
