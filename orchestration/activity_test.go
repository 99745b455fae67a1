package orchestration_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
)

type order struct {
	SKU   int      `json:"sku"`
	Notes []string `json:"notes"`
}

func TestActivitiesOneAfterTheOther(t *testing.T) {
	t.Parallel()
	hello := orchestration.New("HelloCities", func(ctx *orchestration.Context, cities []string) (string, error) {
		var greetings []string
		for _, city := range cities {
			greeting, err := orchestration.Activity(ctx, greet, city).Await()
			if err != nil {
				return "", err
			}
			greetings = append(greetings, greeting)
		}
		return strings.Join(greetings, " "), nil
	})
	e := newEngine(t, hello, greet)
	if got, want := result(t, start(e, hello, []string{"Oslo", "Lima"})), "Hello, Oslo! Hello, Lima!"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
}

func TestTypedPayloads(t *testing.T) {
	t.Parallel()
	annotate := activity.New("Annotate", func(_ context.Context, o order) (*order, error) {
		o.Notes = append(o.Notes, `"quoted"`, "null")
		return &o, nil
	})
	def := orchestration.New("Typed", func(ctx *orchestration.Context, o order) (order, error) {
		annotated, err := orchestration.Activity(ctx, annotate, o).Await()
		return *annotated, err
	})
	e := newEngine(t, def, annotate)
	want := order{SKU: 7, Notes: []string{"a", `"quoted"`, "null"}}
	if diff := cmp.Diff(want, result(t, start(e, def, order{SKU: 7, Notes: []string{"a"}}))); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

// Strings that look like JSON stay what they are on the whole way.
func TestAnyPayloads(t *testing.T) {
	t.Parallel()
	echo := activity.New("Echo", func(_ context.Context, v any) (any, error) { return v, nil })
	def := orchestration.New("Any", func(ctx *orchestration.Context, v any) (any, error) {
		return orchestration.Activity(ctx, echo, v).Await()
	})
	e := newEngine(t, def, echo)
	for i, want := range []any{nil, "", "42", 42.0, "null", `"x"`, `{"a":1}`, map[string]any{"a": "1"}} {
		run, err := client.Start(t.Context(), e.client, def, fmt.Sprint(i), want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, result(t, run)); diff != "" {
			t.Errorf("output (-want +got):\n%s", diff)
		}
	}
}

// A text that is not what the receiver declared fails where it is received, and the
// error does not quote it.
func TestPayloadsThatDoNotFit(t *testing.T) {
	t.Parallel()
	takesNumber := orchestration.New("TakesNumber", func(ctx *orchestration.Context, _ int) (string, error) {
		return orchestration.NewEvent[string]("never").Wait(ctx).Await()
	})
	wantsNumber := orchestration.New("WantsNumber", func(ctx *orchestration.Context, from string) (string, error) {
		var err error
		switch from {
		case "activity's result":
			_, err = orchestration.Activity(ctx, activity.Declare[string, int]("Greet"), "secret").Await()
		case "activity's input":
			_, err = orchestration.Activity(ctx, activity.Declare[string, int]("Double"), "secret").Await()
		case "child's input":
			_, err = orchestration.SubOrchestration(ctx, orchestration.Declare[string, string]("TakesNumber"), "secret").Await()
		case "child's result":
			_, err = orchestration.SubOrchestration(ctx, orchestration.Declare[string, int]("Says"), "secret").Await()
		}
		return "", err
	})
	says := orchestration.New("Says", func(_ *orchestration.Context, text string) (string, error) { return text, nil })
	e := newEngine(t, takesNumber, wantsNumber, says, greet, double)
	for from, want := range map[string]string{
		"activity's result": `result of activity "Greet": cannot decode 14 bytes into int: invalid JSON at byte 1`,
		"activity's input":  `input of activity "Double": cannot decode 6 bytes into int: invalid JSON at byte 1`,
		"child's input":     `input of orchestration "TakesNumber": cannot decode 6 bytes into int: invalid JSON at byte 1`,
		"child's result":    `result of sub-orchestration "Says": cannot decode 6 bytes into int: invalid JSON at byte 1`,
	} {
		run, err := client.Start(t.Context(), e.client, wantsNumber, from, from)
		if err != nil {
			t.Fatal(err)
		}
		if got := failureText(t, run); got != want {
			t.Errorf("%s\n got %s\nwant %s", from, got, want)
		}
	}
	// And the client's own view of a result.
	if _, err := client.Start(t.Context(), e.client, orchestration.Declare[string, any]("Says"), "says", "secret"); err != nil {
		t.Fatal(err)
	}
	want := `result of "says": cannot decode 6 bytes into int: invalid JSON at byte 1`
	if got := failureText(t, client.Attach[int](e.client, "says")); got != want {
		t.Errorf("client\n got %s\nwant %s", got, want)
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	fan := orchestration.New("Fan", func(ctx *orchestration.Context, n int) ([]int, error) {
		var futures []*orchestration.Future[int]
		for i := range n {
			futures = append(futures, orchestration.Activity(ctx, double, i))
		}
		return orchestration.Join(futures...)
	})
	e := newEngine(t, fan, double)
	if diff := cmp.Diff([]int{0, 2, 4, 6, 8, 10, 12}, result(t, start(e, fan, 7))); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

// A join waits for all, and the first failure in the order of its arguments counts.
func TestJoinWithFailures(t *testing.T) {
	t.Parallel()
	def := orchestration.New("JoinFails", func(ctx *orchestration.Context, _ string) (string, error) {
		results, err := orchestration.Join(
			orchestration.Activity(ctx, greet, "Oslo"),
			orchestration.Activity(ctx, refuse, "one"),
			orchestration.Activity(ctx, refuse, "two"),
			orchestration.Activity(ctx, greet, "Lima"),
		)
		return fmt.Sprintf("%q %v", results, err), nil
	})
	e := newEngine(t, def, greet, refuse)
	if got, want := result(t, start(e, def, "")), `["Hello, Oslo!" "" "" "Hello, Lima!"] one`; got != want {
		t.Errorf("output = %s, want %s", got, want)
	}
}
