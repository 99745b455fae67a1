package providertest

import (
	"context"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// unknownMutants are about work whose code nobody has.
func unknownMutants() []mutant {
	const in = "selection by code/"
	return append(unnamedMutants(), []mutant{
		{"lists what has waited for that long only", "§5.20 UnknownCode", []string{in + "unknown_code_is_listed"}, func(c *calls, sound calls) {
			c.UnknownCode = func(ctx context.Context, unknownFor time.Duration) ([]provider.UnknownCode, error) {
				list, err := sound.UnknownCode(ctx, unknownFor)
				return slices.DeleteFunc(list, func(u provider.UnknownCode) bool { return time.Since(u.Since) < unknownFor }), err
			}
		}},
		{"forgets when code was known", "§5.20 LastKnown", []string{in + "unknown_code_says_when_it_was_known"}, func(c *calls, sound calls) {
			c.UnknownCode = func(ctx context.Context, unknownFor time.Duration) ([]provider.UnknownCode, error) {
				list, err := sound.UnknownCode(ctx, unknownFor)
				for i := range list {
					list[i].LastKnown = time.Time{}
				}
				return list, err
			}
		}},
		{"does not regard tags", "§5.20 Unknown: of an activity", []string{in + "activity_whose_tag_nobody_takes_is_unknown"}, func(c *calls, sound calls) {
			c.UnknownCode = func(ctx context.Context, unknownFor time.Duration) ([]provider.UnknownCode, error) {
				list, err := sound.UnknownCode(ctx, unknownFor)
				return slices.DeleteFunc(list, func(u provider.UnknownCode) bool { return u.OtherTags }), err
			}
		}},
		{"lists all instances for one", "§5.20 WaitingForCode", []string{in + "instances_that_wait_for_code_are_listed"}, func(c *calls, sound calls) {
			c.WaitingForCode = func(ctx context.Context, _ string, unknownFor time.Duration) ([]provider.WaitingInstance, error) {
				return sound.WaitingForCode(ctx, "", unknownFor)
			}
		}},
		{"counts only what has waited", "§5.20 GetQueueDepths", []string{in + "work_of_unknown_code_is_counted"}, func(c *calls, sound calls) {
			c.GetQueueDepths = func(ctx context.Context) (provider.QueueDepths, error) {
				depths, err := sound.GetQueueDepths(ctx)
				depths.UnknownActivities = 0
				return depths, err
			}
		}},
		{"takes all of unknown code for a request", "§5.20 Cancelled", []string{in + "cancelled_takes_requested_ends_of_unknown_code"}, func(c *calls, sound calls) {
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				if params.Cancelled {
					params.Cancelled, params.UnknownFor = false, time.Millisecond
				}
				return sound.FetchOrchestrationItem(ctx, params)
			}
		}},
		{"lets a request wait like other work", "§5.20 Cancelled", []string{in + "cancelled_takes_requested_ends_of_unknown_code"}, func(c *calls, sound calls) {
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				params.Cancelled = false
				return sound.FetchOrchestrationItem(ctx, params)
			}
		}},
	}...)
}

// unnamedMutants are about fetches that name no code.
func unnamedMutants() []mutant {
	const in = "selection by code/"
	return []mutant{
		{"gives work that others have named to fetches without names", "§5.20 Known nil", []string{
			in + "fetch_without_names_leaves_alone_what_others_named",
		}, func(c *calls, sound calls) {
			var named memory[string, *provider.KnownCode]
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				if params.Known == nil {
					params.Known, _ = named.get("turns")
				}
				named.put("turns", params.Known)
				return sound.FetchOrchestrationItem(ctx, params)
			}
		}},
		{"counts the attempts of fetches without names for all", "§5.20 Attempts", []string{
			in + "attempts_without_names_do_not_count_for_names",
		}, func(c *calls, sound calls) {
			var unnamed memory[string, uint32]
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				got, err := sound.FetchOrchestrationItem(ctx, params)
				if got == nil {
					return nil, err
				}
				n, _ := unnamed.get(got.Item.Instance)
				if params.Known == nil {
					unnamed.put(got.Item.Instance, n+1)
				} else {
					got.AttemptCount += n
				}
				return got, err
			}
		}},
	}
}
