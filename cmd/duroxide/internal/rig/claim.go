package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/duroxide/duroxide-go/provider"
)

// Store is an open store.
type Store interface {
	provider.Provider
	io.Closer
}

// A Renewer is a store that can be opened again, with everything in it, so that what
// filling it has left in its connections is not measured with it.
type Renewer interface {
	Renew(ctx context.Context) error
}

// ClaimConfig is a run of rig C.
type ClaimConfig struct {
	// Open opens an empty store of its own for each population.
	Open  func(ctx context.Context, p Population) (Store, error)
	Queue Queue
	// Populations are what is compared. With no ready rows, what is measured is a
	// claim that finds nothing. Claimers ask for what they know, as workers do.
	Populations []Population
	// Claimers are the numbers of goroutines that claim at a time.
	Claimers []int
	// Claims is how many claims are made of each population by each number of
	// claimers in one round. It must not exceed any number of ready rows.
	Claims int
	// Rounds is how often all of it is repeated.
	Rounds int
	// Filling and Filled, if set, are told of the next population, and of the number
	// of its rows that are there, by one goroutine at a time.
	Filling func(p Population)
	Filled  func(rows int)
}

// Claim is what claiming from one population came to, over all rounds.
type Claim struct {
	Population

	Claimers int `json:"claimers"`
	Claims   int `json:"claims"`
	// Rate is claims a second, the median of the rounds.
	Rate float64 `json:"rate"`
	// Latency is how long a claim took.
	Latency Latency `json:"latency_ms"`
	// Ratio is the time of a claim relative to the first population of the same kind
	// (with ready rows or without) under as many claimers: of each round the two
	// medians are divided, and of the rounds the median is taken. So neither a slow
	// claim nor a slow minute of the machine decides.
	Ratio float64 `json:"ratio"`
	// CPUMilliseconds is the processor time of this process for a claim, the median of the rounds. It does not
	// contain the waiting for a disk, for a server and for other claimers. CPURatio relates it to the first population
	// as Ratio does. Both are nil when the system does not tell.
	CPUMilliseconds *float64 `json:"cpu_ms"`
	CPURatio        *float64 `json:"cpu_ratio"`
	// Errors counts the calls that failed and could be repeated, such as after a
	// deadlock; Missed those that found nothing while rows were ready.
	Errors int64 `json:"errors"`
	Missed int64 `json:"missed"`
}

// RunClaim runs rig C: it fills a store for each population, and then, round by
// round, lets claimers take rows of each in turn and puts the rows back. The order
// alternates, so that a machine that gets slower or faster does so for all.
func RunClaim(ctx context.Context, config ClaimConfig) (list []Claim, err error) {
	stores := make([]Store, 0, len(config.Populations))
	defer func() {
		for _, store := range stores {
			err = errors.Join(err, store.Close())
		}
	}()
	for _, p := range config.Populations {
		if config.Filling != nil {
			config.Filling(p)
		}
		store, err := config.Open(ctx, p)
		if err != nil {
			return nil, err
		}
		stores = append(stores, store)
		f := filler{store: store, queue: config.Queue, population: p, filled: config.Filled}
		if err := f.fill(ctx); err != nil {
			return nil, err
		}
		if again, ok := store.(Renewer); ok {
			if err := again.Renew(ctx); err != nil {
				return nil, err
			}
		}
	}
	for _, claimers := range config.Claimers {
		row, err := config.compare(ctx, stores, claimers)
		if err != nil {
			return nil, err
		}
		list = append(list, row...)
	}
	return list, nil
}

// compare runs all rounds for one number of claimers.
func (c ClaimConfig) compare(ctx context.Context, stores []Store, claimers int) ([]Claim, error) {
	rounds := make([][]*claimRound, len(stores))
	for n := range c.Rounds {
		order := make([]int, len(stores))
		for i := range order {
			order[i] = i
		}
		if n%2 == 1 {
			slices.Reverse(order)
		}
		for _, i := range order {
			r := &claimRound{store: stores[i], queue: c.Queue, empty: c.Populations[i].Ready == 0, known: c.Populations[i].known()}
			if err := r.run(ctx, claimers, c.Claims); err != nil {
				return nil, err
			}
			rounds[i] = append(rounds[i], r)
		}
	}
	list := make([]Claim, 0, len(stores))
	for i, p := range c.Populations {
		first := slices.IndexFunc(c.Populations, func(other Population) bool { return (other.Ready == 0) == (p.Ready == 0) })
		claim := Claim{Population: p, Claimers: claimers, Claims: c.Claims * c.Rounds}
		claim.sum(rounds[i], rounds[first])
		list = append(list, claim)
	}
	return list, nil
}

// sum sums the rounds up, relative to the same rounds of another population.
func (c *Claim) sum(rounds, reference []*claimRound) {
	var all []time.Duration
	var rates, ratios, cpus, cpuRatios []float64
	for n, r := range rounds {
		all = append(all, r.times...)
		rates = append(rates, float64(len(r.times))/r.took.Seconds())
		ratios = append(ratios, r.median().Seconds()/reference[n].median().Seconds())
		if r.cpu > 0 && reference[n].cpu > 0 {
			cpus = append(cpus, float64(r.cpu)/float64(time.Millisecond)/float64(len(r.times)))
			cpuRatios = append(cpuRatios, r.cpu.Seconds()/reference[n].cpu.Seconds())
		}
		c.Errors += r.errors
		c.Missed += r.missed
	}
	c.Latency, c.Rate, c.Ratio = latencyOf(all), middle(rates), middle(ratios)
	if len(cpus) > 0 {
		cpu, ratio := middle(cpus), middle(cpuRatios)
		c.CPUMilliseconds, c.CPURatio = &cpu, &ratio
	}
}

// middle is the median, the mean of the middle two of an even number.
func middle(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// claimRound is one round of one population.
type claimRound struct {
	store provider.Provider
	queue Queue
	// empty says that nothing is there to be claimed.
	empty bool
	known *provider.KnownCode

	took time.Duration
	// cpu is this process's processor time for the claims, 0 when it is not known.
	cpu            time.Duration
	times          []time.Duration
	errors, missed int64

	mu sync.Mutex
	// held are the tokens by what they lock.
	held map[string]string
}

// median is the median time of a claim.
func (r *claimRound) median() time.Duration {
	return percentile(slices.Sorted(slices.Values(r.times)), 50)
}

// run lets claimers make a number of claims, and puts back what they got.
func (r *claimRound) run(ctx context.Context, claimers, claims int) error {
	r.held = make(map[string]string, claims)
	var made atomic.Int64
	group, groupCtx := errgroup.WithContext(ctx)
	cpuBefore, _ := cpuTime()
	began := time.Now()
	for range claimers {
		group.Go(func() error {
			for made.Add(1) <= int64(claims) {
				if err := r.claim(groupCtx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("claiming: %w", err)
	}
	r.took = time.Since(began)
	if after, known := cpuTime(); known {
		r.cpu = after - cpuBefore
	}
	if err := r.release(ctx); err != nil {
		return fmt.Errorf("putting back what was claimed: %w", err)
	}
	r.held = nil
	return nil
}

// claim makes one claim, however many calls it takes. Its time is that of the last:
// the others are counted.
func (r *claimRound) claim(ctx context.Context) error {
	const tries = 1000
	var err error
	for range tries {
		began := time.Now()
		var what, token string
		what, token, err = r.fetch(ctx)
		took := time.Since(began)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && !provider.IsRetryable(err):
			return err
		case err != nil:
			r.note(&r.errors)
		case token == "" && !r.empty:
			r.note(&r.missed)
		default:
			return r.got(what, token, took)
		}
	}
	if err == nil {
		err = errors.New("nothing was found although there are rows")
	}
	return fmt.Errorf("after %d tries: %w", tries, err)
}

func (r *claimRound) note(count *int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*count++
}

// got takes a claim down. Two claims of one thing would be worse than slow ones.
func (r *claimRound) got(what, token string, took time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times = append(r.times, took)
	if token == "" {
		return nil
	}
	if r.empty || strings.HasPrefix(what, string(foreign)) {
		return fmt.Errorf("%q was claimed although nothing is ready for a claimer that knows it", what)
	}
	if _, twice := r.held[what]; twice {
		return fmt.Errorf("two claimers hold %q at the same time", what)
	}
	r.held[what] = token
	return nil
}

// fetch claims once, without waiting. token is empty when nothing is found.
func (r *claimRound) fetch(ctx context.Context) (what, token string, err error) {
	if r.queue == Activities {
		item, err := r.store.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: fillLease, Known: r.known})
		if item == nil {
			return "", "", err
		}
		return item.Item.Target(), item.LockToken, nil
	}
	item, err := r.store.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: fillLease, Known: r.known})
	if item == nil {
		return "", "", err
	}
	return item.Item.Instance, item.LockToken, nil
}

// release puts back what was claimed.
func (r *claimRound) release(ctx context.Context) error {
	abandon := r.store.AbandonOrchestrationItem
	if r.queue == Activities {
		abandon = r.store.AbandonWorkItem
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(fillers)
	for _, token := range r.held {
		group.Go(func() error {
			return again(func() error { return abandon(ctx, provider.AbandonParams{LockToken: token, IgnoreAttempt: true}) })
		})
	}
	return group.Wait()
}

// again repeats a call that is not measured as long as it is worth it.
func again(call func() error) (err error) {
	const tries = 20
	for range tries {
		if err = call(); !provider.IsRetryable(err) {
			return err
		}
	}
	return err
}
