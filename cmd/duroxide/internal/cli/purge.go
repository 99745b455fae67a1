package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
	"github.com/duroxide/duroxide-go/provider"
)

// purgeDocument is what `purge --json` prints.
type purgeDocument struct {
	// Before is the moment before which an instance must have ended.
	Before string `json:"before"`
	// Complete is false when the time budget was used up first.
	Complete bool `json:"complete"`
	// What was deleted.
	Instances     uint64 `json:"instances"`
	Executions    uint64 `json:"executions"`
	Events        uint64 `json:"events"`
	QueueMessages uint64 `json:"queue_messages"`
	// OrphanMessages were for instances that never began.
	OrphanMessages uint64 `json:"orphan_messages"`
}

// dryRunDocument is what `purge --dry-run --json` prints: what a purge would delete now.
type dryRunDocument struct {
	Before         string `json:"before"`
	Instances      uint64 `json:"instances"`
	OrphanMessages uint64 `json:"orphan_messages"`
}

// purgeFlags are the flags of purge.
type purgeFlags struct {
	olderThan  age
	given      bool
	budget     time.Duration
	batch      int
	executions bool
	orphans    age
	yes        bool
	dryRun     bool
}

// orphansStay is how long messages for instances that never began stay by default.
const orphansStay = 7 * 24 * time.Hour

func (a *app) purgeCommand() *cobra.Command {
	f := purgeFlags{orphans: age(orphansStay)}
	cmd := &cobra.Command{
		Use:   "purge --older-than AGE",
		Short: "Delete instances that ended long ago",
		Long: `Delete instances that ended long ago, with their histories and all their
sub-orchestrations. Running instances stay, and so do finished sub-orchestrations of
a parent that runs.

One transaction deletes at most 50 of them. Workers keep running meanwhile, and an
interrupted purge is finished by starting it again. With --budget the purge stops by
itself: --budget 10m every night keeps up with a busy store without a long pause.

With --executions, old executions of instances that stay are deleted as well. Without
it, an orchestration that continues as new for ever keeps all of its executions. The
current execution always stays.

Messages for instances that never began will never be read. They are deleted once they
are older than --orphans-older-than.

What is deleted cannot be brought back. On a terminal purge asks first. Elsewhere it
needs --yes. --dry-run counts what would be deleted, and deletes nothing.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.given = cmd.Flags().Changed("older-than")
			if err := f.check(); err != nil {
				return usageError{cmd, err}
			}
			return a.withStore(cmd, false, func(ctx context.Context, s session) error {
				return a.purge(ctx, cmd, s, f)
			})
		},
	}
	cmd.Flags().Var(&f.olderThan, "older-than", "delete instances that ended longer ago than this `age`, such as 30d or 12h; required")
	cmd.Flags().DurationVar(&f.budget, "budget", 0, "stop after this `duration` (default: when everything is deleted)")
	cmd.Flags().IntVar(&f.batch, "batch", 100, "`number` of instances in a batch; --budget is checked between batches")
	cmd.Flags().BoolVar(&f.executions, "executions", false, "also delete old executions of instances that stay")
	cmd.Flags().Var(&f.orphans, "orphans-older-than", "delete messages for instances that never began when they are older than this `age`")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "delete without asking; required without a terminal")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "count what would be deleted, and delete nothing")
	cmd.GroupID = operateGroup
	return a.storeFlags(cmd)
}

func (f *purgeFlags) check() error {
	switch {
	case !f.given:
		return errors.New("which instances? Give an age, such as --older-than 30d")
	case f.budget < 0:
		return errors.New("--budget must not be negative")
	case f.batch < 1 || f.batch > provider.DefaultBulkLimit:
		return fmt.Errorf("--batch must be from 1 to %d", provider.DefaultBulkLimit)
	case f.dryRun && (f.executions || f.budget > 0):
		return errors.New("--dry-run counts all instances, and no executions of those that stay; leave out --executions and --budget")
	}
	return nil
}

// age is a duration that may be given in days.
type age time.Duration

// Set implements pflag's Value.
func (a *age) Set(text string) error {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		d, err = inDays(days)
	}
	if err != nil || d < 0 {
		return fmt.Errorf("give an age such as 30d, 12h or 90m, of at most %d days", maxDays)
	}
	*a = age(d)
	return nil
}

// maxDays is the longest age in whole days: 292 years.
const maxDays = int64(math.MaxInt64 / (24 * time.Hour))

// inDays reads a number of days, which may have a fraction. What does not fit is refused
// here, because each machine converts it in its own way, and one of them to 0: then
// everything would be old enough to be deleted.
func inDays(number string) (time.Duration, error) {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, err
	}
	if math.IsNaN(n) || n < 0 || n > float64(maxDays) {
		return 0, fmt.Errorf("%g days are no age", n)
	}
	return time.Duration(n * 24 * float64(time.Hour)), nil
}

// String implements pflag's Value.
func (a *age) String() string {
	if *a == 0 {
		return ""
	}
	return time.Duration(*a).String()
}

// Type implements pflag's Value.
func (*age) Type() string { return "age" }

func (a *app) purge(ctx context.Context, cmd *cobra.Command, s session, f purgeFlags) error {
	p := purge{session: s, flags: f, before: time.Now().Add(-time.Duration(f.olderThan))}
	if f.dryRun {
		return a.dryRun(ctx, p)
	}
	if err := a.confirmPurge(cmd, p); err != nil {
		return err
	}
	if f.budget > 0 {
		p.until = time.Now().Add(f.budget)
	}
	if !a.json {
		p.screen = a.screen
	}
	err := p.run(ctx)
	p.result.Before, p.result.Complete = instant(p.before), !p.stopped && err == nil
	switch {
	case a.json && err == nil:
		return a.printJSON(p.result)
	case a.json:
		return err
	}
	a.printPurge(p.result)
	if p.stopped {
		a.screen.Printf("The budget of %v was used up before everything was deleted. Run the same command again to continue.\n", f.budget)
	}
	return err
}

// confirmPurge asks on a terminal, and refuses elsewhere, unless --yes is given.
func (a *app) confirmPurge(cmd *cobra.Command, p purge) error {
	if p.flags.yes {
		return nil
	}
	if a.json || !screen.IsTerminal(a.env.Stdin) || !screen.IsTerminal(a.env.Stdout) {
		return usageError{cmd, fmt.Errorf("this deletes what ended before %s for ever; to do it, add --yes, or --dry-run to see how much it is",
			instant(p.before))}
	}
	a.screen.Printf("Delete what ended before %s for ever? [y/N] ", instant(p.before))
	answer, err := bufio.NewReader(a.env.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return errors.New("nothing was deleted")
	}
	return nil
}

// dryRun prints what the purge would delete.
func (a *app) dryRun(ctx context.Context, p purge) error {
	d := dryRunDocument{Before: instant(p.before)}
	orphans, err := p.store.CountOrphanMessages(ctx, time.Duration(p.flags.orphans))
	if err != nil {
		return err
	}
	d.OrphanMessages = orphans.Messages
	err = p.inPages(ctx, "finished instances", &p.before, func(ctx context.Context, ids []string) error {
		n, err := p.countTrees(ctx, ids)
		d.Instances += n
		return err
	})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(d)
	}
	printTable(a.screen, [][]string{
		{"ended before", d.Before},
		{"instances to delete", decimal(d.Instances)},
		{"orphaned messages to delete", decimal(d.OrphanMessages)},
	})
	return nil
}

// printPurge prints what was deleted, also by a purge that failed later.
func (a *app) printPurge(d purgeDocument) {
	printTable(a.screen, [][]string{
		{"ended before", d.Before},
		{"instances deleted", decimal(d.Instances)},
		{"executions deleted", decimal(d.Executions)},
		{"events deleted", decimal(d.Events)},
		{"queued messages deleted", decimal(d.QueueMessages)},
		{"orphaned messages deleted", decimal(d.OrphanMessages)},
	})
}

// purge is one run of the command.
type purge struct {
	session

	flags  purgeFlags
	before time.Time
	// until is the end of the budget, zero for none; stopped says that it came first.
	until   time.Time
	stopped bool
	// screen is nil when nobody looks.
	screen *screen.Screen
	result purgeDocument
}

func (p *purge) run(ctx context.Context) error {
	if err := p.deleteOrphans(ctx); err != nil {
		return err
	}
	// They are named one by one to the store, because left to choose it would also take instances
	// that are between two executions (contract §6.17).
	err := p.inPages(ctx, "finished instances", &p.before, p.deleteInstances)
	if err != nil || p.stopped || !p.flags.executions {
		return err
	}
	return p.inPages(ctx, "instances that stay", nil, p.pruneExecutions)
}

// deleteOrphans deletes messages for instances that never began.
func (p *purge) deleteOrphans(ctx context.Context) error {
	deleted, err := p.store.DeleteOrphanMessages(ctx, time.Duration(p.flags.orphans))
	p.result.OrphanMessages = deleted.Messages
	return err
}

// inPages calls do for a batch of the instances after the other, until the time is up: of all, or
// of those that ended before a time. Only a page of ids is kept in memory. A batch that has begun is
// ended, and one is done in any case, so that even the smallest budget gets somewhere.
func (p *purge) inPages(ctx context.Context, what string, before *time.Time, do func(ctx context.Context, ids []string) error) error {
	show := func(int) {}
	if p.screen != nil {
		counter := p.screen.Counter(what)
		defer counter.Stop()
		show = counter.Set
	}
	query, done := provider.PageQuery{EndedBefore: before}, 0
	for {
		page, err := p.store.ListInstancePage(ctx, query)
		if err != nil {
			return err
		}
		for batch := range slices.Chunk(page.InstanceIDs, p.flags.batch) {
			if p.timeIsUp(done) {
				return nil
			}
			if err := do(ctx, batch); err != nil {
				return err
			}
			done += len(batch)
			show(done)
		}
		if page.Next == "" || p.timeIsUp(done) {
			return nil
		}
		query.After = page.Next
	}
}

// timeIsUp notes that there is more, if the time is up and something was done.
func (p *purge) timeIsUp(done int) bool {
	p.stopped = done > 0 && !p.until.IsZero() && !time.Now().Before(p.until)
	return p.stopped
}

func (p *purge) deleteInstances(ctx context.Context, ids []string) error {
	r, err := p.store.DeleteInstanceBulk(ctx, provider.InstanceFilter{InstanceIDs: ids, CompletedBefore: &p.before})
	p.result.Instances += r.InstancesDeleted
	p.result.Executions += r.ExecutionsDeleted
	p.result.Events += r.EventsDeleted
	p.result.QueueMessages += r.QueueMessagesDeleted
	return err
}

// countTrees counts the instances that a deletion of these would delete: the trees of the roots among them.
func (p *purge) countTrees(ctx context.Context, ids []string) (n uint64, err error) {
	for _, id := range ids {
		parent, err := p.store.GetParentID(ctx, id)
		if errors.Is(err, provider.ErrNotFound) || parent != nil {
			continue // deleted meanwhile, or deleted with its root
		}
		if err != nil {
			return n, err
		}
		tree, err := p.store.GetInstanceTree(ctx, id)
		if err != nil && !errors.Is(err, provider.ErrNotFound) {
			return n, err
		}
		n += uint64(tree.Size())
	}
	return n, nil
}

func (p *purge) pruneExecutions(ctx context.Context, ids []string) error {
	r, err := p.store.PruneExecutionsBulk(ctx, provider.InstanceFilter{InstanceIDs: ids}, provider.PruneOptions{CompletedBefore: &p.before})
	p.result.Executions += r.ExecutionsDeleted
	p.result.Events += r.EventsDeleted
	return err
}
