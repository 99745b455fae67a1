package otel_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/otel"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// contract are the contract's metrics (§8.1) with their labels, in order of the alphabet.
var contract = map[string]string{
	"duroxide_orchestration_starts_total":                      "initiated_by orchestration_name version",
	"duroxide_orchestration_completions_total":                 "final_turn_count orchestration_name status version",
	"duroxide_orchestration_failures_total":                    "error_category error_type orchestration_name version",
	"duroxide_orchestration_duration_seconds":                  "orchestration_name status version",
	"duroxide_orchestration_history_size":                      "orchestration_name",
	"duroxide_orchestration_turns":                             "orchestration_name",
	"duroxide_orchestration_infrastructure_errors_total":       "error_category orchestration_name",
	"duroxide_orchestration_configuration_errors_total":        "error_category orchestration_name",
	"duroxide_orchestration_continue_as_new_total":             "orchestration_name",
	"duroxide_orchestration_poison_total":                      "",
	"duroxide_active_orchestrations":                           "",
	"duroxide_orchestrator_queue_depth":                        "",
	"duroxide_worker_queue_depth":                              "",
	"duroxide_activity_executions_total":                       "activity_name outcome retry_attempt tag",
	"duroxide_activity_duration_seconds":                       "activity_name outcome tag",
	"duroxide_activity_infrastructure_errors_total":            "activity_name",
	"duroxide_activity_configuration_errors_total":             "activity_name",
	"duroxide_activity_poison_total":                           "",
	"duroxide_suborchestration_calls_total":                    "child_orchestration outcome parent_orchestration",
	"duroxide_suborchestration_duration_seconds":               "child_orchestration outcome parent_orchestration",
	"duroxide_provider_operation_duration_seconds":             "operation status",
	"duroxide_provider_errors_total":                           "error_type operation",
	"duroxide_client_orchestration_starts_total":               "orchestration_name",
	"duroxide_client_external_events_raised_total":             "event_name",
	"duroxide_client_cancellations_total":                      "",
	"duroxide_client_wait_duration_seconds":                    "",
	"duroxide_orchestration_dispatcher_items_fetched":          "",
	"duroxide_orchestration_dispatcher_processing_duration_ms": "",
	"duroxide_worker_dispatcher_items_fetched":                 "",
	"duroxide_worker_dispatcher_execution_duration_ms":         "",
}

// beyond are the metrics that the contract does not have. They have no labels.
var beyond = []string{"duroxide_unknown_orchestrations", "duroxide_unknown_activities", "duroxide_held_orchestrations", "duroxide_dead_letters"}

// The tables above are those of docs/observability.md, which the contract refers to.
func TestTableIsTheContracts(t *testing.T) {
	t.Parallel()
	file, err := os.Open("../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var names []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		cells := strings.Split(strings.ReplaceAll(lines.Text(), `\|`, "/"), "|")
		if len(cells) != 6 || !strings.HasPrefix(cells[1], " `duroxide_") {
			continue
		}
		name := strings.Trim(cells[1], " `")
		names = append(names, name)
		for label := range strings.FieldsSeq(contract[name]) {
			if !strings.Contains(cells[3], "`"+label+"`") {
				t.Errorf("docs/observability.md lacks the label %s of %s", label, name)
			}
		}
		if contract[name] == "" && strings.TrimSpace(cells[3]) != "" {
			t.Errorf("docs/observability.md gives %s the labels%s", name, cells[3])
		}
	}
	if want := slices.Sorted(slices.Values(slices.Concat(beyond, slices.Collect(maps.Keys(contract))))); !slices.Equal(slices.Sorted(slices.Values(names)), want) {
		t.Errorf("docs/observability.md has\n%q, the tables\n%q", names, want)
	}
}

// sums are what was measured: for each metric with its labels how often, or how much.
type sums map[string]float64

// collect reads everything, and checks that each metric has its labels and no others.
func collect(t *testing.T, reader sdkmetric.Reader) (got sums, names map[string]bool) {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	got, names = sums{}, map[string]bool{}
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			names[m.Name] = true
			add := func(set attribute.Set, value float64) {
				var keys, pairs []string
				for _, kv := range set.ToSlice() {
					keys = append(keys, string(kv.Key))
					pairs = append(pairs, string(kv.Key)+"="+kv.Value.AsString())
				}
				if want, known := contract[m.Name]; !known && !slices.Contains(beyond, m.Name) || strings.Join(keys, " ") != want {
					t.Errorf("%s has the labels %q, want %q", m.Name, keys, want)
				}
				got[strings.TrimPrefix(m.Name, "duroxide_")+"{"+strings.Join(pairs, ",")+"}"] += value
			}
			switch points := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range points.DataPoints {
					add(p.Attributes, float64(p.Value))
				}
			case metricdata.Gauge[int64]:
				for _, p := range points.DataPoints {
					add(p.Attributes, float64(p.Value))
				}
			case metricdata.Histogram[float64]:
				for _, p := range points.DataPoints {
					add(p.Attributes, float64(p.Count))
				}
			default:
				t.Errorf("%s is a %T", m.Name, m.Data)
			}
		}
	}
	return got, names
}

// expectSums checks what was measured of some metrics.
func (s sums) expect(t *testing.T, want sums) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if s[key] != want[key] {
			t.Errorf("%s is %v, want %v", key, s[key], want[key])
		}
	}
	if t.Failed() {
		for _, key := range slices.Sorted(maps.Keys(s)) {
			t.Log(key, s[key])
		}
	}
}

// A program that does and suffers everything there is has each metric, with its labels.
func TestEachMetricByName(t *testing.T) {
	t.Parallel()
	reader := sdkmetric.NewManualReader()
	store := openStore(t)
	telemetry := otel.New(otel.Options{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), Store: store})
	work(t, store, telemetry)
	suffer(telemetry)
	got, names := collect(t, reader)
	for _, name := range append(slices.Sorted(maps.Keys(contract)), beyond...) {
		if !names[name] {
			t.Errorf("nothing was measured as %s", name)
		}
	}
	got.expect(t, sums{
		"orchestration_starts_total{initiated_by=client,orchestration_name=Parent,version=1.0.0}":                               1,
		"orchestration_starts_total{initiated_by=continueAsNew,orchestration_name=Parent,version=1.0.0}":                        1,
		"orchestration_starts_total{initiated_by=suborchestration,orchestration_name=Child,version=1.0.0}":                      2,
		"orchestration_completions_total{final_turn_count=1-5,orchestration_name=Parent,status=continuedAsNew,version=1.0.0}":   1,
		"orchestration_completions_total{final_turn_count=1-5,orchestration_name=Parent,status=failed,version=1.0.0}":           1,
		"orchestration_completions_total{final_turn_count=1-5,orchestration_name=Child,status=success,version=1.0.0}":           1,
		"orchestration_completions_total{final_turn_count=1-5,orchestration_name=Child,status=failed,version=1.0.0}":            1,
		"orchestration_failures_total{error_category=application,error_type=app_error,orchestration_name=Parent,version=1.0.0}": 1,
		"orchestration_failures_total{error_category=application,error_type=app_error,orchestration_name=Child,version=1.0.0}":  1,
		"orchestration_duration_seconds{orchestration_name=Child,status=success,version=1.0.0}":                                 1,
		"orchestration_history_size{orchestration_name=Parent}":                                                                 2,
		"orchestration_turns{orchestration_name=Parent}":                                                                        2,
		"orchestration_continue_as_new_total{orchestration_name=Parent}":                                                        1,
		"active_orchestrations{}":    0,
		"orchestrator_queue_depth{}": 1,
		"worker_queue_depth{}":       0,
		"unknown_orchestrations{}":   0,
		"unknown_activities{}":       0,
		"held_orchestrations{}":      0,
		"dead_letters{}":             0,
		"activity_executions_total{activity_name=Work,outcome=success,retry_attempt=0,tag=default}":               1,
		"activity_executions_total{activity_name=Work,outcome=app_error,retry_attempt=0,tag=default}":             1,
		"activity_duration_seconds{activity_name=Work,outcome=success,tag=default}":                               1,
		"suborchestration_calls_total{child_orchestration=Child,outcome=success,parent_orchestration=Parent}":     1,
		"suborchestration_calls_total{child_orchestration=Child,outcome=failed,parent_orchestration=Parent}":      1,
		"suborchestration_duration_seconds{child_orchestration=Child,outcome=failed,parent_orchestration=Parent}": 1,
		"provider_operation_duration_seconds{operation=start_instance,status=success}":                            1,
		"client_orchestration_starts_total{orchestration_name=Parent}":                                            1,
		"client_external_events_raised_total{event_name=go}":                                                      1,
		"client_cancellations_total{}":                      1,
		"client_wait_duration_seconds{}":                    1,
		"orchestration_dispatcher_items_fetched{}":          8,
		"orchestration_dispatcher_processing_duration_ms{}": 8 + 3,
		"worker_dispatcher_items_fetched{}":                 2,
		"worker_dispatcher_execution_duration_ms{}":         2 + 2,
		// What suffer has told.
		"orchestration_infrastructure_errors_total{error_category=infrastructure,orchestration_name=Broken}": 1,
		"orchestration_configuration_errors_total{error_category=configuration,orchestration_name=Broken}":   1,
		"orchestration_poison_total{}":                                                                     1,
		"activity_infrastructure_errors_total{activity_name=Broken}":                                       1,
		"activity_configuration_errors_total{activity_name=Broken}":                                        1,
		"activity_poison_total{}":                                                                          1,
		"activity_executions_total{activity_name=Broken,outcome=cancelled,retry_attempt=1,tag=gpu}":        1,
		"activity_executions_total{activity_name=Broken,outcome=config_error,retry_attempt=2,tag=default}": 1,
		"provider_errors_total{error_type=deadlock,operation=read}":                                        1,
		"provider_errors_total{error_type=timeout,operation=read}":                                         2,
		"provider_errors_total{error_type=connection,operation=read}":                                      1,
		"provider_errors_total{error_type=other,operation=read}":                                           1,
		"provider_operation_duration_seconds{operation=read,status=error}":                                 5,
	})
}

// work runs a parent that continues as new, and whose child succeeds and then fails.
func work(t *testing.T, store provider.Provider, telemetry hook.Hook) {
	t.Helper()
	task := activity.New("Work", func(_ context.Context, fail bool) (string, error) {
		if fail {
			return "", errors.New(secret)
		}
		return "", nil
	})
	child := orchestration.New("Child", func(ctx *orchestration.Context, fail bool) (string, error) {
		return orchestration.Activity(ctx, task, fail).Await()
	})
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, again bool) (string, error) {
		if _, err := orchestration.SubOrchestration(ctx, child, again).Await(); err != nil {
			return "", err
		}
		return orchestration.Declare[bool, string]("Parent").ContinueAsNew(ctx, true)
	})
	w, err := worker.New(store, worker.Options{Hook: telemetry, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Register(parent, child, task); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	c := client.New(store, client.Options{Hook: telemetry})
	run, err := client.Start(t.Context(), c, parent, "p", false)
	if err != nil {
		t.Fatal(err)
	}
	_, err = run.Wait(deadline(t))
	if _, failed := errors.AsType[*client.FailedError](err); !failed {
		t.Error(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	// Both are dropped by the next worker; the event's instance never begins.
	if err := errors.Join(client.RaiseEvent(t.Context(), c, orchestration.NewEvent[string]("go"), "nobody", ""), c.Cancel(t.Context(), "p", "", client.MustExist())); !errors.Is(err, client.ErrEnded) {
		t.Error(err)
	}
}

// suffer tells of what is hard to bring about.
func suffer(telemetry hook.Hook) {
	ctx := context.Background()
	for _, failure := range []provider.ErrorDetails{provider.InfrastructureFailure{}, provider.ConfigurationFailure{}, provider.PoisonFailure{}} {
		telemetry.Turn(ctx, hook.Turn{Orchestration: "Broken", ExecutionID: 1}).Ended(hook.TurnEnd{
			Committed: true, Status: provider.StatusFailed, Failure: failure,
		})
	}
	for i, err := range []error{
		provider.Retryable("read", "", nil), fmt.Errorf("late: %w", hook.ErrCancelled),
		&hook.NotRunError{Details: provider.ConfigurationFailure{}}, &hook.NotRunError{Details: provider.PoisonFailure{}},
	} {
		a := hook.Activity{Name: "Broken", Attempt: uint32(i + 1)}
		if i == 1 {
			a.Tag = "gpu"
		}
		_, ended := telemetry.Activity(ctx, a)
		ended(err)
	}
	for _, err := range []error{
		errors.New("Transaction was deadlocked"), context.DeadlineExceeded, errors.New("database is locked"),
		errors.New("connection refused"), provider.ErrLockLost,
		context.Canceled, // counts as nothing
	} {
		telemetry.Store(ctx, "read")(hook.StoreEnd{Err: err})
	}
	telemetry.Send(ctx, hook.Message{Kind: "cancel"})(nil)
}

// A label of names has at most 200 values, however many names clients make up.
func TestLabelsAreBounded(t *testing.T) {
	t.Parallel()
	reader := sdkmetric.NewManualReader()
	telemetry := otel.New(otel.Options{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))})
	for i := range 300 {
		telemetry.Send(t.Context(), hook.Message{Kind: "event", Name: fmt.Sprint("approve-", i)})(nil)
	}
	telemetry.Send(t.Context(), hook.Message{Kind: "event", Name: "approve-0"})(nil)
	got, _ := collect(t, reader)
	if len(got) != 201 {
		t.Errorf("%d series, want 201", len(got))
	}
	got.expect(t, sums{
		"client_external_events_raised_total{event_name=other}": 100, "client_external_events_raised_total{event_name=approve-0}": 2,
	})
}

// The number of turns is told from the history: one begins with what arrives after a decision,
// or later than the arrival before it.
func TestTurnsOfAHistory(t *testing.T) {
	t.Parallel()
	at := func(ms uint64, kind provider.EventKind) provider.Event {
		return provider.Event{TimestampMs: ms, Kind: kind}
	}
	for name, test := range map[string]struct {
		history []provider.Event
		want    string
	}{
		"the first is the last": {nil, "1-5"},
		"ten of a loop": {slices.Concat([]provider.Event{at(0, provider.OrchestrationStarted{})}, slices.Repeat([]provider.Event{
			at(1, provider.ActivityScheduled{}), at(1, provider.ActivityCompleted{}),
		}, 8)), "6-10"},
		"eleven arrivals, one by one": {slices.Concat([]provider.Event{at(0, provider.OrchestrationStarted{}), at(0, provider.ActivityScheduled{})},
			func() (list []provider.Event) {
				for i := range 10 {
					list = append(list, at(uint64(i), provider.ActivityCompleted{}))
				}
				return list
			}()), "11-50"},
		"eleven arrivals at once": {slices.Concat([]provider.Event{at(0, provider.OrchestrationStarted{}), at(0, provider.ActivityScheduled{})},
			slices.Repeat([]provider.Event{at(5, provider.ExternalEvent{})}, 11)), "1-5"},
	} {
		reader := sdkmetric.NewManualReader()
		telemetry := otel.New(otel.Options{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))})
		telemetry.Turn(t.Context(), hook.Turn{}).Ended(hook.TurnEnd{Committed: true, Status: provider.StatusCompleted, History: test.history})
		got, _ := collect(t, reader)
		if got["orchestration_completions_total{final_turn_count="+test.want+",orchestration_name=,status=success,version=}"] != 1 {
			t.Errorf("%s: want %s, got %v", name, test.want, got)
		}
	}
}

// full is a store that holds ever more.
type full struct {
	provider.Store

	asked uint64
}

func (f *full) Admin() provider.Admin { return f }

// plain is a store with the plain contract, and a management interface, nil for none.
type plain struct {
	provider.Provider

	admin provider.Admin
}

func (p plain) Admin() provider.Admin { return p.admin }

func (f *full) GetSystemMetrics(context.Context) (provider.SystemMetrics, error) {
	f.asked++
	if f.asked == 3 {
		return provider.SystemMetrics{}, provider.ErrClosed
	}
	return provider.SystemMetrics{RunningInstances: f.asked}, nil
}

func (f *full) CountDeadLetters(context.Context) (uint64, error) { return 5 * f.asked, nil }

func (f *full) GetQueueDepths(context.Context) (provider.QueueDepths, error) {
	return provider.QueueDepths{
		OrchestratorQueue: 10 * f.asked, WorkerQueue: 100 * f.asked, UnknownOrchestrations: 2 * f.asked, UnknownActivities: 3 * f.asked,
	}, nil
}

func (f *full) ListHeldInstances(context.Context) ([]provider.HeldInstance, error) {
	return make([]provider.HeldInstance, 4*f.asked), nil
}

// A store is counted at most every 30 s, and its trouble is the reader's error. What it cannot
// count is left out.
func TestGauges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reader := sdkmetric.NewManualReader()
		meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
		otel.New(otel.Options{MeterProvider: meters, Store: &full{}})
		for _, want := range []float64{1, 1, 2} {
			got, _ := collect(t, reader)
			got.expect(t, sums{
				"active_orchestrations{}": want, "orchestrator_queue_depth{}": 10 * want, "worker_queue_depth{}": 100 * want,
				"unknown_orchestrations{}": 2 * want, "unknown_activities{}": 3 * want, "held_orchestrations{}": 4 * want,
				"dead_letters{}": 5 * want,
			})
			time.Sleep(20 * time.Second)
		}
		time.Sleep(time.Minute)
		if err := reader.Collect(t.Context(), &metricdata.ResourceMetrics{}); !errors.Is(err, provider.ErrClosed) {
			t.Error(err)
		}
	})
	for _, test := range []struct {
		store provider.Provider
		want  int
	}{{plain{}, 0}, {plain{admin: &full{}}, 3}, {&full{}, 7}} {
		reader := sdkmetric.NewManualReader()
		otel.New(otel.Options{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), Store: test.store})
		if got, _ := collect(t, reader); len(got) != test.want {
			t.Errorf("want %d gauges, got %v", test.want, got)
		}
	}
}
