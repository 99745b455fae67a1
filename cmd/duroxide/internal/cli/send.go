package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// raisedDocument is what `raise --json` prints.
type raisedDocument struct {
	Instance string `json:"instance"`
	Event    string `json:"event"`
}

// cancelledDocument is what `cancel --json` prints.
type cancelledDocument struct {
	Instance string `json:"instance"`
	Reason   string `json:"reason"`
}

func (a *app) raiseCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "raise ID EVENT [DATA]",
		Short: "Raise an event that an instance waits for",
		Long: `Raise the event EVENT for the instance ID. An orchestration that waits for an event of
that name receives it. If it does not wait for one yet, the event is lost: 'duroxide
history' shows what it waits for and what has arrived. An instance that waits for a
message of a queue of that name is refused: it would never see the event.

DATA is text: a string as it is, anything else as JSON. "-" reads it from the standard
input. Without DATA it is null.`,
		Args: usage(cobra.RangeArgs(2, 3)),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := payloadOf(cmd, args[2:])
			if err != nil {
				return err
			}
			return a.withStore(cmd, false, func(ctx context.Context, s session) error {
				return a.raise(ctx, s, args[0], args[1], data, force)
			})
		},
	}
	forceFlag(cmd, &force)
	return a.onStore(cmd)
}

func (a *app) raise(ctx context.Context, s session, instance, event, data string, force bool) error {
	if err := s.mustListen(ctx, instance, force); err != nil {
		return err
	}
	if err := s.mustNotDequeue(ctx, instance, event); err != nil {
		return err
	}
	if err := client.RaiseEvent(ctx, s.Client, orchestration.NewEvent[string](event), instance, data); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(raisedDocument{instance, event})
	}
	a.screen.Printf("Raised %q for %q.\n", event, instance)
	return nil
}

// mustNotDequeue refuses an event for an instance that waits for a message of a queue of that name, and for no event:
// it would never see the event.
func (s session) mustNotDequeue(ctx context.Context, instance, name string) error {
	events, err := s.store.Read(ctx, instance)
	if err != nil {
		return err
	}
	waits, arrived := map[uint64]bool{}, 0 // the calls that want a message, by event id
	for _, event := range events {
		switch k := event.Kind.(type) {
		case provider.ExternalSubscribed:
			if k.Name == name {
				return nil
			}
		case provider.QueueSubscribed:
			if k.Name == name {
				waits[event.EventID] = true
			}
		case provider.QueueSubscriptionCancelled:
			if event.SourceEventID != nil {
				delete(waits, *event.SourceEventID)
			}
		case provider.QueueEventDelivered:
			if k.Name == name {
				arrived++
			}
		}
	}
	if len(waits) > arrived {
		return fmt.Errorf("instance %q waits for a message of the queue %q, not for an event, and would never see this; "+
			"send a message with client.Enqueue", instance, name)
	}
	return nil
}

func (a *app) cancelCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "cancel ID [REASON]",
		Short: "Ask an instance to end",
		Long: `Ask an instance to end. At its next turn it ends as Cancelled with the error
"canceled: REASON", and so do its sub-orchestrations. An orchestration that has a
clean-up runs it first.`,
		Args: usage(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			reason := "canceled from the command line"
			if len(args) > 1 {
				reason = args[1]
			}
			return a.withStore(cmd, false, func(ctx context.Context, s session) error {
				return a.cancel(ctx, s, args[0], reason, force)
			})
		},
	}
	forceFlag(cmd, &force)
	return a.onStore(cmd)
}

func (a *app) cancel(ctx context.Context, s session, instance, reason string, force bool) error {
	if err := s.mustListen(ctx, instance, force); err != nil {
		return err
	}
	if err := s.Cancel(ctx, instance, reason); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(cancelledDocument{instance, reason})
	}
	a.screen.Printf("Asked %q to end.\n", instance)
	return nil
}

func forceFlag(cmd *cobra.Command, force *bool) {
	cmd.Flags().BoolVar(force, "force", false, "send the message even if there is no such instance")
}

// mustListen refuses an instance that would ignore a message. One that is queued hears
// it after its start. With force there need be none.
func (s session) mustListen(ctx context.Context, instance string, force bool) error {
	use, err := s.store.FindInstance(ctx, instance)
	switch {
	case err != nil:
		return err
	case use == nil && !force:
		return noInstance(instance)
	case use != nil && use.Status.Ended():
		info, err := s.info(ctx, instance)
		if err != nil {
			return err
		}
		return fmt.Errorf("instance %q has ended (%s) and would ignore the message", instance, info.Status)
	}
	return nil
}
