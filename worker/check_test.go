package worker_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/worker"
)

// TestCheck replays what a worker has recorded against code that fits and code that does not.
func TestCheck(t *testing.T) {
	t.Parallel()
	store, run := leftWaiting(t)
	history := history(t, store, run.Instance())
	for name, c := range map[string]struct {
		definition worker.Registrable
		want       string
		misfit     bool
	}{
		"fits":            {waiting, "", false},
		"does not fit":    {changed, `execution 1: event 2 was a wait for event "go", the code now asks for activity "Echo" with 0 bytes at worker/hold_test.go:19`, true},
		"another version": {waiting.WithVersion("2.0.0"), `orchestration "Waiting" version 1.0.0 is not registered (versions that are: [2.0.0])`, false},
	} {
		w, err := worker.New(store, worker.Options{})
		if err == nil {
			err = w.Register(c.definition)
		}
		if err != nil {
			t.Fatal(err)
		}
		err = w.Check(t.Context(), history)
		misfit, ok := errors.AsType[*worker.MisfitError](err)
		if ok != c.misfit || ok && (misfit.Instance != run.Instance() || misfit.EventID != 2) {
			t.Errorf("%s: %+v", name, misfit)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err := w.Check(t.Context(), nil); err == nil {
			t.Errorf("%s: an empty history fits", name)
		}
	}
}
