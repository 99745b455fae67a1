package orchestrationtest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/orchestrationtest"
)

var pay = orchestration.New("Pay", func(ctx *orchestration.Context, cents int) (int, error) {
	ctx.Sleep(time.Hour)
	return orchestration.Activity(ctx, tally, cents).Await()
})

// shopping pays within two hours, and tells whether it was paid.
var shopping = orchestration.New("Shopping", func(ctx *orchestration.Context, cents int) (string, error) {
	paid := orchestration.SubOrchestration(ctx, pay, cents)
	if orchestration.SelectAndDrop(paid, ctx.Timer(2*time.Hour)) == 1 {
		return "not paid", nil
	}
	_, err := paid.Await()
	return "paid", err
})

// TestSubOrchestrations has a sub-orchestration that is real, and mocked in several ways.
func TestSubOrchestrations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mock         func(env *orchestrationtest.Env)
		result, fail string
		calls        []string
	}{
		"real": {
			func(env *orchestrationtest.Env) { orchestrationtest.Mock(env, tally, double) },
			"paid", "",
			[]string{"Tally @1h"},
		},
		"mocked": {
			func(env *orchestrationtest.Env) { orchestrationtest.Mock(env, pay, double).Takes(time.Minute) },
			"paid", "",
			[]string{"Pay @0s"},
		},
		"fails": {
			func(env *orchestrationtest.Env) {
				orchestrationtest.Mock(env, pay, double).Fails(1, errors.New("no money"))
			},
			"", "no money",
			[]string{"Pay"},
		},
		"slow": {
			func(env *orchestrationtest.Env) { orchestrationtest.Mock(env, pay, double).Takes(3 * time.Hour) },
			"not paid", "",
			[]string{"Pay"},
		},
		"an activity of it is slow": {
			func(env *orchestrationtest.Env) { orchestrationtest.Mock(env, tally, double).Takes(3 * time.Hour) },
			"not paid", "",
			[]string{"Tally"},
		},
		"panics": {
			func(env *orchestrationtest.Env) {
				orchestrationtest.Mock(env, tally, func(context.Context, int) (int, error) { panic("no") })
			},
			"", "activity panicked: no",
			[]string{"Tally"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := orchestrationtest.New(t, pay)
			c.mock(env)
			got, err := orchestrationtest.Run(env, shopping, 7)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if got != c.result || text != c.fail {
				t.Errorf("%q, %v", got, err)
			}
			env.WantCalls(c.calls...)
		})
	}
}

// watched says hello every day until it is cancelled, and each day begins anew.
var watched = orchestration.New("Watched", func(ctx *orchestration.Context, day int) (int, error) {
	if _, err := orchestration.Activity(ctx, tally, day).Await(); err != nil {
		return day, err
	}
	ctx.Sleep(24 * time.Hour)
	return orchestration.Declare[int, int]("Watched").ContinueAsNew(ctx, day+1)
})

func TestAnEternalOrchestration(t *testing.T) {
	t.Parallel()
	env := orchestrationtest.New(t)
	orchestrationtest.Mock(env, tally, double)
	env.After(30*24*time.Hour - time.Minute).Cancel("enough")
	if _, err := orchestrationtest.Run(env, watched, 0); !errors.Is(err, orchestration.ErrCancelled) {
		t.Errorf("%v", err)
	}
	if days := orchestrationtest.Inputs(env, tally); len(days) != 30 || days[29] != 29 {
		t.Errorf("%v", days)
	}
}

// TestAdvance lets a detached orchestration go on.
func TestAdvance(t *testing.T) {
	t.Parallel()
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, n int) (int, error) {
		orchestration.Detach(ctx, watched, "watch", 1)
		return n, nil
	})
	env := orchestrationtest.New(t, watched)
	orchestrationtest.Mock(env, tally, double)
	if n, err := orchestrationtest.Run(env, parent, 5); n != 5 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	env.Advance(48 * time.Hour)
	env.After(time.Hour).To("watch").Cancel("enough")
	env.Advance(48 * time.Hour)
	env.WantCalls("Tally @0s", "Tally @24h", "Tally @48h")
	if got := orchestrationtest.Inputs(env, tally); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("%v", got)
	}
	if history := env.History("watch"); !history[len(history)-1].Terminal() {
		t.Errorf("%v", history)
	}
}

// TestRealActivities knows who calls, and a GUID is the same each time.
func TestRealActivities(t *testing.T) {
	t.Parallel()
	who := activity.New("Who", func(ctx context.Context, _ string) (string, error) {
		info, _ := activity.InfoFrom(ctx)
		name, version := activity.Caller(ctx)
		return info.Instance + " " + name + " " + version, nil
	})
	def := orchestration.New("Asks", func(ctx *orchestration.Context, _ string) ([]string, error) {
		ctx.Sleep(time.Minute)
		caller, err := orchestration.Activity(ctx, who, "").Await()
		id, idErr := ctx.NewGUID()
		now, nowErr := ctx.UTCNow()
		return []string{caller, id, now.Format(time.RFC3339)}, errors.Join(err, idErr, nowErr)
	}).WithVersion("2.1.0")
	got, err := orchestrationtest.Run(orchestrationtest.New(t, who), def, "")
	want := []string{"test Asks 2.1.0", "00000000-0000-4000-8000-000000000001", "2000-01-01T00:01:00Z"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

// FuzzShopping shows that runs can be fuzzed: each case is a world of its own.
func FuzzShopping(f *testing.F) {
	f.Add(10, int64(time.Minute))
	f.Add(-1, int64(5*time.Hour))
	f.Fuzz(func(t *testing.T, cents int, takes int64) {
		env := orchestrationtest.New(t)
		orchestrationtest.Mock(env, pay, double).Takes(time.Duration(takes))
		got, err := orchestrationtest.Run(env, shopping, cents)
		paid := time.Duration(takes) < 2*time.Hour-time.Millisecond || takes < 0
		if err != nil || (got == "paid") != paid && time.Duration(takes) != 2*time.Hour {
			t.Errorf("%q, %v", got, err)
		}
	})
}
