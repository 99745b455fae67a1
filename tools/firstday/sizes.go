package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// growth is what was seen while the tables grew.
type growth struct {
	err error
	// sizes are how many instances there were, costs what each step cost then, with plans of the size before.
	sizes []int
	costs [][]cost
	// plans are the judgements of the plans that were made at each size; noPlans says why there are none.
	plans   judgement
	noPlans result
}

// Steps of an exercise.
const (
	fanOut   = "commit a turn that starts children"
	readyDue = "claim, which makes due timers ready"
	nothing  = "claim nothing"
)

// exercise does, with so many instances in the tables, what the plans of a young database are made for: a turn that
// starts many children with random ids, many timers that are due together, and a claim that finds nothing.
func (s *session) exercise(ctx context.Context) (costs []cost, err error) {
	if err := s.drain(ctx); err != nil {
		return nil, err
	}
	many := s.at.many()
	if _, err := s.store.StartInstance(ctx, start("parent "+rand.Text())); err != nil {
		return nil, err
	}
	parent, err := s.take(ctx)
	if err != nil {
		return nil, err
	}
	ack := turn(parent, provider.StatusCompleted, 1, provider.OrchestrationStarted{Name: order, Version: "1.0.0"}, provider.OrchestrationCompleted{})
	for range many {
		ack.OrchestratorItems = append(ack.OrchestratorItems, start("child "+rand.Text()))
	}
	c, err := s.step(ctx, fanOut, func() error { return s.store.AckOrchestrationItem(ctx, ack) })
	if err != nil {
		return nil, err
	}
	costs = append(costs, c)
	if err := s.drain(ctx); err != nil {
		return nil, err
	}
	if err := s.timers(ctx, many/2); err != nil {
		return nil, err
	}
	for _, what := range []string{readyDue, nothing} {
		c, err := s.step(ctx, what, func() error {
			fetched, err := s.store.FetchOrchestrationItem(ctx, fetchTurn)
			if err == nil && fetched != nil {
				err = s.store.AbandonOrchestrationItem(ctx, provider.AbandonParams{LockToken: fetched.LockToken, IgnoreAttempt: true})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		costs = append(costs, c)
		if err := s.drain(ctx); err != nil {
			return nil, err
		}
	}
	return costs, nil
}

// many is how many children a turn starts.
func (at *site) many() int {
	if at.quick {
		return 20
	}
	return 500
}

// timers sends so many starts that are due after a millisecond, and waits until they are.
func (s *session) timers(ctx context.Context, many int) error {
	before, err := s.store.CountHiddenMessages(ctx)
	if err != nil {
		return err
	}
	for range many {
		if err := s.store.EnqueueForOrchestrator(ctx, start("due "+rand.Text()), time.Millisecond); err != nil {
			return err
		}
	}
	return until(ctx, func() (bool, error) {
		hidden, err := s.store.CountHiddenMessages(ctx)
		return hidden <= before, err
	})
}

// grown has the tables grow through all sizes, once for all checks.
func (at *site) grown(ctx context.Context) *growth {
	if at.growth == nil {
		at.growth = &growth{plans: judgement{folder: at.folderOf("cached")}, noPlans: at.plansAreThere(ctx)}
		at.growth.err = at.throughSizes(ctx, at.growth)
	}
	return at.growth
}

func (at *site) throughSizes(ctx context.Context, g *growth) (err error) {
	if err := at.template(ctx); err != nil {
		return err
	}
	s, err := at.session()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := at.forgetPlans(ctx); err != nil {
		return err
	}
	from := 0
	for _, size := range at.sizes {
		if err := at.clone(ctx, from, size); err != nil {
			return fmt.Errorf("filling the tables: %w", err)
		}
		from = max(from, size)
		costs, err := s.exercise(ctx) // with the plans that were made at the size before
		if err != nil {
			return fmt.Errorf("with %d instances: %w", size, err)
		}
		g.sizes, g.costs = append(g.sizes, size), append(g.costs, costs)
		if g.noPlans.outcome == notDone {
			continue
		}
		if err := at.forgetPlans(ctx); err != nil {
			return err
		}
		if _, err := s.exercise(ctx); err != nil {
			return fmt.Errorf("with %d instances and new plans: %w", size, err)
		}
		if err := at.cached(ctx, &g.plans, fmt.Sprint(size)); err != nil {
			return err
		}
	}
	return nil
}

// An orchestration that waits for a day, after some work: an activity that ended, one that nobody takes, a key, a
// timer.
var (
	waiting  = orchestration.NewKey[string]("waiting")
	template = orchestration.New("Template", func(ctx *orchestration.Context, _ string) (string, error) {
		if _, err := orchestration.Activity(ctx, echo, payload).Await(); err != nil {
			return "", err
		}
		waiting.Set(ctx, payload)
		orchestration.Activity(ctx, echo, payload, orchestration.WithTag("nobody"))
		return "", ctx.Sleep(24 * time.Hour)
	})
)

// templateID is the instance whose rows are copied.
const templateID = "template"

// template runs the instance whose rows are copied until it waits.
func (at *site) template(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c, err := at.hire(ctx, defaults(), template)
	if err != nil {
		return err
	}
	err = c.waits(ctx)
	return errors.Join(err, c.stop())
}

// clone adds instances with numbers from one to below another: copies of the template's rows in every table.
func (at *site) clone(ctx context.Context, from, to int) error {
	columns, err := scan(ctx, at.db, `SELECT t.name, c.name
		FROM sys.tables AS t
		INNER JOIN sys.columns AS c ON c.object_id = t.object_id
		WHERE t.schema_id = SCHEMA_ID(@p1) AND c.is_identity = 0 AND c.is_computed = 0
			AND EXISTS (SELECT 1 FROM sys.columns AS i WHERE i.object_id = t.object_id AND i.name = N'instance_id')
		ORDER BY t.name, c.column_id`, schema)
	if err != nil {
		return err
	}
	var tables []string
	of := map[string][]string{}
	for _, row := range columns {
		if !slices.Contains(tables, row[0]) {
			tables = append(tables, row[0])
		}
		of[row[0]] = append(of[row[0]], row[1])
	}
	const portion = 10_000
	for ; from < to; from += portion {
		for _, name := range tables {
			var targets, sources []string
			for _, column := range of[name] {
				targets = append(targets, "["+column+"]")
				if column == "instance_id" {
					sources = append(sources, "CONCAT(N'filler ', n.n)")
				} else {
					sources = append(sources, "t.["+column+"]")
				}
			}
			//nolint:gosec // names that the server told, in brackets
			_, err := at.db.ExecContext(ctx, fmt.Sprintf(`WITH d AS (SELECT v.n FROM (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS v (n))
				INSERT INTO %[1]s.[%[2]s] (%[3]s)
				SELECT %[4]s
				FROM (SELECT @p1 + a.n + 10 * b.n + 100 * c.n + 1000 * d.n AS n FROM d AS a CROSS JOIN d AS b CROSS JOIN d AS c CROSS JOIN d AS d) AS n
				INNER JOIN %[1]s.[%[2]s] AS t ON t.instance_id = @p3
				WHERE n.n < @p2`, schema, name, strings.Join(targets, ", "), strings.Join(sources, ", ")), from, to, templateID)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// checkReads compares what the steps cost as the tables grew.
func checkReads(ctx context.Context, at *site) result {
	g := at.grown(ctx)
	if g.err != nil {
		return fails("%v", g.err)
	}
	var bad []string
	var rows [][]string
	for i, size := range g.sizes {
		for n, c := range g.costs[i] {
			first := g.costs[0][n].reads
			// Indexes get two levels more, and each name and message is another seek.
			if most := 4*first + 200; c.reads > most {
				bad = append(bad, fmt.Sprintf("*%s* reads %d beside %d instances, and %d with none", c.what, c.reads, size, first))
			}
			locked := c.rowLocks("inboxes")
			if most := at.many() + 2; locked > most {
				bad = append(bad, fmt.Sprintf("*%s* locks %d inboxes beside %d instances, of at most %d", c.what, locked, size, most))
			}
			rows = append(rows, []string{c.what, fmt.Sprint(size), fmt.Sprint(c.reads), fmt.Sprint(locked)})
		}
	}
	slices.SortStableFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	details := table([]string{"Step", "Instances in the tables", "Logical reads", "Inboxes locked at the end"}, rows)
	if len(bad) > 0 {
		return fails("%s.", strings.Join(bad, "; ")).with(details...)
	}
	return holds("A turn that starts %d children, %d timers that are due, and a claim that finds nothing cost about the same, with plans that were made at the size before.",
		at.many(), at.many()/2).with(details...)
}

// rowLocks is how many rows of a table a step has locked: keys of its clustered index.
func (c cost) rowLocks(name string) (n int) {
	for _, l := range c.locks {
		if l.table == name && l.resource == "KEY" && l.clustered {
			n += l.count
		}
	}
	return n
}
