package patterns_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/examples/patterns"
	"github.com/duroxide/duroxide-go/orchestrationtest"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/tsql/leaktest"
	"github.com/duroxide/duroxide-go/worker"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestApprovalAfterTwoReminders(t *testing.T) {
	t.Parallel()
	env := orchestrationtest.New(t, patterns.Approval)
	orchestrationtest.Mock(env, patterns.Remind, func(context.Context, string) (string, error) { return "", nil }).
		Fails(1, errors.New("no mail server"))
	orchestrationtest.Raise(env.After(60*time.Hour), patterns.Decided, patterns.Decision{Approved: true, By: "Ada"})
	got, err := orchestrationtest.Run(env, patterns.Approval, "a train ticket")
	if err != nil || got != "approved by Ada" {
		t.Errorf("%q, %v", got, err)
	}
	env.WantCalls("Remind @24h", "Remind @48h")
}

func TestApprovalThatNobodyGives(t *testing.T) {
	t.Parallel()
	env := orchestrationtest.New(t, patterns.Approval)
	orchestrationtest.Mock(env, patterns.Remind, func(context.Context, string) (string, error) { return "", nil })
	if got, err := orchestrationtest.Run(env, patterns.Approval, "a plane"); err == nil {
		t.Errorf("got %q", got)
	}
	if calls := env.Calls(); len(calls) != 6 {
		t.Errorf("reminded %d times", len(calls))
	}
}

// The car is not to be had, so the hotel and then the flight are given back.
func TestBookingIsTakenBack(t *testing.T) {
	t.Parallel()
	env := orchestrationtest.New(t, patterns.Booking)
	orchestrationtest.Mock(env, patterns.Book, func(_ context.Context, part string) (string, error) {
		if part == "car" {
			return "", errors.New("no car")
		}
		return part + "-1", nil
	})
	orchestrationtest.Mock(env, patterns.Cancel, func(_ context.Context, booking string) (string, error) { return booking, nil })
	if got, err := orchestrationtest.Run(env, patterns.Booking, patterns.Trip{Flight: "flight", Hotel: "hotel", Car: "car"}); err == nil {
		t.Errorf("got %v", got)
	}
	if got := fmt.Sprint(orchestrationtest.Inputs(env, patterns.Cancel)); got != "[hotel-1 flight-1]" {
		t.Errorf("cancelled %s", got)
	}
}

func TestImportOfAThousandParts(t *testing.T) {
	t.Parallel()
	env := orchestrationtest.New(t, patterns.Import)
	orchestrationtest.Mock(env, patterns.Load, func(context.Context, string) (int, error) { return 3, nil })
	rows, err := orchestrationtest.Run(env, patterns.Import, make([]string, 1000))
	if err != nil || rows != 3000 {
		t.Errorf("%d rows, %v", rows, err)
	}
	progress, ok, err := patterns.Imported.Decode(env.CustomStatus())
	if err != nil || !ok || progress != (patterns.Progress{Parts: 1000, Of: 1000}) {
		t.Errorf("progress %+v, %v", progress, err)
	}
}

// The address is away for ten minutes of a day: one alarm.
func TestMonitorOfADay(t *testing.T) {
	t.Parallel()
	env := orchestrationtest.New(t, patterns.Monitor)
	down := false
	orchestrationtest.Mock(env, patterns.Ping, func(context.Context, string) (bool, error) { return !down, nil })
	orchestrationtest.Mock(env, patterns.Alarm, func(context.Context, patterns.Watch) (string, error) { return "", nil })
	env.After(3 * time.Hour).Do(func() { down = true })
	env.After(3*time.Hour + 10*time.Minute).Do(func() { down = false })
	env.After(24 * time.Hour).Cancel("enough")
	_, _ = orchestrationtest.Run(env, patterns.Monitor, patterns.Watch{URL: "https://example.com"})
	if alarms := orchestrationtest.Inputs(env, patterns.Alarm); len(alarms) != 1 {
		t.Errorf("%d alarms", len(alarms))
	}
}

func TestRoomUntilAllHaveLeft(t *testing.T) {
	t.Parallel()
	env := orchestrationtest.New(t, patterns.Room)
	orchestrationtest.Enqueue(env.After(time.Minute), patterns.Said, patterns.Line{From: "Ada", Text: "hello"})
	orchestrationtest.Enqueue(env.After(2*time.Minute), patterns.Said, patterns.Line{From: "Grace", Text: "hi"})
	orchestrationtest.Enqueue(env.After(3*time.Minute), patterns.Left, "Ada")
	orchestrationtest.Enqueue(env.After(4*time.Minute), patterns.Left, "Grace")
	lines, err := orchestrationtest.Run(env, patterns.Room, []string{"Ada", "Grace"})
	if err != nil || lines != 2 {
		t.Errorf("%d lines, %v", lines, err)
	}
}

// What was said while no worker ran is there afterwards, in order, and those who left have left after it.
func TestRoomAfterAnOutage(t *testing.T) {
	t.Parallel()
	const many = 10_000
	store, err := sqlite.OpenMemory(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	c := client.New(store, client.Options{})
	run, err := client.Start(t.Context(), c, patterns.Room, "room", []string{"Ada"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range many {
		if err := client.Enqueue(t.Context(), c, patterns.Said, "room", patterns.Line{From: "Ada", Text: strconv.Itoa(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Enqueue(t.Context(), c, patterns.Left, "room", "Ada"); err != nil {
		t.Fatal(err)
	}
	w, err := worker.New(store, worker.Options{Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = w.Register(patterns.Room)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	if lines, err := run.Wait(t.Context()); lines != many || err != nil {
		t.Errorf("%d lines, %v", lines, err)
	}
	talk, _, err := client.Value(t.Context(), c, patterns.Talk, "room")
	if err != nil || len(talk) != 20 || talk[19].Text != strconv.Itoa(many-1) {
		t.Errorf("said last: %v, %v", talk, err)
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	env := orchestrationtest.New(t, patterns.Render, patterns.Download, patterns.Cut, patterns.Encode)
	got, err := orchestrationtest.Run(env, patterns.Render, "film")
	if err != nil || got != "/tmp/film.cut.mp4" {
		t.Errorf("%q, %v", got, err)
	}
}

// A shop on a file that is also the store. The second order of the same id is refused, and what
// was stored is shipped.
func TestShop(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "shop.db")
	store, err := sqlite.Open(t.Context(), file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+file+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(db.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	})
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE orders (id TEXT PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	shop := &patterns.Shop{DB: db, Client: client.New(store, client.Options{})}
	for i, want := range []int{http.StatusAccepted, http.StatusConflict} {
		answer := httptest.NewRecorder()
		shop.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/orders?id=order-1", http.NoBody))
		if answer.Code != want {
			t.Errorf("request %d: %d %s", i, answer.Code, answer.Body)
		}
	}
	w, err := worker.New(store, worker.Options{Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = w.Register(patterns.Order, patterns.Ship)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	got, err := client.Attach[string](shop.Client, "order-1").Wait(t.Context())
	if err != nil || got != "order-1 shipped" {
		t.Errorf("%q, %v", got, err)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// The guides for those who come from elsewhere show this package's approval.
func TestGuidesShowTheApproval(t *testing.T) {
	t.Parallel()
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	code := read("approval.go")
	for _, guide := range []string{"../../docs/from-temporal.md", "../../docs/from-durable-functions.md"} {
		_, after, _ := strings.Cut(read(guide), "from [examples/patterns](../examples/patterns/approval.go)")
		_, after, _ = strings.Cut(after, "```go\n")
		shown, _, _ := strings.Cut(after, "```\n")
		declaration, function, _ := strings.Cut(shown, "\n\n")
		if function == "" || !strings.Contains(code, declaration) || !strings.HasSuffix(code, function) {
			t.Errorf("%s shows another program", guide)
		}
	}
}
