package orchestration_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
)

// Visits is how often somebody was here.
var Visits = orchestration.NewKey[int]("visits")

// A key keeps a small value through continue-as-new, until it is cleared. Clients read it.
func ExampleNewKey() {
	guests := orchestration.Declare[int, int]("Guestbook")
	guestbook := guests.Implement(func(ctx *orchestration.Context, more int) (int, error) {
		visits, _, err := Visits.Get(ctx)
		if err != nil {
			return 0, err
		}
		Visits.Set(ctx, visits+1)
		if more > 0 {
			return guests.ContinueAsNew(ctx, more-1)
		}
		Visits.Clear(ctx)
		return visits + 1, nil
	})

	ctx, c, stop := working(guestbook)
	defer stop()
	run, err := client.Start(ctx, c, guestbook, "guestbook-1", 2)
	check(err)
	fmt.Println(run.Wait(ctx))
	fmt.Println(client.Value(ctx, c, Visits, "guestbook-1"))
	// Output:
	// 3 <nil>
	// 0 false <nil>
}

// The keys of an instance as a whole.
func ExampleContext_KV() {
	chairs, tables := orchestration.NewKey[int]("chairs"), orchestration.NewKey[int]("tables")
	stock := orchestration.New("Stock", func(ctx *orchestration.Context, _ string) ([]string, error) {
		chairs.Set(ctx, 12)
		tables.Set(ctx, 3)
		tables.Clear(ctx)
		if n, ok, err := chairs.Get(ctx); err != nil || !ok || n != 12 {
			return nil, errors.New("the chairs are gone")
		}
		keys := ctx.KV().Keys()
		ctx.KV().Clear()
		return keys, nil
	})

	fmt.Println(resultOf(stock, ""))
	// Output: [chairs] <nil>
}

// Keys that were not set for long are cleared.
func ExampleKV_Prune() {
	ada, grace := orchestration.NewKey[string]("ada"), orchestration.NewKey[string]("grace")
	sessions := orchestration.New("Sessions", func(ctx *orchestration.Context, _ string) ([]string, error) {
		ada.Set(ctx, "reads")
		if err := ctx.Sleep(20 * time.Millisecond); err != nil {
			return nil, err
		}
		now, err := ctx.UTCNow()
		grace.Set(ctx, "writes")
		ctx.KV().Prune(now)
		return ctx.KV().Keys(), err
	})

	fmt.Println(resultOf(sessions, ""))
	// Output: [grace] <nil>
}

// An orchestration reads what another one keeps.
func ExampleKey_Of() {
	counts := orchestration.New("Counts", func(ctx *orchestration.Context, n int) (int, error) {
		Visits.Set(ctx, n)
		return n, nil
	})
	reports := orchestration.New("Reports", func(ctx *orchestration.Context, _ string) (string, error) {
		if _, err := orchestration.SubOrchestration(ctx, counts, 7, orchestration.WithInstanceID("museum")).Await(); err != nil {
			return "", err
		}
		visits, _, err := Visits.Of(ctx, "museum")
		_, open, _ := Visits.Of(ctx, "library")
		return fmt.Sprint(visits, " visits; a library: ", open), err
	})

	ctx, c, stop := working(counts, reports)
	defer stop()
	run, err := client.Start(ctx, c, reports, "report-1", "")
	check(err)
	fmt.Println(run.Wait(ctx))
	// Output: 7 visits; a library: false <nil>
}

// Progress is how far an import is.
type Progress struct{ Done, Of int }

// Imported is the declared custom status of an import.
var Imported orchestration.CustomStatus[Progress]

// A custom status has a type if it is declared. Clients read it while the orchestration runs,
// and afterwards.
func ExampleCustomStatus() {
	importing := orchestration.New("Import", func(ctx *orchestration.Context, files []string) (int, error) {
		for i := range files {
			Imported.Set(ctx, Progress{i + 1, len(files)})
		}
		return len(files), nil
	})

	ctx, c, stop := working(importing)
	defer stop()
	run, err := client.Start(ctx, c, importing, "import-1", []string{"a.csv", "b.csv"})
	check(err)
	_, err = run.Wait(ctx)
	check(err)
	status, err := run.Status(ctx)
	check(err)
	fmt.Println(Imported.Decode(status.CustomStatus))
	// Output: {2 2} true <nil>
}

// Approved is the event that a Request waits for.
var Approved = orchestration.NewEvent[string]("approved")

// A declared event has its name and its type in one place.
func ExampleNewEvent() {
	request := orchestration.New("Request", func(ctx *orchestration.Context, what string) (string, error) {
		approved := Approved.Wait(ctx)
		ctx.SetCustomStatus("asked") // now the event may come
		by, err := approved.Await()
		return what + " approved by " + by, err
	})

	ctx, c, stop := working(request)
	defer stop()
	run, err := client.Start(ctx, c, request, "request-1", "a chair")
	check(err)
	_, err = c.WaitForCustomStatus(ctx, "request-1", 0)
	check(err)
	check(client.RaiseEvent(ctx, c, Approved, "request-1", "Ada"))
	fmt.Println(run.Wait(ctx))
	// Output: a chair approved by Ada <nil>
}

// An event whose data is any JSON.
func ExampleEvent_Wait() {
	approved := orchestration.NewEvent[json.RawMessage]("approved")
	request := orchestration.New("Request", func(ctx *orchestration.Context, _ string) (string, error) {
		answer := approved.Wait(ctx)
		ctx.SetCustomStatus("asked")
		data, err := answer.Await()
		return string(data), err
	})

	ctx, c, stop := working(request)
	defer stop()
	run, err := client.Start(ctx, c, request, "request-1", "")
	check(err)
	_, err = c.WaitForCustomStatus(ctx, "request-1", 0)
	check(err)
	check(client.RaiseEvent(ctx, c, approved, "request-1", json.RawMessage(`{"by":"Ada","cents":4900}`)))
	fmt.Println(run.Wait(ctx))
	// Output: {"by":"Ada","cents":4900} <nil>
}

// The clock and random ids are recorded, so a replay has the same.
func ExampleContext_UTCNow() {
	stamp := orchestration.New("Stamp", func(ctx *orchestration.Context, _ string) (bool, error) {
		now, err := ctx.UTCNow()
		if err != nil {
			return false, err
		}
		id, err := ctx.NewGUID()
		return now.Year() >= 2025 && len(id) == 36, err
	})

	fmt.Println(resultOf(stamp, ""))
	// Output: true <nil>
}

// A custom status without a declaration is a text, which the next execution keeps.
func ExampleContext_SetCustomStatus() {
	days := orchestration.Declare[int, string]("Shop")
	shop := days.Implement(func(ctx *orchestration.Context, day int) (string, error) {
		if day < 2 {
			ctx.SetCustomStatus("open")
			return days.ContinueAsNew(ctx, day+1)
		}
		status := *ctx.CustomStatus()
		ctx.ResetCustomStatus()
		return fmt.Sprint(status, ", then none: ", ctx.CustomStatus() == nil), nil
	})

	fmt.Println(resultOf(shop, 1))
	// Output: open, then none: true <nil>
}

// The context's logger is silent while code is replayed, so each line is logged once.
func ExampleContext_Logger() {
	plain := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.MessageKey || a.Key == "instance_id" || a.Key == "replaying" {
				return a
			}
			return slog.Attr{}
		},
	}))
	order := orchestration.New("Order", func(ctx *orchestration.Context, item string) (string, error) {
		ctx.Logger(plain).Info("reserving")
		reserved, err := orchestration.Activity(ctx, Reserve, item).Await()
		ctx.Logger(plain).Info("done", "replaying", ctx.Replaying())
		return reserved, err
	})

	fmt.Println(resultOf(order, "chair", Reserve))
	// Output:
	// msg=reserving instance_id=example
	// msg=done instance_id=example replaying=false
	// chair reserved <nil>
}
