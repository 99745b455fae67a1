package providertest

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/provider"
)

// The mutants about the calls that commit and take, and that renew together.

// takingWith changes what every combined call takes, and what it has taken.
func takingWith(ask func(params *provider.ClaimParams), answer func(taken *provider.Claimed)) func(*calls, calls) {
	return func(c *calls, sound calls) {
		change := func(params provider.ClaimParams, call func(params provider.ClaimParams) (provider.Claimed, error)) (provider.Claimed, error) {
			if ask != nil {
				params.Work = slices.Clone(params.Work)
				if params.Turn != nil {
					params.Turn = new(*params.Turn)
				}
				ask(&params)
			}
			taken, err := call(params)
			if answer != nil {
				answer(&taken)
			}
			return taken, err
		}
		c.Claim = func(ctx context.Context, params provider.ClaimParams) (provider.Claimed, error) {
			return change(params, func(params provider.ClaimParams) (provider.Claimed, error) { return sound.Claim(ctx, params) })
		}
		c.AckTurnAndClaim = func(ctx context.Context, ack provider.AckOrchestrationParams, params provider.ClaimParams) (provider.Claimed, error) {
			return change(params, func(params provider.ClaimParams) (provider.Claimed, error) {
				return sound.AckTurnAndClaim(ctx, ack, params)
			})
		}
		c.AckWorkAndClaim = func(ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams) (outcomes []error, taken provider.Claimed, err error) {
			taken, err = change(params, func(params provider.ClaimParams) (taken provider.Claimed, err error) {
				outcomes, taken, err = sound.AckWorkAndClaim(ctx, acks, params)
				return taken, err
			})
			return outcomes, taken, err
		}
	}
}

// commitWith changes how the acknowledgement and the taking go together.
func commitWith(both func(ack func() error, take func() (provider.Claimed, error)) (provider.Claimed, error)) func(*calls, calls) {
	return func(c *calls, sound calls) {
		c.AckTurnAndClaim = func(ctx context.Context, ack provider.AckOrchestrationParams, params provider.ClaimParams) (provider.Claimed, error) {
			return both(func() error { return sound.AckOrchestrationItem(ctx, ack) },
				func() (provider.Claimed, error) { return sound.Claim(ctx, params) })
		}
		c.AckWorkAndClaim = func(ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams) ([]error, provider.Claimed, error) {
			outcomes := make([]error, len(acks))
			taken, err := both(func() error {
				for i, a := range acks {
					outcomes[i] = sound.AckWorkItem(ctx, a.LockToken, a.Completion)
				}
				return nil
			}, func() (provider.Claimed, error) { return sound.Claim(ctx, params) })
			return outcomes, taken, err
		}
	}
}

func takingMutants() []mutant {
	return []mutant{
		{
			"takes one activity however many are asked for", "§5.23 what is taken",
			[]string{"taking/what_is_ready_is_taken"},
			takingWith(func(p *provider.ClaimParams) { p.Work = p.Work[:min(1, len(p.Work))] }, nil),
		},
		{
			"takes a turn unasked", "§5.23 what is taken",
			[]string{"taking/without_entries_nothing_is_taken"},
			takingWith(func(p *provider.ClaimParams) { p.Turn = &provider.FetchOrchestrationParams{LockTimeout: held} }, nil),
		},
		{"waits for something to take", "PollTimeout is not used", []string{"taking/never_waits"}, func(c *calls, sound calls) {
			c.Claim = func(ctx context.Context, params provider.ClaimParams) (provider.Claimed, error) {
				turn, err := sound.FetchOrchestrationItem(ctx, *params.Turn)
				return provider.Claimed{Turn: turn}, err
			}
		}},
		{
			"takes before it commits", "what the call itself made",
			[]string{"taking/turn_hands_on_what_it_made", "taking/completion_hands_on_its_turn"},
			commitWith(func(ack func() error, take func() (provider.Claimed, error)) (provider.Claimed, error) {
				taken, err := take()
				if err == nil {
					err = ack()
				}
				return taken, err
			}),
		},
		{
			"takes although the acknowledgement failed", "§5.23 atomicity",
			[]string{"taking/failed_ack_takes_nothing"},
			commitWith(func(ack func() error, take func() (provider.Claimed, error)) (provider.Claimed, error) {
				err := ack()
				_, _ = take()
				return provider.Claimed{}, err
			}),
		},
		{
			"tells of a failed acknowledgement as of a failed taking", "§5.23 atomicity",
			[]string{"taking/failed_ack_takes_nothing"},
			commitWith(func(ack func() error, take func() (provider.Claimed, error)) (provider.Claimed, error) {
				failed := ack()
				if failed == nil {
					return take()
				}
				return provider.Claimed{Err: failed}, nil
			}),
		},
		{
			"checks what it is to take after the commit", "§5.23 arguments",
			[]string{"taking/bad_entries_commit_nothing"},
			commitWith(func(ack func() error, take func() (provider.Claimed, error)) (provider.Claimed, error) {
				if err := ack(); err != nil {
					return provider.Claimed{}, err
				}
				return take()
			}),
		},
		{"takes no notice of a combined call's context", "a call ends soon after its context", []string{"taking/ended_context_commits_nothing"}, func(c *calls, sound calls) {
			c.AckTurnAndClaim = func(ctx context.Context, ack provider.AckOrchestrationParams, params provider.ClaimParams) (provider.Claimed, error) {
				return sound.AckTurnAndClaim(context.WithoutCancel(ctx), ack, params)
			}
		}},
		{
			"takes for every entry by the first one's terms", "For is the index of the entry",
			[]string{"taking/each_entry_by_its_own_terms", "taking/work_by_code"},
			takingWith(func(p *provider.ClaimParams) {
				for i := range p.Work {
					p.Work[i] = p.Work[0]
				}
			}, nil),
		},
		{
			"numbers what it has taken", "For is the index of the entry",
			[]string{"taking/each_entry_by_its_own_terms"},
			takingWith(nil, func(taken *provider.Claimed) {
				for i := range taken.Work {
					taken.Work[i].For = i
				}
			}),
		},
		{
			"takes turns of any framework version", "§5.23 what is taken",
			[]string{"taking/turn_by_its_own_terms"},
			takingWith(func(p *provider.ClaimParams) {
				if p.Turn != nil {
					p.Turn.Filter = nil
				}
			}, nil),
		},
		{
			"takes turns of any code", "§5.23 what is taken",
			[]string{"taking/work_by_code"},
			takingWith(func(p *provider.ClaimParams) {
				if p.Turn != nil {
					p.Turn.Known = nil
				}
			}, nil),
		},
		{
			"claims all sessions for one owner", "§5.23 what is taken",
			[]string{"taking/sessions_are_claimed_for_their_owner"},
			takingWith(func(p *provider.ClaimParams) {
				for i := range p.Work {
					p.Work[i].Session = &provider.SessionFetchConfig{OwnerID: "worker", LockTimeout: held}
				}
			}, nil),
		},
		{
			"counts every attempt as the first", "§5.23 what is taken",
			[]string{"taking/attempts_are_counted_and_leases_end"},
			takingWith(nil, func(taken *provider.Claimed) {
				if taken.Turn != nil {
					taken.Turn.AttemptCount = 1
				}
			}),
		},
		{
			"hands out tokens of its own", "§5.23 what is taken",
			[]string{"taking/tokens_are_those_of_fetches"},
			takingWith(nil, func(taken *provider.Claimed) {
				for i := range taken.Work {
					taken.Work[i].LockToken += "x"
				}
			}),
		},
		{"hands an activity out again", "§1: peek-lock", []string{"taking/nothing_is_taken_twice"}, func(c *calls, sound calls) {
			var mu sync.Mutex
			var last []provider.ClaimedWork
			c.Claim = func(ctx context.Context, params provider.ClaimParams) (provider.Claimed, error) {
				taken, err := sound.Claim(ctx, params)
				mu.Lock()
				defer mu.Unlock()
				if len(taken.Work) == 0 {
					taken.Work = last
				}
				last = taken.Work
				return taken, err
			}
		}},
	}
}

// takeWaiting changes a Claim that may wait.
func takeWaiting(take func(ctx context.Context, params provider.ClaimParams, sound calls) (provider.Claimed, error)) func(*calls, calls) {
	return func(c *calls, sound calls) {
		c.Claim = func(ctx context.Context, params provider.ClaimParams) (provider.Claimed, error) {
			if params.Wait == 0 {
				return sound.Claim(ctx, params)
			}
			return take(ctx, params, sound)
		}
	}
}

// takeWaitMutants are about a Claim that may wait.
func takeWaitMutants() []mutant {
	const rule = "§5.23 waiting"
	return []mutant{
		{
			"waits for longer than it may", rule,
			[]string{"taking/wait_is_bounded"},
			takeWaiting(func(ctx context.Context, params provider.ClaimParams, sound calls) (provider.Claimed, error) {
				taken, err := sound.Claim(ctx, params)
				if taken.Turn == nil {
					_ = clock.Sleep(ctx, time.Second)
				}
				return taken, err
			}),
		},
		{
			"does not look before it waits", rule,
			[]string{"taking/waiting_take_finds_what_is_ready"},
			takeWaiting(func(context.Context, provider.ClaimParams, calls) (provider.Claimed, error) {
				return provider.Claimed{Waited: true}, nil
			}),
		},
		{
			"gives what is made to a call that was left", rule,
			[]string{"taking/ended_wait_locks_nothing"},
			func(c *calls, sound calls) {
				var left atomic.Bool
				takeWaiting(func(ctx context.Context, params provider.ClaimParams, sound calls) (provider.Claimed, error) {
					taken, err := sound.Claim(ctx, params)
					left.Store(ctx.Err() != nil)
					return taken, err
				})(c, sound)
				c.EnqueueForOrchestrator = func(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
					err := sound.EnqueueForOrchestrator(ctx, item, delay)
					if left.Load() {
						_, _ = sound.Claim(ctx, aTurn())
					}
					return err
				}
			},
		},
		{
			"leaves to others what it gives to a call that waits", rule,
			[]string{"taking/what_is_made_meanwhile_is_taken_once"},
			takeWaiting(func(ctx context.Context, params provider.ClaimParams, sound calls) (provider.Claimed, error) {
				taken, err := sound.Claim(ctx, params)
				if taken.Waited {
					params.Wait = 0
					taken, err = sound.Claim(ctx, params)
				}
				if taken.Turn != nil {
					_ = sound.AbandonOrchestrationItem(context.WithoutCancel(ctx), provider.AbandonParams{LockToken: taken.Turn.LockToken})
				}
				return taken, err
			}),
		},
	}
}

// endingMutants are about ending several activities in one call.
func endingMutants() []mutant {
	const rule = "§5.23 outcomes"
	type ending = func(ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams) ([]error, provider.Claimed, error)
	with := func(change func(sound calls) ending) func(*calls, calls) {
		return func(c *calls, sound calls) { c.AckWorkAndClaim = change(sound) }
	}
	return []mutant{
		{"ends no more after one that fails", rule, []string{"taking/each_acknowledgement_has_its_outcome"}, with(func(sound calls) ending {
			return func(ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams) ([]error, provider.Claimed, error) {
				outcomes := make([]error, len(acks))
				for i := range acks {
					one, _, err := sound.AckWorkAndClaim(ctx, acks[i:i+1], provider.ClaimParams{})
					if err != nil {
						return nil, provider.Claimed{}, err
					}
					if one[0] != nil {
						for j := range outcomes[i:] {
							outcomes[i+j] = one[0]
						}
						break
					}
				}
				taken, err := sound.Claim(ctx, params)
				return outcomes, taken, err
			}
		})},
		{"tells the outcomes of acknowledgements in another order", rule, []string{"taking/each_acknowledgement_has_its_outcome"}, with(func(sound calls) ending {
			return func(ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams) ([]error, provider.Claimed, error) {
				outcomes, taken, err := sound.AckWorkAndClaim(ctx, acks, params)
				slices.Reverse(outcomes)
				return outcomes, taken, err
			}
		})},
		{"takes nothing when an acknowledgement failed", rule, []string{"taking/failed_acknowledgements_take_all_the_same"}, with(func(sound calls) ending {
			return func(ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams) ([]error, provider.Claimed, error) {
				outcomes, _, err := sound.AckWorkAndClaim(ctx, acks, provider.ClaimParams{})
				if err != nil || slices.ContainsFunc(outcomes, func(outcome error) bool { return outcome != nil }) {
					return outcomes, provider.Claimed{}, err
				}
				taken, err := sound.Claim(ctx, params)
				return outcomes, taken, err
			}
		})},
		{"takes after the first acknowledgement", "what the call itself made", []string{"taking/completions_of_one_call_share_a_turn"}, with(func(sound calls) ending {
			return func(ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams) ([]error, provider.Claimed, error) {
				first := min(1, len(acks))
				outcomes, taken, err := sound.AckWorkAndClaim(ctx, acks[:first], params)
				if err != nil {
					return nil, taken, err
				}
				rest, _, err := sound.AckWorkAndClaim(ctx, acks[first:], provider.ClaimParams{})
				return append(outcomes, rest...), taken, err
			}
		})},
		{"takes no acknowledgements for an error", rule, []string{"taking/without_acknowledgements_it_is_a_take"}, with(func(sound calls) ending {
			return func(ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams) ([]error, provider.Claimed, error) {
				if len(acks) == 0 {
					return nil, provider.Claimed{}, provider.Permanent("ack_work_item", "no activities", provider.ErrInvalidArgument)
				}
				return sound.AckWorkAndClaim(ctx, acks, params)
			}
		})},
		{"says that it ends them", rule, []string{
			"taking/each_acknowledgement_has_its_outcome", "taking/acknowledged_together_stamps_sessions",
		}, with(func(sound calls) ending {
			return func(ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams) ([]error, provider.Claimed, error) {
				outcomes := make([]error, len(acks))
				for i, a := range acks {
					if a.LockToken == "no token" {
						outcomes[i] = provider.Permanent("ack_work_item", "no token", provider.ErrInvalidLockToken)
					}
				}
				taken, err := sound.Claim(ctx, params)
				return outcomes, taken, err
			}
		})},
		{"says of what was ended that it ends it", rule, []string{"taking/what_is_acknowledged_together_ends_once"}, with(func(sound calls) ending {
			return func(ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams) ([]error, provider.Claimed, error) {
				_, taken, err := sound.AckWorkAndClaim(ctx, acks, params)
				return make([]error, len(acks)), taken, err
			}
		})},
	}
}

// noticeMutants are about what is told of work that is ready.
func noticeMutants() []mutant {
	const rule = "§5.23 WorkReady"
	return []mutant{
		{"tells only of what clients queue", rule, []string{
			"taking/notice_of_what_a_turn_makes", "taking/notice_of_a_completion", "taking/notice_of_what_is_given_up",
			"taking/notice_when_delays_end", "taking/notice_when_leases_end", "taking/notice_of_what_another_process_does",
		}, func(c *calls, sound calls) {
			n := newNotices()
			c.WorkReady = n.subscribe
			c.EnqueueForOrchestrator = func(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
				defer n.tell()
				return sound.EnqueueForOrchestrator(ctx, item, delay)
			}
			c.EnqueueForWorker = func(ctx context.Context, item provider.WorkItem) error {
				defer n.tell()
				return sound.EnqueueForWorker(ctx, item)
			}
		}},
		{"tells nothing", rule, []string{"taking/notice_of_what_is_queued"}, func(c *calls, _ calls) {
			c.WorkReady = newNotices().subscribe
		}},
		{"tells only who waits for it", rule, []string{"taking/notices_wait_to_be_received"}, func(c *calls, sound calls) {
			c.WorkReady = func() (<-chan struct{}, <-chan struct{}, func()) {
				turns, activities, end := sound.WorkReady()
				unbuffered := make(chan struct{})
				done := make(chan struct{})
				go func() {
					for {
						select {
						case <-turns:
						case <-done:
							return
						}
						select {
						case unbuffered <- struct{}{}:
						default:
						}
					}
				}()
				return unbuffered, activities, sync.OnceFunc(func() {
					end()
					close(done)
				})
			}
		}},
		{"goes on to tell after stop", rule, []string{"taking/notices_end_with_stop"}, func(c *calls, sound calls) {
			n := newNotices()
			c.WorkReady = n.subscribe
			c.EnqueueForWorker = func(ctx context.Context, item provider.WorkItem) error {
				defer n.tell()
				return sound.EnqueueForWorker(ctx, item)
			}
		}},
	}
}

// notices are what a mutant tells.
type notices struct{ turns, activities chan struct{} }

func newNotices() *notices { return &notices{make(chan struct{}, 1), make(chan struct{}, 1)} }

func (n *notices) subscribe() (turns, activities <-chan struct{}, stop func()) {
	return n.turns, n.activities, func() {}
}

func (n *notices) tell() {
	for _, c := range []chan struct{}{n.turns, n.activities} {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

func renewingMutants() []mutant {
	return []mutant{
		{"renews no more after a lease that is lost", "§5.24 result", []string{"renewing together/each_lease_has_its_outcome"}, func(c *calls, sound calls) {
			c.RenewLocks = func(ctx context.Context, locks []provider.LockRenewal) ([]error, error) {
				outcomes := make([]error, len(locks))
				for i := range locks {
					one, err := sound.RenewLocks(ctx, locks[i:i+1])
					if err != nil {
						return nil, err
					}
					if outcomes[i] = one[0]; one[0] != nil {
						for j := range outcomes[i:] {
							outcomes[i+j] = one[0]
						}
						break
					}
				}
				return outcomes, nil
			}
		}},
		{"tells the outcomes in another order", "§5.24 result", []string{"renewing together/each_lease_has_its_outcome"}, func(c *calls, sound calls) {
			c.RenewLocks = func(ctx context.Context, locks []provider.LockRenewal) ([]error, error) {
				outcomes, err := sound.RenewLocks(ctx, locks)
				slices.Reverse(outcomes)
				return outcomes, err
			}
		}},
		{"fails together for one lease that is lost", "§5.24 result", []string{"renewing together/each_lease_has_its_outcome"}, func(c *calls, sound calls) {
			c.RenewLocks = func(ctx context.Context, locks []provider.LockRenewal) ([]error, error) {
				outcomes, err := sound.RenewLocks(ctx, locks)
				for _, outcome := range outcomes {
					if outcome != nil {
						return nil, outcome
					}
				}
				return outcomes, err
			}
		}},
		{"says that it renews", "§5.24 result", []string{
			"renewing together/leases_count_from_now", "renewing together/sessions_are_extended",
		}, func(c *calls, _ calls) {
			c.RenewLocks = func(_ context.Context, locks []provider.LockRenewal) ([]error, error) {
				return make([]error, len(locks)), nil
			}
		}},
		{"takes no locks for an error", "§5.24 none", []string{"renewing together/no_locks_are_no_error"}, func(c *calls, sound calls) {
			c.RenewLocks = func(ctx context.Context, locks []provider.LockRenewal) ([]error, error) {
				if len(locks) == 0 {
					return nil, provider.Permanent("renew_locks", "no locks", provider.ErrInvalidArgument)
				}
				return sound.RenewLocks(ctx, locks)
			}
		}},
		{"renews what comes before a bad time", "§5.24 error", []string{"renewing together/bad_times_renew_nothing"}, func(c *calls, sound calls) {
			c.RenewLocks = func(ctx context.Context, locks []provider.LockRenewal) ([]error, error) {
				var outcomes []error
				for _, lock := range locks {
					one, err := sound.RenewLocks(ctx, []provider.LockRenewal{lock})
					if err != nil {
						return nil, err
					}
					outcomes = append(outcomes, one...)
				}
				return outcomes, nil
			}
		}},
	}
}
