package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
)

// metricsDocument is what `metrics --json` prints.
type metricsDocument struct {
	Instances struct {
		Total     uint64 `json:"total"`
		Running   uint64 `json:"running"`
		Completed uint64 `json:"completed"`
		Failed    uint64 `json:"failed"`
		// Held are among the running ones, or have not begun.
		Held int `json:"held"`
	} `json:"instances"`
	Executions uint64 `json:"executions"`
	Events     uint64 `json:"events"`
	Queues     struct {
		// Orchestrator counts visible messages, Timers those that are not visible yet.
		// Orphans are the messages for instances that never began.
		Orchestrator uint64 `json:"orchestrator"`
		Timers       uint64 `json:"timers"`
		Orphans      uint64 `json:"orphans"`
		Worker       uint64 `json:"worker"`
		// These wait for code that no worker has had for provider.LiveFor, or whose tag no worker takes.
		UnknownOrchestrations uint64 `json:"unknown_orchestrations"`
		UnknownActivities     uint64 `json:"unknown_activities"`
		// DeadLetters are in no queue any more.
		DeadLetters uint64 `json:"dead_letters"`
	} `json:"queues"`
	Held []*heldCountDocument `json:"held"`
}

func (a *app) metricsCommand() *cobra.Command {
	return a.onStore(&cobra.Command{
		Use:   "metrics",
		Short: "Count what a store holds",
		Args:  usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStore(cmd, false, a.metrics)
		},
	})
}

func (a *app) metrics(ctx context.Context, s session) error {
	m, err := s.store.GetSystemMetrics(ctx)
	if err != nil {
		return err
	}
	q, err := s.store.GetQueueDepths(ctx)
	if err != nil {
		return err
	}
	held, reasons, err := s.countHeld(ctx)
	if err != nil {
		return err
	}
	document := metricsDocument{Held: reasons}
	document.Instances.Held = held
	document.Instances.Total, document.Instances.Running = m.TotalInstances, m.RunningInstances
	document.Instances.Completed, document.Instances.Failed = m.CompletedInstances, m.FailedInstances
	document.Executions, document.Events = m.TotalExecutions, m.TotalEvents
	document.Queues.Orchestrator, document.Queues.Worker = q.OrchestratorQueue, q.WorkerQueue
	document.Queues.UnknownOrchestrations, document.Queues.UnknownActivities = q.UnknownOrchestrations, q.UnknownActivities
	if err := s.countMessages(ctx, &document); err != nil {
		return err
	}
	if document.Queues.DeadLetters, err = s.store.CountDeadLetters(ctx); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(document)
	}
	printTable(a.screen, append([][]string{
		{"instances", decimal(m.TotalInstances)},
		{"  running", decimal(m.RunningInstances)},
		{"    held", strconv.Itoa(held)},
		{"  completed", decimal(m.CompletedInstances)},
		{"  failed", decimal(m.FailedInstances)},
		{"executions", decimal(m.TotalExecutions)},
		{"events", decimal(m.TotalEvents)},
		{"queued messages", decimal(document.Queues.Orchestrator)},
		{"  orphaned", decimal(document.Queues.Orphans)},
		{"timers", decimal(document.Queues.Timers)},
		{"queued activities", decimal(q.WorkerQueue)},
		{"dead letters", decimal(document.Queues.DeadLetters)},
		{"instances whose code no worker has", decimal(q.UnknownOrchestrations)},
		{"activities that no worker takes", decimal(q.UnknownActivities)},
	}, heldRows(reasons)...))
	return nil
}

// countMessages tells timers and orphaned messages apart.
func (s session) countMessages(ctx context.Context, document *metricsDocument) error {
	hidden, err := s.store.CountHiddenMessages(ctx)
	if err != nil {
		return err
	}
	document.Queues.Timers = hidden
	// The two were not counted at the same moment.
	document.Queues.Orchestrator -= min(hidden, document.Queues.Orchestrator)
	orphans, err := s.store.CountOrphanMessages(ctx, 0)
	document.Queues.Orphans = orphans.Messages
	return err
}
