package main

import (
	"context"
	"errors"
	"flag"
	"path/filepath"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/orchestrationtest"
)

var record = flag.Bool("record", false, "write histories of orders, which later code has to fit")

// TestRunningOrdersGoOn replays histories of orders that older code has begun.
func TestRunningOrdersGoOn(t *testing.T) {
	t.Parallel()
	const folder = "testdata/histories"
	if *record {
		chair, piano := order{"chair", 49_00}, order{"piano", 4900_00}
		yes, no := &decision{Approved: true, By: "Ada"}, &decision{By: "Ada"}
		recordOrder(t, filepath.Join(folder, "small"), newOrder, chair, nil, false)
		recordOrder(t, filepath.Join(folder, "old"), firstOrder, piano, nil, false)
		recordOrder(t, filepath.Join(folder, "approved"), newOrder, piano, yes, false)
		recordOrder(t, filepath.Join(folder, "rejected"), newOrder, piano, no, false)
		recordOrder(t, filepath.Join(folder, "late"), newOrder, piano, nil, false)
		recordOrder(t, filepath.Join(folder, "declined"), newOrder, chair, nil, true)
	}
	folders, err := filepath.Glob(folder + "/*")
	if err != nil || len(folders) != 6 {
		t.Fatalf("%v, %v", folders, err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			orchestrationtest.ReplayDir(t, folder, firstOrder, newOrder, payment)
		})
	}
}

// recordOrder writes the histories of an order and of its payment.
func recordOrder(t *testing.T, folder string, def orchestration.Definition[order, string], o order, d *decision, declined bool) {
	t.Helper()
	answers := func(context.Context, bill) (answer, error) { return answer{Receipt: "paid", Declined: declined}, nil }
	env := orchestrationtest.New(t, append(shop{charge: answers}.activities(), firstOrder, newOrder, payment)...)
	orchestrationtest.Mock(env, charge, answers).Fails(1, errors.New("no answer"))
	if d != nil {
		orchestrationtest.Raise(env.After(time.Hour), decided, *d)
	}
	_, _ = orchestrationtest.Run(env, def, o) // some fail, and that is in the history
	for _, instance := range env.Instances() {
		env.Save(folder, instance)
	}
}
