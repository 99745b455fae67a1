package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/timeline"
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
	// WaitsFor is the code that the instance waits for and no worker has.
	WaitsFor []unknownDocument `json:"waits_for"`
	// DroppedMessages counts what the executions lost at their ends.
	DroppedMessages uint64 `json:"dropped_messages"`
	// Stats are null for an instance that has vanished meanwhile.
	Stats *provider.InstanceStats `json:"stats"`
}

// failureDocument is why an orchestration failed.
type failureDocument struct {
	Category  string `json:"category"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

// historyDocument is what `history --json` prints. The events are in the
// contract's own form.
type historyDocument struct {
	Instance    string           `json:"instance"`
	ExecutionID uint64           `json:"execution_id"`
	Executions  []uint64         `json:"executions"`
	Events      []provider.Event `json:"events"`
}

// listDocument is what `list --json` prints.
type listDocument struct {
	// Total counts what matches, also beyond --limit.
	Total     int                `json:"total"`
	Instances []instanceDocument `json:"instances"`
}

// metricsDocument is what `metrics --json` prints.
type metricsDocument struct {
	Instances struct {
		Total     uint64 `json:"total"`
		Running   uint64 `json:"running"`
		Completed uint64 `json:"completed"`
		Failed    uint64 `json:"failed"`
		// Held are among the running ones.
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
		// These have waited for provider.DefaultUnknownFor.
		UnknownOrchestrations uint64 `json:"unknown_orchestrations"`
		UnknownActivities     uint64 `json:"unknown_activities"`
	} `json:"queues"`
	// Unknown is shown earlier than the queues count it.
	Unknown []unknownDocument    `json:"unknown"`
	Held    []*heldCountDocument `json:"held"`
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
		status, err := w.until(ctx, s, instance)
		if err != nil {
			return err
		}
		if err := a.printStatus(ctx, s, status); err != nil {
			return err
		}
		return status.Err()
	}
	status, err := s.Status(ctx, instance)
	if err != nil {
		return err
	}
	return a.printStatus(ctx, s, status)
}

// printStatus prints an instance with what its latest execution came to.
func (a *app) printStatus(ctx context.Context, s session, status client.Status) error {
	info, err := s.lookUp(ctx, status.Instance)
	if err != nil {
		return err
	}
	stats, err := s.Stats(ctx, status.Instance)
	if err != nil {
		return err
	}
	waitsFor, err := s.waitsFor(ctx, info)
	if err != nil {
		return err
	}
	document := statusDocument{
		instanceDocument: describeInstance(info),
		CustomStatus:     status.CustomStatus, CustomStatusVersion: status.CustomStatusVersion, Stats: stats,
		WaitsFor: waitsFor, DroppedMessages: status.DroppedMessages,
	}
	document.Status = string(status.State)
	held, err := s.held(ctx, info)
	if err != nil {
		return err
	}
	if held != nil {
		document.Status = string(statusHeld)
		document.Held = &heldDocument{held.Reason, instant(held.Since), instant(held.NextTry)}
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
		rows = append(rows, []string{"held", "since " + moment(held.Since) + ", next try " + moment(held.NextTry)}, []string{"", held.Reason})
	}
	rows = append(rows, unknownRows("waits for", document.WaitsFor)...)
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
			rows = append(rows, []string{"carried", counted(s.QueuePendingCount, "message")})
		}
	}
	if document.DroppedMessages > 0 {
		rows = append(rows, []string{"dropped", counted(document.DroppedMessages, "message")})
	}
	printTable(a.screen, rows)
}

// sized says how many there are and how large they are together.
func sized(n uint64, thing string, bytes uint64) string {
	return counted(n, thing) + ", " + counted(bytes, "byte")
}

func counted(n uint64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return decimal(n) + " " + thing + "s"
}

func (a *app) historyCommand() *cobra.Command {
	var execution uint64
	var data bool
	var wanted sampling
	cmd := &cobra.Command{
		Use:   "history ID",
		Short: "Show what an instance has done, event by event",
		Long: `Show what an instance has done, event by event. An instance that continued as new has
several executions, each with its own history; the latest is shown.

Of payloads only the size is shown. --data shows how each begins, and --json prints
all of it.

--into writes histories with their payloads into a folder, one file each: those of the
given ids or, without ids, of a sample, which is the newest instances of each
orchestration, version and status. A test with orchestrationtest.ReplayDir replays them
against the code that you want to deploy. This program cannot do that, because it does
not have your code. Payloads that a codec has encoded stay encoded.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wanted.check(cmd, a.json, args); err != nil {
				return err
			}
			return a.withStore(cmd, false, func(ctx context.Context, s session) error {
				if wanted.folder != "" {
					return a.sample(ctx, s, wanted, args)
				}
				return a.history(ctx, s, args[0], execution, data)
			})
		},
	}
	cmd.Flags().Uint64Var(&execution, "execution", 0, "`number` of the execution to show (default: the latest)")
	cmd.Flags().BoolVar(&data, "data", false, "show how each payload begins")
	cmd.Flags().StringVar(&wanted.folder, "into", "", "write histories as JSON into this `folder`")
	cmd.Flags().IntVar(&wanted.each, "each", 20, "with --into: `number` of instances of each kind in a sample")
	return a.onStore(cmd)
}

func (a *app) history(ctx context.Context, s session, instance string, execution uint64, data bool) error {
	info, err := s.lookUp(ctx, instance)
	if err != nil {
		return err
	}
	executions, err := s.admin.ListExecutions(ctx, instance)
	if err != nil {
		return err
	}
	if execution == 0 {
		execution = info.CurrentExecutionID
	}
	if !slices.Contains(executions, execution) {
		return notFound("instance %q has no execution %d; its executions are %s", instance, execution, numbers(executions))
	}
	events, err := s.admin.ReadHistoryWithExecutionID(ctx, instance, execution)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(historyDocument{instance, execution, executions, events})
	}
	if len(executions) > 1 {
		a.screen.Printf("Execution %d of %s. --execution shows another.\n", execution, numbers(executions))
	}
	timeline.Write(a.screen, events, timeline.Options{Data: data})
	return nil
}

// numbers lists execution ids: 1–3, or 1, 5–7 when some were pruned.
func numbers(ids []uint64) string {
	var parts []string
	for i := 0; i < len(ids); {
		last := i
		for last+1 < len(ids) && ids[last+1] == ids[last]+1 {
			last++
		}
		if last > i {
			parts = append(parts, fmt.Sprintf("%d–%d", ids[i], ids[last]))
		} else {
			parts = append(parts, decimal(ids[i]))
		}
		i = last + 1
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// statuses are those of a store, and shownStatuses what --status accepts.
var (
	statuses      = []provider.Status{provider.StatusRunning, provider.StatusCompleted, provider.StatusFailed, provider.StatusContinuedAsNew}
	shownStatuses = append(slices.Clip(statuses), statusCancelled, statusHeld)
)

// statusCancelled is no status of a store, which knows a cancelled instance as failed.
const statusCancelled = provider.Status(client.Cancelled)

func (a *app) listCommand() *cobra.Command {
	var status string
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List instances, the newest first",
		Args:  usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkList(cmd, status, limit); err != nil {
				return err
			}
			return a.withStore(cmd, false, func(ctx context.Context, s session) error {
				return a.list(ctx, s, status, limit)
			})
		},
	}
	cmd.Flags().StringVar(&status, "status", "", "only instances with this `status`: Running (includes held ones), Held, Completed, Failed (includes cancelled ones), Cancelled or ContinuedAsNew")
	cmd.Flags().IntVar(&limit, "limit", 100, "list at most this `number` of instances, 0 for all")
	return a.onStore(cmd)
}

func checkList(cmd *cobra.Command, status string, limit int) error {
	if status != "" && !slices.Contains(shownStatuses, provider.Status(status)) {
		return usageError{cmd, fmt.Errorf("unknown status %q: it is Running, Held, Completed, Failed, Cancelled or ContinuedAsNew", status)}
	}
	if limit < 0 {
		return usageError{cmd, errors.New("--limit must not be negative")}
	}
	return nil
}

func (a *app) list(ctx context.Context, s session, status string, limit int) error {
	ids, err := s.ids(ctx, provider.Status(status))
	if err != nil {
		return err
	}
	if status == string(statusCancelled) {
		if ids, err = s.cancelled(ctx, ids); err != nil {
			return err
		}
	}
	document := listDocument{Total: len(ids), Instances: []instanceDocument{}}
	rows := [][]string{{"INSTANCE", "ORCHESTRATION", "VERSION", "STATUS", "EXECUTION", "CREATED", "PARENT"}}
	if limit > 0 {
		ids = ids[:min(limit, len(ids))]
	}
	infos, err := s.infos(ctx, ids)
	if err != nil {
		return err
	}
	for _, info := range infos {
		document.Instances = append(document.Instances, describeInstance(info))
		rows = append(rows, []string{
			info.InstanceID, info.OrchestrationName, info.OrchestrationVersion, string(info.Status),
			decimal(info.CurrentExecutionID), moment(info.CreatedAt), text(info.ParentInstanceID),
		})
	}
	if a.json {
		return a.printJSON(document)
	}
	if len(rows) == 1 {
		a.screen.Printf("No instances.\n")
		return nil
	}
	printTable(a.screen, rows)
	if len(ids) < document.Total {
		a.screen.Printf("These are %d of %d; --limit shows more.\n", len(ids), document.Total)
	}
	return nil
}

func (s session) ids(ctx context.Context, status provider.Status) ([]string, error) {
	if status == "" {
		return s.admin.ListInstances(ctx)
	}
	if status == statusHeld {
		return s.heldIDs(ctx)
	}
	if status == statusCancelled {
		status = provider.StatusFailed
	}
	return s.admin.ListInstancesByStatus(ctx, status)
}

// infos are what the store knows of instances, without those that were deleted meanwhile. What is
// held is asked for once, if one of them runs.
func (s session) infos(ctx context.Context, ids []string) ([]provider.InstanceInfo, error) {
	var infos []provider.InstanceInfo
	running := false
	for _, id := range ids {
		info, err := s.info(ctx, id)
		if errors.Is(err, provider.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
		running = running || info.Status == provider.StatusRunning
	}
	if !running {
		return infos, nil
	}
	held, err := s.heldIDs(ctx)
	if err != nil {
		return nil, err
	}
	isHeld := map[string]bool{}
	for _, id := range held {
		isHeld[id] = true
	}
	for i, info := range infos {
		if info.Status == provider.StatusRunning && isHeld[info.InstanceID] {
			infos[i].Status = statusHeld
		}
	}
	return infos, nil
}

// info is what the store knows of an instance, with the status of one that was cancelled.
func (s session) info(ctx context.Context, id string) (provider.InstanceInfo, error) {
	info, err := s.admin.GetInstanceInfo(ctx, id)
	// Any failure may have such a text, so the history decides.
	if err != nil || info.Status != provider.StatusFailed || !strings.HasPrefix(text(info.Output), "canceled: ") {
		return info, err
	}
	status, err := s.Status(ctx, id)
	if status.State == client.Cancelled {
		info.Status = statusCancelled
	}
	return info, err
}

// cancelled are those of some failed instances that were cancelled.
func (s session) cancelled(ctx context.Context, failed []string) ([]string, error) {
	var cancelled []string
	for _, id := range failed {
		info, err := s.info(ctx, id)
		if err != nil && !errors.Is(err, provider.ErrNotFound) {
			return nil, err
		}
		if err == nil && info.Status == statusCancelled {
			cancelled = append(cancelled, id)
		}
	}
	return cancelled, nil
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
	m, err := s.admin.GetSystemMetrics(ctx)
	if err != nil {
		return err
	}
	q, err := s.admin.GetQueueDepths(ctx)
	if err != nil {
		return err
	}
	unknown, err := s.unknownCode(ctx)
	if err != nil {
		return err
	}
	held, reasons, err := s.countHeld(ctx)
	if err != nil {
		return err
	}
	document := metricsDocument{Unknown: unknown, Held: reasons}
	document.Instances.Held = held
	document.Instances.Total, document.Instances.Running = m.TotalInstances, m.RunningInstances
	document.Instances.Completed, document.Instances.Failed = m.CompletedInstances, m.FailedInstances
	document.Executions, document.Events = m.TotalExecutions, m.TotalEvents
	document.Queues.Orchestrator, document.Queues.Worker = q.OrchestratorQueue, q.WorkerQueue
	document.Queues.UnknownOrchestrations, document.Queues.UnknownActivities = q.UnknownOrchestrations, q.UnknownActivities
	if err := s.countMessages(ctx, &document); err != nil {
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
		{"  of nobody", decimal(document.Queues.Orphans)},
		{"timers", decimal(document.Queues.Timers)},
		{"queued activities", decimal(q.WorkerQueue)},
		{"instances that no worker knows", decimal(q.UnknownOrchestrations)},
		{"activities that no worker knows", decimal(q.UnknownActivities)},
	}, append(heldRows(reasons), unknownRows("waiting for", unknown)...)...))
	return nil
}

// countMessages tells timers and messages of nobody apart, if the store can.
func (s session) countMessages(ctx context.Context, document *metricsDocument) error {
	if counter, ok := s.admin.(provider.HiddenCounter); ok {
		hidden, err := counter.CountHiddenMessages(ctx)
		if err != nil {
			return err
		}
		document.Queues.Timers = hidden
		// The two were not counted at the same moment.
		document.Queues.Orchestrator -= min(hidden, document.Queues.Orchestrator)
	}
	if collector, ok := s.admin.(provider.OrphanCollector); ok {
		orphans, err := collector.CountOrphanMessages(ctx, 0)
		if err != nil {
			return err
		}
		document.Queues.Orphans = orphans.Messages
	}
	return nil
}
