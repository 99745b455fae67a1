package providertest

import (
	"context"
	"errors"
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// letterMutants are about what could not be decoded.
func letterMutants() []mutant {
	const in = "dead letters/"
	return []mutant{
		{"tells nobody of a letter", "§6.23 SetAside", []string{in + "letter_is_told_to_the_fetch_that_sets_it_aside"}, func(c *calls, sound calls) {
			c.FetchWorkItem = func(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
				params.SetAside = nil
				return sound.FetchWorkItem(ctx, params)
			}
		}},
		{"tells a payload", "§6.23: neither", []string{in + "letter_is_told_to_the_fetch_that_sets_it_aside"}, func(c *calls, sound calls) {
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				if told := params.SetAside; told != nil {
					params.SetAside = func(letter provider.DeadLetter) {
						letter.Reason += secretLetter
						told(letter)
					}
				}
				return sound.FetchOrchestrationItem(ctx, params)
			}
		}},
		{"lists the newest letter first", "§6.23 ListDeadLetters", []string{in + "letters_are_listed_counted_and_shown"}, func(c *calls, sound calls) {
			c.ListDeadLetters = func(ctx context.Context, query provider.DeadLetterQuery) ([]provider.DeadLetter, error) {
				list, err := sound.ListDeadLetters(ctx, query)
				slices.Reverse(list)
				return list, err
			}
		}},
		{"lists the letters of all instances", "§6.23 ListDeadLetters", []string{in + "letters_are_listed_in_pages"}, func(c *calls, sound calls) {
			c.ListDeadLetters = func(ctx context.Context, query provider.DeadLetterQuery) ([]provider.DeadLetter, error) {
				query.InstanceID = ""
				return sound.ListDeadLetters(ctx, query)
			}
		}},
		{"counts no activities among the letters", "§6.23 CountDeadLetters", []string{in + "letters_are_listed_counted_and_shown"}, func(c *calls, sound calls) {
			c.CountDeadLetters = func(ctx context.Context) (count uint64, err error) {
				list, err := sound.ListDeadLetters(ctx, provider.DeadLetterQuery{})
				for _, letter := range list {
					if !letter.Activity {
						count++
					}
				}
				return count, err
			}
		}},
		{"shows a letter for any id", "§6.23 GetDeadLetter", []string{in + "letters_are_listed_counted_and_shown"}, func(c *calls, sound calls) {
			c.GetDeadLetter = func(ctx context.Context, id uint64) (*provider.DeadLetter, error) {
				letter, err := sound.GetDeadLetter(ctx, id)
				if letter == nil {
					letter = &provider.DeadLetter{ID: id}
				}
				return letter, err
			}
		}},
		{"sends nothing again", "§6.23 RequeueDeadLetter: in the queue", []string{
			in + "message_is_sent_again_once", in + "queue_message_is_sent_again_to_the_end_of_its_queue", in + "activity_is_sent_again_with_tag_and_session",
		}, func(c *calls, sound calls) {
			c.RequeueDeadLetter = func(ctx context.Context, id uint64) (bool, error) { return sound.DeleteDeadLetter(ctx, id) }
		}},
		{"deletes a letter that it cannot send", "§6.23 RequeueDeadLetter: ErrCorrupt", []string{in + "letter_that_is_still_undecodable_stays"}, func(c *calls, sound calls) {
			c.RequeueDeadLetter = func(ctx context.Context, id uint64) (bool, error) {
				found, err := sound.RequeueDeadLetter(ctx, id)
				if errors.Is(err, provider.ErrCorrupt) {
					_, _ = sound.DeleteDeadLetter(ctx, id)
				}
				return found, err
			}
		}},
		{"deletes a letter twice", "§6.23 DeleteDeadLetter", []string{in + "letter_is_deleted_once"}, func(c *calls, sound calls) {
			c.DeleteDeadLetter = func(ctx context.Context, id uint64) (bool, error) {
				_, err := sound.DeleteDeadLetter(ctx, id)
				return true, err
			}
		}},
		{"keeps the letters of a deleted instance", "§6.15: the dead letters", []string{in + "letters_of_a_deleted_instance_are_deleted"}, func(c *calls, sound calls) {
			var kept []provider.DeadLetter
			c.DeleteInstance = func(ctx context.Context, instance string, force bool) (provider.DeleteInstanceResult, error) {
				kept, _ = sound.ListDeadLetters(ctx, provider.DeadLetterQuery{InstanceID: instance})
				return sound.DeleteInstance(ctx, instance, force)
			}
			c.ListDeadLetters = func(ctx context.Context, query provider.DeadLetterQuery) ([]provider.DeadLetter, error) {
				list, err := sound.ListDeadLetters(ctx, query)
				return append(kept, list...), err
			}
		}},
	}
}
