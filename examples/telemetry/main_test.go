package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The program sends its traces and metrics to a collector, and Prometheus reads the metrics
// under the contract's names.
func TestTelemetry(t *testing.T) {
	paths := make(chan string, 1024)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || len(body) == 0 {
			t.Error("an empty export", err)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
		paths <- r.URL.Path
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	ordered := make(chan int)
	go func() {
		done <- run(ctx, listener, func(order int) {
			select {
			case ordered <- order:
			case <-ctx.Done():
			}
		})
	}()
	for order := range 4 { // the third one with a retry
		select {
		case got := <-ordered:
			if got != order+1 {
				t.Errorf("order %d is done, want %d", got, order+1)
			}
		case err := <-done:
			t.Fatal(err)
		}
	}
	await(t, ctx, paths, "/v1/traces")
	text := scrape(t, ctx, listener.Addr())
	for _, want := range []string{
		"duroxide_orchestration_starts_total{", "duroxide_orchestration_duration_seconds_bucket{", "duroxide_active_orchestrations ",
		"duroxide_worker_dispatcher_execution_duration_ms_count ", "duroxide_provider_operation_duration_seconds_sum{",
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("Prometheus does not see %q in\n%s", want, text)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	await(t, t.Context(), paths, "/v1/metrics") // the last ones at the latest
}

func await(t *testing.T, ctx context.Context, paths <-chan string, want string) {
	t.Helper()
	for {
		select {
		case got := <-paths:
			if got == want {
				return
			}
		case <-ctx.Done():
			t.Fatalf("nothing was sent to %s", want)
		}
	}
}

func scrape(t *testing.T, ctx context.Context, listen net.Addr) string {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/metrics", listen), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
