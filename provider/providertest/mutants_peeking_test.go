package providertest

import (
	"context"
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// The mutants about queue messages that wait until a turn reads them.
func peekingMutants() []mutant {
	acks := func(change func(q *provider.QueueReads) *provider.QueueReads) func(*calls, calls) {
		return func(c *calls, sound calls) {
			c.AckOrchestrationItem = func(ctx context.Context, params provider.AckOrchestrationParams) error {
				if params.Queues != nil {
					copied := *params.Queues
					params.Queues = change(&copied)
				}
				return sound.AckOrchestrationItem(ctx, params)
			}
		}
	}
	peeks := func(change func(item *provider.OrchestrationItem)) func(*calls, calls) {
		return func(c *calls, sound calls) {
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				got, err := sound.FetchOrchestrationItem(ctx, params)
				if got != nil && got.Item.Peeked {
					change(&got.Item)
				}
				return got, err
			}
		}
	}
	return []mutant{
		{"deletes what a turn was shown and has not read", "§5.28", []string{
			"peeking/what_is_not_read_stays_in_its_place", "peeking/random_turns_follow_a_list",
		}, acks(func(*provider.QueueReads) *provider.QueueReads { return nil })},
		{
			"wakes nobody for a queue that is awaited", "§5.28",
			[]string{"peeking/awaited_queues_wake", "peeking/random_turns_follow_a_list"},
			acks(func(q *provider.QueueReads) *provider.QueueReads { q.Awaited = nil; return q }),
		},
		{
			"wakes for queues that nobody awaits", "§5.28",
			[]string{"peeking/unawaited_queues_wake_nobody"},
			acks(func(q *provider.QueueReads) *provider.QueueReads { q.Awaited = []string{"q", "r"}; return q }),
		},
		{
			"wakes nobody for what a turn sends to a queue", "§5.28",
			[]string{"peeking/messages_that_a_turn_sends_wake"},
			func(c *calls, sound calls) {
				c.AckOrchestrationItem = func(ctx context.Context, params provider.AckOrchestrationParams) error {
					params.OrchestratorItems = slices.DeleteFunc(slices.Clone(params.OrchestratorItems), func(item provider.WorkItem) bool {
						_, queued := item.(provider.QueueMessageItem)
						return queued
					})
					return sound.AckOrchestrationItem(ctx, params)
				}
			},
		},
		{
			"keeps what was read", "§5.28",
			[]string{"peeking/what_is_not_read_stays_in_its_place"},
			acks(func(q *provider.QueueReads) *provider.QueueReads { q.Read = nil; return q }),
		},
		{
			"shows the newest first", "§5.28",
			[]string{"peeking/a_turn_is_shown_the_oldest"},
			peeks(func(item *provider.OrchestrationItem) { slices.Reverse(item.Messages) }),
		},
		{
			"shows nothing of a queue behind a long one", "§5.28",
			[]string{"peeking/a_queue_behind_a_long_one_is_shown"},
			peeks(func(item *provider.OrchestrationItem) {
				item.Messages = slices.DeleteFunc(item.Messages, func(m provider.WorkItem) bool {
					message, ok := m.(provider.QueueMessageItem)
					return ok && message.Name != "q"
				})
			}),
		},
	}
}
