// Package global has orchestrations that use variables which outlive them.
package global

import (
	"encoding/json"
	"errors"
	"flag"
	"sync/atomic"
	"time"

	"example.com/app/helpers"
	"github.com/duroxide/duroxide-go/orchestration"
)

var (
	hits    int
	cache   = map[string]string{}
	limits  = []int{1, 2, 3}
	count   atomic.Int64
	total   int64
	verbose bool
	config  struct{ Rate int }
	stats   meter
	pause   = time.Minute // only read

	errEmpty = errors.New("empty")
	table    = map[string]int{"a": 1} // filled by init
	replaced = func() int { return 1 }
)

func init() { table["b"] = 2 }

func main() {
	flag.BoolVar(&verbose, "v", false, "say more")
	_ = json.Unmarshal(nil, &config)
}

type meter struct{ n int }

func (m *meter) hit() { m.n++ }

func (m *meter) value() int { return 1 }

func bad(ctx *orchestration.Context, name string) (string, error) {
	hits++                     // want `a write of hits, which is a variable of the package and outlives this run, is repeated by a replay; use a variable of the function, an orchestration.Key, or an activity`
	cache[name] = name         // want `a write of cache`
	delete(cache, "x")         // want `a write of cache`
	limits[0] = 7              // want `a write of limits`
	count.Add(1)               // want `a write of count`
	atomic.AddInt64(&total, 1) // want `a write of total`
	stats.hit()                // want `a write of stats`
	_ = stats.value()          // want `stats is a variable that global.go:\d+ writes`
	if verbose {               // want `verbose is a variable that global.go:34 writes, so a replay may read something else; pass it as input, or read it in an activity`
		return "", nil
	}
	if config.Rate > 1 { // want `config is a variable that global.go:35 writes`
		return "", nil
	}
	if helpers.Debug { // want `helpers.Debug is a variable that helpers.go:\d+ writes`
		return "", nil
	}
	if helpers.Fixed {
		return "", nil
	}
	if counted() > 1 { // want `counted, where hits is a variable that global.go:\d+ writes`
		return "", nil
	}
	return cache[name], nil // want `cache is a variable that global.go:\d+ writes`
}

func counted() int { return hits }

func good(ctx *orchestration.Context, name string) (int, error) {
	if name == "" {
		return 0, errEmpty
	}
	own := map[string]int{}
	own[name]++
	ctx.Sleep(pause)
	return own[name] + table[name] + replaced(), nil
}

// definition has variables around an orchestration.
func definition(limit int, rates map[string]int) []orchestration.Definition[int, int] {
	runs, level, free := 0, 1, 1
	level = 2 // before the definition: a part of making it
	var self orchestration.Definition[int, int]
	self = orchestration.New("Self", func(ctx *orchestration.Context, n int) (int, error) {
		runs++         // want `a write of runs, which is declared outside the orchestration`
		rates["x"] = 1 // want `a write of rates, which is declared outside the orchestration`
		total := 0
		add := func() { total++ }
		add()
		if n > limit {
			return orchestration.SubOrchestration(ctx, self, n-1).Await()
		}
		return level + free + total, nil // want `free is declared outside the orchestration and changes; pass it as input`
	})
	free = 3
	_ = runs
	return []orchestration.Definition[int, int]{self}
}

type service struct {
	runs int
	ctx  *orchestration.Context
	rate int
}

var kept *orchestration.Context

var served = orchestration.New("Served", new(service).serve)

func (s *service) serve(ctx *orchestration.Context, n int) (int, error) {
	s.runs++    // want `a write of s, which is shared by all instances and outlives this run`
	s.ctx = ctx // want `the context is stored in s, which is shared by all instances and outlives this run; pass it as an argument`
	kept = ctx  // want `the context is stored in kept, which is a variable of the package`
	return s.rate, nil
}

var implemented = orchestration.Declare[int, int]("Implemented").Implement(new(service).implement)

func (s *service) implement(ctx *orchestration.Context, n int) (int, error) {
	s.runs++ // want `a write of s, which is shared by all instances and outlives this run`
	return s.rate, nil
}

// flow is made anew for each run, so that it may hold the context.
type flow struct {
	ctx  *orchestration.Context
	done int
}

var flowing = orchestration.New("Flow", func(ctx *orchestration.Context, n int) (int, error) {
	f := &flow{ctx: ctx}
	f.step(ctx)
	return f.done, nil
})

func (f *flow) step(ctx *orchestration.Context) {
	f.done++
	f.ctx = ctx
}
