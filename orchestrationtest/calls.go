package orchestrationtest

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/internal/payload"
)

// Call is a call of an activity, or of a mocked orchestration.
type Call struct {
	Name string
	// Instance is the id of the calling instance, or of the mocked orchestration itself.
	Instance string
	// Input is the input as it is recorded: JSON, or plain text.
	Input string
	// At is the time since the test's clock began.
	At  time.Duration
	sub bool
}

// String returns the call with its time, in the form of [Env.WantCalls].
func (c Call) String() string { return c.Name + " @" + c.At.String() }

// Calls returns all calls in the order in which they began. Each attempt of a retry is one call.
func (e *Env) Calls() []Call { return slices.Clone(e.calls) }

func (e *Env) called(sub bool, name, instance, input string) {
	e.calls = append(e.calls, Call{Name: name, Instance: instance, Input: input, At: e.elapsed(), sub: sub})
}

// Inputs returns the inputs of all calls of an activity, in the order of the calls.
func Inputs[I, O any](e *Env, def activity.Definition[I, O]) []I {
	e.t.Helper()
	var inputs []I
	for _, call := range e.calls {
		if call.Name != def.Name() || call.sub {
			continue
		}
		input, err := payload.Decode[I](call.Input)
		if err != nil {
			e.t.Fatalf("input of %s: %v", call.Name, err)
		}
		inputs = append(inputs, input)
	}
	return inputs
}

// WantCalls fails the test unless these calls of activities and of mocked sub-orchestrations were
// made, in this order, and no others. A call is its name, such as "Charge", or its name and its
// time since the clock began: "Charge @1h30m".
func (e *Env) WantCalls(want ...string) {
	e.t.Helper()
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 3, ' ', 0)
	fmt.Fprintf(w, "\twant\tgot\n")
	same := true
	for i := range max(len(want), len(e.calls)) {
		wanted, got := "nothing", "nothing"
		if i < len(want) {
			wanted = want[i]
		}
		if i < len(e.calls) {
			got = e.calls[i].String()
		}
		mark := "  "
		if i >= len(want) || i >= len(e.calls) || !e.calls[i].is(want[i]) {
			mark, same = "->", false
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", mark, wanted, got)
	}
	_ = w.Flush() // a strings.Builder takes everything
	if !same {
		e.t.Errorf("the calls differ from those wanted:\n%s", table.String())
	}
}

func (c Call) is(want string) bool {
	name, at, timed := strings.Cut(want, " @")
	if !timed {
		return c.Name == name
	}
	d, err := time.ParseDuration(at)
	return err == nil && c.Name == name && c.At == d
}
