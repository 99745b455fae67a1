package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/orchestrationtest"
)

// TestALargeOrder is the test of somebody who sees the program for the first time.
func TestALargeOrder(t *testing.T) {
	t.Parallel()
	env := orchestrationtest.New(t, append(shop{charge: sandbox}.activities(), newOrder, payment)...)
	orchestrationtest.Mock(env, charge, func(context.Context, bill) (answer, error) { return answer{Receipt: "paid"}, nil }).
		Fails(2, errors.New("no answer"))
	orchestrationtest.Raise(env.After(3*time.Hour), decided, decision{Approved: true, By: "Ada"})
	result, err := orchestrationtest.Run(env, newOrder, order{"piano", 4900_00})
	if err != nil || result != "paid, piano shipped" {
		t.Errorf("%q, %v", result, err)
	}
	env.WantCalls("Reserve @3h", "Charge @3h", "Charge @3h0m0.2s", "Charge @3h0m0.6s", "Ship @3h0m0.6s")
}

// TestOrdersThatEndEarly goes through the decisions and the cards that end an order.
func TestOrdersThatEndEarly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decide   func(m orchestrationtest.Moment)
		declined bool
		failure  string
		calls    []string
	}{
		"rejected": {func(m orchestrationtest.Moment) { orchestrationtest.Raise(m, decided, decision{By: "Ada"}) }, false, "rejected by Ada", nil},
		"nobody":   {func(orchestrationtest.Moment) {}, false, "nobody decided within a day", nil},
		"declined": {
			func(m orchestrationtest.Moment) { orchestrationtest.Raise(m, decided, decision{Approved: true}) }, true,
			"the card was declined",
			[]string{"Reserve", "Charge", "Release"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			charge := func(context.Context, bill) (answer, error) { return answer{Declined: c.declined}, nil }
			env := orchestrationtest.New(t, append(shop{charge: charge}.activities(), newOrder, payment)...)
			c.decide(env.After(23 * time.Hour))
			if _, err := orchestrationtest.Run(env, newOrder, order{"piano", 4900_00}); err == nil || err.Error() != c.failure {
				t.Errorf("%v, want %s", err, c.failure)
			}
			env.WantCalls(c.calls...)
		})
	}
}

// TestTheManualShowsThisTest compares docs/testing.md with TestALargeOrder.
func TestTheManualShowsThisTest(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("workbench_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(manual), "```go\n")
	shown, _, _ = strings.Cut(shown, "```")
	code := "\t" + strings.TrimSuffix(strings.ReplaceAll(shown, "\n", "\n\t"), "\t")
	if !strings.Contains(string(source), code) {
		t.Errorf("docs/testing.md shows another test:\n%s", shown)
	}
}
