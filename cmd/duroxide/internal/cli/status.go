package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
	"github.com/duroxide/duroxide-go/provider"
)

// instanceDocument is an instance in JSON.
type instanceDocument struct {
	Instance      string  `json:"instance"`
	Orchestration string  `json:"orchestration"`
	Version       string  `json:"version"`
	Status        string  `json:"status"`
	ExecutionID   uint64  `json:"execution_id"`
	Parent        *string `json:"parent_instance"`
	CreatedAt     string  `json:"created_at"`
	UpdatedAt     string  `json:"updated_at"`
}

// statusDocument is what `status --json` and `start --wait --json` print.
type statusDocument struct {
	instanceDocument

	CustomStatus        *string          `json:"custom_status"`
	CustomStatusVersion uint64           `json:"custom_status_version"`
	Output              *string          `json:"output"`
	Failure             *failureDocument `json:"failure"`
	// Held is null unless the status is Held.
	Held *heldDocument `json:"held"`
	// DeadLetters are the instance's messages and activities that could not be decoded.
	DeadLetters []letterDocument `json:"dead_letters"`
	// DroppedMessages counts what the executions lost at their ends.
	DroppedMessages uint64 `json:"dropped_messages"`
	// Stats are null for an instance that has vanished meanwhile, or whose first event cannot be decoded.
	Stats *provider.InstanceStats `json:"stats"`
}

// failureDocument is why an orchestration failed.
type failureDocument struct {
	Category  string `json:"category"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

func describeInstance(info provider.InstanceInfo) instanceDocument {
	return instanceDocument{
		Instance: info.InstanceID, Orchestration: info.OrchestrationName, Version: info.OrchestrationVersion,
		Status: string(info.Status), ExecutionID: info.CurrentExecutionID, Parent: info.ParentInstanceID,
		CreatedAt: instant(info.CreatedAt), UpdatedAt: instant(info.UpdatedAt),
	}
}

func (a *app) statusCommand() *cobra.Command {
	var w waiting
	cmd := &cobra.Command{
		Use:   "status ID",
		Short: "Show the state of an instance, and its result",
		Long: `Show the state of an instance, and its result or failure. With --wait, wait until it
has ended; the exit code is 4 if it failed or was cancelled.`,
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := w.check(cmd); err != nil {
				return err
			}
			return a.withStore(cmd, false, func(ctx context.Context, s session) error {
				return a.status(ctx, s, args[0], w)
			})
		},
	}
	w.flags(cmd, "wait for the end, even if the instance has not begun")
	return a.onStore(cmd)
}

func (a *app) status(ctx context.Context, s session, instance string, w waiting) error {
	if w.wait {
		return a.printEnd(ctx, s, instance, w)
	}
	status, err := s.Status(ctx, instance)
	if held, failed := s.held(ctx, instance); errors.Is(err, provider.ErrCorrupt) && held != nil && failed == nil {
		status, err = client.Status{Instance: instance, State: client.Running}, nil // what cannot be read is why it is held
	}
	if err != nil {
		return err
	}
	return a.printStatus(ctx, s, status)
}

// printEnd waits for an instance to end and prints it. The error is also that of an instance that
// has failed.
func (a *app) printEnd(ctx context.Context, s session, instance string, w waiting) error {
	status, err := w.until(ctx, s, instance)
	if err != nil {
		return err
	}
	if err := a.printStatus(ctx, s, status); err != nil {
		return err
	}
	return status.Err()
}

// printStatus prints an instance with what its latest execution came to.
func (a *app) printStatus(ctx context.Context, s session, status client.Status) error {
	info, err := s.lookUp(ctx, status.Instance)
	if err != nil {
		return err
	}
	stats, err := s.Stats(ctx, status.Instance)
	if err != nil && !errors.Is(err, provider.ErrCorrupt) {
		return err
	}
	letters, err := s.letters(ctx, status.Instance)
	if err != nil {
		return err
	}
	document := statusDocument{
		instanceDocument: describeInstance(info),
		CustomStatus:     status.CustomStatus, CustomStatusVersion: status.CustomStatusVersion, Stats: stats,
		DeadLetters: letters, DroppedMessages: status.DroppedMessages,
	}
	document.Status = string(status.State)
	var held *provider.HeldInstance
	if !info.Status.Ended() {
		if held, err = s.held(ctx, info.InstanceID); err != nil {
			return err
		}
	}
	if held != nil {
		document.Status, document.Held = string(statusHeld), describeHeld(held)
	}
	switch status.State {
	case client.Completed:
		document.Output = &status.Output
	case client.Failed, client.Cancelled:
		document.Failure = &failureDocument{
			status.Failure.Category(), status.Failure.DisplayMessage(), status.Failure.IsRetryable(),
		}
	case client.NotFound, client.Queued, client.Running:
	}
	if a.json {
		return a.printJSON(document)
	}
	a.printStatusTable(document, info, held)
	return nil
}

func (a *app) printStatusTable(document statusDocument, info provider.InstanceInfo, held *provider.HeldInstance) {
	rows := [][]string{
		{"instance", document.Instance},
		{"orchestration", document.Orchestration + " " + document.Version},
		{"status", document.Status},
		{"execution", decimal(document.ExecutionID)},
		{"created", moment(info.CreatedAt)},
		{"updated", moment(info.UpdatedAt)},
	}
	if document.Parent != nil {
		rows = append(rows, []string{"parent", *document.Parent})
	}
	if held != nil {
		rows = append(rows, heldStatusRows(held)...)
	}
	rows = append(rows, letterRows(document.DeadLetters)...)
	if document.CustomStatus != nil {
		rows = append(rows, []string{"custom status", *document.CustomStatus})
	}
	if document.Output != nil {
		rows = append(rows, []string{"output", *document.Output})
	}
	if document.Failure != nil {
		rows = append(rows, []string{"failure", document.Failure.Category}, []string{"", document.Failure.Message})
	}
	if s := document.Stats; s != nil {
		rows = append(rows, []string{"history", sized(s.HistoryEventCount, "event", s.HistorySizeBytes)})
		if s.KVUserKeyCount > 0 {
			rows = append(rows, []string{"keys", sized(s.KVUserKeyCount, "key", s.KVTotalValueBytes)})
		}
		if s.QueuePendingCount > 0 {
			rows = append(rows, []string{"carried", screen.Counted(s.QueuePendingCount, "message")})
		}
	}
	if document.DroppedMessages > 0 {
		rows = append(rows, []string{"dropped", screen.Counted(document.DroppedMessages, "message")})
	}
	printTable(a.screen, rows)
}
