package rig

import (
	"context"
	"log/slog"
	"testing"
	"time"
)

func TestCities(t *testing.T) {
	t.Parallel()
	store, commits, _ := openStore(t)
	c, err := RunCities(t.Context(), CitiesConfig{
		Store: store, Commits: commits, Slots: 1, Orchestrations: 12, InFlight: 1, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := store.GetSystemMetrics(t.Context())
	if err != nil || metrics.CompletedInstances != 12 || c.Completed != 12 {
		t.Errorf("%d counted, the store holds %+v, %v", c.Completed, metrics, err)
	}
	// With one orchestration at a time no call is shared, so that the floor is what it takes. A lease that
	// a slow machine lets expire costs more.
	if c.Writes < CitiesFloor {
		t.Errorf("%g changing calls an orchestration, and the floor is %d", c.Writes, CitiesFloor)
	}
	if c.Rate <= 0 || c.RoundTrips != nil || c.Commits == nil || len(c.Methods) == 0 {
		t.Errorf("got %+v", c)
	}
}

// remote is a store that counts its round trips.
type remote struct {
	Store

	trips int64
}

func (r *remote) RoundTrips() int64 { return r.trips }

func TestRoundTripsAreThoseSinceTheStart(t *testing.T) {
	t.Parallel()
	store, _, _ := openStore(t)
	server := &remote{store, 100}
	m, err := startMeter(t.Context(), server, nil)
	if err != nil {
		t.Fatal(err)
	}
	server.trips = 148
	costs, _, err := m.read(2, func() {})
	if err != nil || costs.RoundTrips == nil || *costs.RoundTrips != 24 || costs.Commits != nil {
		t.Errorf("got %+v, %v; want 24 round trips an orchestration", costs, err)
	}
}

func TestIdle(t *testing.T) {
	t.Parallel()
	store, _, file := openStore(t)
	opened := 0
	idle, err := RunIdle(t.Context(), IdleConfig{
		Open: func(ctx context.Context) (Store, error) {
			opened++
			other, err := openFile(ctx, file)
			return &remote{Store: other}, err
		},
		Workers: 3, Settle: time.Millisecond, Duration: 10 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if idle.Workers != 3 || opened != 3 || idle.RSS == 0 || idle.RoundTripsPerSecond == nil || *idle.RoundTripsPerSecond != 0 {
		t.Errorf("%d opened, %+v", opened, idle)
	}
	if used, known := cpuTime(); known && (idle.CPU == nil || *idle.CPU < 0 || used <= 0) {
		t.Errorf("processor time: %v, %v altogether", idle.CPU, used)
	}
	if metrics, err := store.GetSystemMetrics(t.Context()); err != nil || metrics.TotalInstances != 0 {
		t.Errorf("got %+v, %v", metrics, err)
	}
}
