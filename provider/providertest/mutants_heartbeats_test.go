package providertest

import (
	"context"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// heartbeatMutants are about what is kept with a running activity.
func heartbeatMutants() []mutant {
	// beating changes a heartbeat.
	beating := func(change func(sound calls, ctx context.Context, token string, extendFor time.Duration, details string) error) func(*calls, calls) {
		return func(c *calls, sound calls) {
			c.KeepHeartbeat = func(ctx context.Context, token string, extendFor time.Duration, details string) error {
				return change(sound, ctx, token, extendFor, details)
			}
		}
	}
	// fetching changes what is fetched.
	fetching := func(change func(got *provider.FetchedWorkItem)) func(*calls, calls) {
		return func(c *calls, sound calls) {
			c.FetchWorkItem = func(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
				got, err := sound.FetchWorkItem(ctx, params)
				if got != nil {
					change(got)
				}
				return got, err
			}
		}
	}
	return []mutant{
		{
			"keeps no details", "§5.27",
			[]string{"heartbeats/every_later_fetch_has_the_last_details", "heartbeats/details_are_kept_as_they_are"},
			beating(func(sound calls, ctx context.Context, token string, extendFor time.Duration, _ string) error {
				return sound.RenewWorkItemLock(ctx, token, extendFor)
			}),
		},
		{
			"loses the details when a fetch brings them", "§5.27",
			[]string{"heartbeats/every_later_fetch_has_the_last_details"},
			func() func(*calls, calls) {
				var mu sync.Mutex
				seen := map[string]bool{}
				return fetching(func(got *provider.FetchedWorkItem) {
					mu.Lock()
					defer mu.Unlock()
					if seen[got.Heartbeat] {
						got.Heartbeat = ""
					}
					seen[got.Heartbeat] = true
				})
			}(),
		},
		{
			"leaves the lease as it is", "§5.27",
			[]string{"heartbeats/heartbeat_renews_the_lease"},
			beating(func(sound calls, ctx context.Context, token string, extendFor time.Duration, details string) error {
				return sound.KeepHeartbeat(ctx, token, max(extendFor, held), details)
			}),
		},
		{
			"keeps what is too long", "§5.27 error",
			[]string{"heartbeats/bad_details_change_nothing"},
			beating(func(sound calls, ctx context.Context, token string, extendFor time.Duration, details string) error {
				return sound.KeepHeartbeat(ctx, token, extendFor, details[:min(len(details), provider.MaxHeartbeat)])
			}),
		},
		{
			"counts the wait from when it was last hidden", "§5.10 result",
			[]string{"heartbeats/wait_counts_from_the_queueing"},
			fetching(func(got *provider.FetchedWorkItem) { got.Waited = 0 }),
		},
	}
}
