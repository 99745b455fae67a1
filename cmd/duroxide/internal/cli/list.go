package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/provider"
)

// listDocument is what `list --json` prints.
type listDocument struct {
	// Total counts what matches, also beyond --limit.
	Total     int                `json:"total"`
	Instances []instanceDocument `json:"instances"`
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
		Short: "List instances, the latest first",
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
	held, err := s.allHeld(ctx)
	if err != nil {
		return err
	}
	ids, total, err := s.ids(ctx, provider.Status(status), held, limit)
	if err != nil {
		return err
	}
	document := listDocument{Total: total, Instances: []instanceDocument{}}
	rows := [][]string{{"INSTANCE", "ORCHESTRATION", "VERSION", "STATUS", "EXECUTION", "CREATED", "PARENT"}}
	if limit > 0 {
		ids = ids[:min(limit, len(ids))]
	}
	infos, err := s.infos(ctx, ids, held)
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

// ids are at least limit of those with a status, if there are so many, and how many there are; without a status, those
// that are held before their begin come first.
func (s session) ids(ctx context.Context, status provider.Status, held []provider.HeldInstance, limit int) ([]string, int, error) {
	switch status {
	case statusHeld:
		ids := heldIDs(held)
		return ids, len(ids), nil
	case statusCancelled:
		failed, err := s.store.ListInstancesByStatus(ctx, provider.StatusFailed)
		if err != nil {
			return nil, 0, err
		}
		ids, err := s.cancelled(ctx, failed)
		return ids, len(ids), err
	case provider.StatusContinuedAsNew:
		ids, err := s.store.ListInstancesByStatus(ctx, status)
		return ids, len(ids), err
	default: // the others are read by pages
	}
	metrics, err := s.store.GetSystemMetrics(ctx)
	if err != nil {
		return nil, 0, err
	}
	total := map[provider.Status]uint64{
		"": metrics.TotalInstances, provider.StatusRunning: metrics.RunningInstances,
		provider.StatusCompleted: metrics.CompletedInstances, provider.StatusFailed: metrics.FailedInstances,
	}[status]
	var queued []string
	if status == "" {
		if queued, err = s.notBegun(ctx, held); err != nil {
			return nil, 0, err
		}
	}
	ids, err := s.latest(ctx, status, limit)
	// What is counted and what is listed may differ by what is committed meanwhile.
	return append(queued, ids...), len(queued) + max(len(ids), int(total)), err
}

// notBegun are the held instances that have not had a turn.
func (s session) notBegun(ctx context.Context, held []provider.HeldInstance) (ids []string, err error) {
	for _, id := range heldIDs(held) {
		_, err := s.store.GetInstanceInfo(ctx, id)
		if errors.Is(err, provider.ErrNotFound) {
			ids = append(ids, id)
		} else if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// latest reads pages until they have so many instances; 0 reads all. An instance that ends meanwhile may be on two
// pages.
func (s session) latest(ctx context.Context, status provider.Status, limit int) ([]string, error) {
	query := provider.PageQuery{Latest: true, Status: status}
	if limit > 0 {
		query.Limit = uint32(min(limit, provider.DefaultBulkLimit))
	}
	var ids []string
	seen := map[string]bool{}
	for {
		page, err := s.store.ListInstancePage(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, id := range page.InstanceIDs {
			if !seen[id] {
				seen[id], ids = true, append(ids, id)
			}
		}
		if query.After = page.Next; page.Next == "" || limit > 0 && len(ids) >= limit {
			return ids, nil
		}
	}
}

// infos are what the store knows of instances, without those that were deleted meanwhile.
func (s session) infos(ctx context.Context, ids []string, held []provider.HeldInstance) ([]provider.InstanceInfo, error) {
	since := map[string]time.Time{}
	for _, h := range held {
		since[h.InstanceID] = h.Since
	}
	var infos []provider.InstanceInfo
	for _, id := range ids {
		at, isHeld := since[id]
		info, err := s.info(ctx, id)
		if errors.Is(err, provider.ErrNotFound) && isHeld {
			info, err = s.queued(ctx, id, at)
		}
		if errors.Is(err, provider.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if isHeld && !info.Status.Ended() {
			info.Status = statusHeld
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// queued is what is known of an instance that has not begun.
func (s session) queued(ctx context.Context, id string, since time.Time) (provider.InstanceInfo, error) {
	use, err := s.store.FindInstance(ctx, id)
	if use == nil && err == nil {
		err = provider.ErrNotFound
	}
	if err != nil {
		return provider.InstanceInfo{}, err
	}
	return provider.InstanceInfo{InstanceID: id, OrchestrationName: use.Name, Status: statusHeld, CreatedAt: since, UpdatedAt: since}, nil
}

// info is what the store knows of an instance, with the status of one that was cancelled.
func (s session) info(ctx context.Context, id string) (provider.InstanceInfo, error) {
	info, err := s.store.GetInstanceInfo(ctx, id)
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
