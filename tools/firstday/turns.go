package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

const (
	// lease is longer than anything here takes.
	lease = 10 * time.Minute
	// payload is a text of 300 characters, which is what the costs of documents are about.
	payloadLength = 300
	// order is the name of the orchestrations that are written here turn by turn, as a worker would.
	order = "Order"
)

var payload = strings.Repeat("x", payloadLength)

func start(instance string) provider.StartOrchestrationItem {
	return provider.StartOrchestrationItem{Instance: instance, Orchestration: order, Input: payload, ExecutionID: 1}
}

// turn is the acknowledgement of a turn with these events.
func turn(fetched *provider.FetchedOrchestration, status provider.Status, first int, kinds ...provider.EventKind) provider.AckOrchestrationParams {
	name, version, output := order, "1.0.0", payload
	params := provider.AckOrchestrationParams{
		LockToken: fetched.LockToken, ExecutionID: 1,
		Metadata: provider.ExecutionMetadata{OrchestrationName: &name, OrchestrationVersion: &version, Status: &status},
	}
	if status == provider.StatusCompleted {
		params.Metadata.Output, params.DropTimers = &output, true
	}
	for i, kind := range kinds {
		params.HistoryDelta = append(params.HistoryDelta, provider.Event{
			EventID: uint64(first + i), InstanceID: fetched.Item.Instance, ExecutionID: 1, DuroxideVersion: provider.FrameworkVersion, Kind: kind,
		})
	}
	return params
}

var fetchTurn = provider.FetchOrchestrationParams{LockTimeout: lease}

// take fetches the turn of an instance that has to be ready.
func (s *session) take(ctx context.Context) (*provider.FetchedOrchestration, error) {
	fetched, err := s.store.FetchOrchestrationItem(ctx, fetchTurn)
	if err == nil && fetched == nil {
		err = errors.New("no instance is ready")
	}
	return fetched, err
}

// drain ends every instance that is ready, in one turn each.
func (s *session) drain(ctx context.Context) error {
	fetched, err := s.store.FetchOrchestrationItem(ctx, fetchTurn)
	for fetched != nil && err == nil {
		var claimed provider.Claimed
		claimed, err = s.store.AckTurnAndClaim(ctx, turn(fetched, provider.StatusCompleted, len(fetched.Item.History)+1,
			provider.OrchestrationStarted{Name: order, Version: "1.0.0", Input: payload}, provider.OrchestrationCompleted{Output: payload}),
			provider.ClaimParams{Turn: &fetchTurn})
		err = errors.Join(err, claimed.Err)
		fetched = claimed.Turn
	}
	return err
}

// five runs an orchestration of five activities, as a worker does, and measures each step.
func (s *session) five(ctx context.Context, instance string) (costs []cost, err error) {
	var claimed provider.Claimed
	var fetched *provider.FetchedOrchestration
	wanted := make([]provider.FetchWorkParams, 5)
	for i := range wanted {
		wanted[i].LockTimeout = lease
	}
	steps := []struct {
		what string
		call func() error
	}{
		{"start", func() error {
			_, err := s.store.StartInstance(ctx, start(instance))
			return err
		}},
		{"claim", func() error { fetched, err = s.take(ctx); return err }},
		{"commit the turn, claim five activities", func() (err error) {
			claimed, err = s.store.AckTurnAndClaim(ctx, schedule(fetched, len(wanted)), provider.ClaimParams{Work: wanted})
			return allClaimed(err, claimed, len(wanted))
		}},
		{"end five activities, claim the turn", func() (err error) {
			refused, next, err := s.store.AckWorkAndClaim(ctx, ends(claimed), provider.ClaimParams{Turn: &fetchTurn})
			if err = errors.Join(append(refused, err, next.Err)...); err == nil && next.Turn == nil {
				err = errors.New("the instance is not ready")
			}
			fetched = next.Turn
			return err
		}},
		{"commit the last turn, claim nothing", func() error {
			kinds := make([]provider.EventKind, 0, len(wanted)+1)
			for range wanted {
				kinds = append(kinds, provider.ActivityCompleted{Result: payload})
			}
			ack := turn(fetched, provider.StatusCompleted, len(wanted)+2, append(kinds, provider.OrchestrationCompleted{Output: payload})...)
			next, err := s.store.AckTurnAndClaim(ctx, ack, provider.ClaimParams{Turn: &fetchTurn, Work: wanted})
			return errors.Join(err, next.Err)
		}},
	}
	for _, step := range steps {
		c, err := s.step(ctx, step.what, step.call)
		if err != nil {
			return nil, err
		}
		costs = append(costs, c)
	}
	return costs, nil
}

// schedule is a first turn that calls so many activities.
func schedule(fetched *provider.FetchedOrchestration, activities int) provider.AckOrchestrationParams {
	kinds := []provider.EventKind{provider.OrchestrationStarted{Name: order, Version: "1.0.0", Input: payload}}
	var items []provider.WorkItem
	for i := range activities {
		kinds = append(kinds, provider.ActivityScheduled{Name: "Charge", Input: payload})
		items = append(items, provider.ActivityExecuteItem{Instance: fetched.Item.Instance, ExecutionID: 1, ID: uint64(i + 2), Name: "Charge", Input: payload})
	}
	ack := turn(fetched, provider.StatusRunning, 1, kinds...)
	ack.WorkerItems = items
	return ack
}

// ends are the acknowledgements of activities.
func ends(claimed provider.Claimed) (acks []provider.WorkAck) {
	for _, work := range claimed.Work {
		if item, ok := work.Item.(provider.ActivityExecuteItem); ok {
			acks = append(acks, provider.WorkAck{LockToken: work.LockToken, Completion: provider.ActivityCompletedItem{
				Instance: item.Instance, ExecutionID: item.ExecutionID, ID: item.ID, Result: payload,
			}})
		}
	}
	return acks
}

// allClaimed is an error if not all activities were claimed.
func allClaimed(err error, claimed provider.Claimed, want int) error {
	if err = errors.Join(err, claimed.Err); err == nil && len(claimed.Work) != want {
		err = fmt.Errorf("%d activities were claimed, want %d", len(claimed.Work), want)
	}
	return err
}
