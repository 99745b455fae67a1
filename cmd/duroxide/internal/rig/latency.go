package rig

import (
	"encoding/json"
	"slices"
	"time"
)

// Latency summarizes durations. Every sample counts, none is estimated.
type Latency struct {
	P50, P95, P99, Max time.Duration
	// OverSecond is the number of samples above one second.
	OverSecond int
}

// MarshalJSON writes milliseconds.
func (l Latency) MarshalJSON() ([]byte, error) {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return json.Marshal(struct {
		P50        float64 `json:"p50"`
		P95        float64 `json:"p95"`
		P99        float64 `json:"p99"`
		Max        float64 `json:"max"`
		OverSecond int     `json:"over_one_second"`
	}{ms(l.P50), ms(l.P95), ms(l.P99), ms(l.Max), l.OverSecond})
}

// durationsOf returns how long each took.
func durationsOf(samples []Sample) []time.Duration {
	durations := make([]time.Duration, 0, len(samples))
	for _, s := range samples {
		durations = append(durations, s.Ended.Sub(s.Started))
	}
	return durations
}

// latencyOf summarizes durations, which it sorts.
func latencyOf(durations []time.Duration) Latency {
	slices.Sort(durations)
	l := Latency{
		P50: percentile(durations, 50), P95: percentile(durations, 95),
		P99: percentile(durations, 99), Max: percentile(durations, 100),
	}
	for _, d := range durations {
		if d > time.Second {
			l.OverSecond++
		}
	}
	return l
}

// percentile returns the nearest rank: the smallest sample that at least p percent
// of all samples do not exceed. sorted is in rising order; none gives 0.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := (p*len(sorted) + 99) / 100
	return sorted[max(rank, 1)-1]
}
