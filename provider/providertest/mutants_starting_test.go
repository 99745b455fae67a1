package providertest

import (
	"context"
	"sync/atomic"

	"github.com/duroxide/duroxide-go/provider"
)

// startingMutants are about who uses an instance id, and starts with messages.
func startingMutants() []mutant {
	const in = "starting/"
	return []mutant{
		{"starts an id that is used", "§5.22 StartInstance", []string{in + "start_of_a_used_id_changes_nothing"}, func(c *calls, sound calls) {
			c.StartInstance = func(ctx context.Context, start provider.StartOrchestrationItem) (*provider.IDUse, error) {
				use, err := sound.StartInstance(ctx, start)
				if err == nil && use != nil {
					err = sound.EnqueueForOrchestrator(ctx, start, 0)
				}
				return use, err
			}
		}},
		{"looks before it starts", "§5.22 StartInstance", []string{in + "one_of_many_starts_is_enqueued"}, func(c *calls, sound calls) {
			var asked atomic.Int64
			both := make(chan struct{})
			c.StartInstance = func(ctx context.Context, start provider.StartOrchestrationItem) (*provider.IDUse, error) {
				if use, err := sound.FindInstance(ctx, start.Instance); err != nil || use != nil {
					return use, err
				}
				// Another asks in between.
				if asked.Add(1) == 2 {
					close(both)
				}
				select {
				case <-both:
				case <-ctx.Done():
				}
				return nil, sound.EnqueueForOrchestrator(ctx, start, 0)
			}
		}},
		{"does not see starts that wait", "§5.22", []string{
			in + "start_of_a_used_id_changes_nothing", in + "id_is_used_by_instances_and_starts_alone",
		}, func(c *calls, sound calls) {
			begun := func(use *provider.IDUse, err error) (*provider.IDUse, error) {
				if use != nil && !use.Begun() {
					return nil, err
				}
				return use, err
			}
			c.FindInstance = func(ctx context.Context, instance string) (*provider.IDUse, error) {
				return begun(sound.FindInstance(ctx, instance))
			}
			c.StartInstance = func(ctx context.Context, start provider.StartOrchestrationItem) (*provider.IDUse, error) {
				return begun(sound.StartInstance(ctx, start))
			}
		}},
		{"sends messages to whoever uses the id", "§5.22 StartInstanceWith: if the id is used", []string{in + "messages_for_who_uses_the_id"}, func(c *calls, sound calls) {
			c.StartInstanceWith = func(
				ctx context.Context, start provider.StartOrchestrationItem, messages []provider.WorkItem, _ bool,
			) (*provider.IDUse, error) {
				return sound.StartInstanceWith(ctx, start, messages, true)
			}
		}},
		{"sends no messages to who uses the id", "§5.1: nil may be returned only when", []string{in + "messages_for_who_uses_the_id"}, func(c *calls, sound calls) {
			c.StartInstanceWith = func(
				ctx context.Context, start provider.StartOrchestrationItem, messages []provider.WorkItem, _ bool,
			) (*provider.IDUse, error) {
				return sound.StartInstanceWith(ctx, start, messages, false)
			}
		}},
		{"starts and then sends", "§5.22 StartInstanceWith", []string{in + "bad_message_starts_nothing"}, func(c *calls, sound calls) {
			c.StartInstanceWith = func(
				ctx context.Context, start provider.StartOrchestrationItem, messages []provider.WorkItem, toUser bool,
			) (*provider.IDUse, error) {
				use, err := sound.StartInstance(ctx, start)
				for i := 0; i < len(messages) && err == nil && (use == nil || toUser); i++ {
					err = sound.EnqueueForOrchestrator(ctx, messages[i], 0)
				}
				return use, err
			}
		}},
		{"sends before it starts", "§5.22 StartInstanceWith", []string{in + "messages_come_with_the_start"}, func(c *calls, sound calls) {
			c.StartInstanceWith = func(
				ctx context.Context, start provider.StartOrchestrationItem, messages []provider.WorkItem, _ bool,
			) (*provider.IDUse, error) {
				for _, message := range messages {
					if err := sound.EnqueueForOrchestrator(ctx, message, 0); err != nil {
						return nil, err
					}
				}
				return sound.StartInstance(ctx, start)
			}
		}},
	}
}
