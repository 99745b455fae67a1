package providertest

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/provider"
)

// holdingMutants are about instances that are held.
func holdingMutants() []mutant {
	const in = "holding/"
	return []mutant{
		{"forgets why at the next abandon", "§5.26: an abandon without", []string{in + "hold_stays_through_other_abandons"}, func(c *calls, sound calls) {
			said := map[string]string{}
			c.AbandonOrchestrationItem = func(ctx context.Context, params provider.AbandonParams) error {
				said["now"] = params.Misfit
				return sound.AbandonOrchestrationItem(ctx, params)
			}
			c.ListHeldInstances = func(ctx context.Context) ([]provider.HeldInstance, error) {
				if said["now"] == "" {
					return nil, nil
				}
				return sound.ListHeldInstances(ctx)
			}
		}},
		{"keeps the first reason", "§5.26 Reason", []string{in + "hold_is_told_with_its_reason"}, func(c *calls, sound calls) {
			first := map[string]provider.HeldInstance{}
			c.GetHeldInstance = func(ctx context.Context, instance string) (*provider.HeldInstance, error) {
				got, err := sound.GetHeldInstance(ctx, instance)
				if got == nil {
					return nil, err
				}
				if _, ok := first[instance]; !ok {
					first[instance] = *got
				}
				got.Reason = first[instance].Reason
				return got, err
			}
			c.ListHeldInstances = func(ctx context.Context) ([]provider.HeldInstance, error) {
				list, err := sound.ListHeldInstances(ctx)
				for i, h := range list {
					if f, ok := first[h.InstanceID]; ok {
						list[i].Reason = f.Reason
					}
				}
				return list, err
			}
		}},
		{"refuses a reason that is no text", "§5.26 Reason: each byte", []string{in + "reason_that_is_no_text_is_kept_all_the_same"}, func(c *calls, sound calls) {
			c.AbandonOrchestrationItem = func(ctx context.Context, params provider.AbandonParams) error {
				if !utf8.ValidString(params.Misfit) {
					return provider.Permanent("abandon_orchestration_item", "no valid UTF-8", provider.ErrInvalidArgument)
				}
				return sound.AbandonOrchestrationItem(ctx, params)
			}
		}},
		{"lists the last that was held first", "§5.26 ListHeldInstances", []string{in + "hold_is_told_with_its_reason"}, func(c *calls, sound calls) {
			c.ListHeldInstances = func(ctx context.Context) ([]provider.HeldInstance, error) {
				list, err := sound.ListHeldInstances(ctx)
				slices.Reverse(list)
				return list, err
			}
		}},
		{"holds whatever is abandoned for long", "§5.26 RetryHeldInstance: false", []string{in + "retry_of_what_is_not_held_changes_nothing"}, func(c *calls, sound calls) {
			c.AbandonOrchestrationItem = func(ctx context.Context, params provider.AbandonParams) error {
				if params.Delay > time.Minute && params.Misfit == "" {
					params.Misfit = "long"
				}
				return sound.AbandonOrchestrationItem(ctx, params)
			}
		}},
		{"lets what came later overtake", "§5.26 Fetch", []string{
			in + "message_does_not_overtake_what_is_held", in + "timer_does_not_overtake_what_is_held",
		}, func(c *calls, sound calls) {
			taken, behind := 0, 0
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				got, err := sound.FetchOrchestrationItem(ctx, params)
				if got != nil {
					taken = len(got.Item.Messages)
					got.Item.Messages = got.Item.Messages[min(behind, taken-1):]
				}
				return got, err
			}
			c.AbandonOrchestrationItem = func(ctx context.Context, params provider.AbandonParams) error {
				if params.Misfit != "" {
					behind = taken
				}
				return sound.AbandonOrchestrationItem(ctx, params)
			}
			c.RetryHeldInstance = func(ctx context.Context, instance string) (bool, error) {
				behind = 0
				return sound.RetryHeldInstance(ctx, instance)
			}
		}},
		{"says that it retries, and does not", "§5.1: nil may be returned only when", []string{
			in + "retry_shows_what_the_hold_has_hidden", in + "hold_is_over_when_its_messages_are",
		}, func(c *calls, sound calls) {
			c.RetryHeldInstance = func(ctx context.Context, instance string) (bool, error) {
				held, err := sound.GetHeldInstance(ctx, instance)
				return held != nil, err
			}
		}},
	}
}
