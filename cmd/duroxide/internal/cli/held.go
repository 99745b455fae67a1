package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
	"github.com/duroxide/duroxide-go/provider"
)

// statusHeld is no status of a store, which knows a held instance as running.
const statusHeld = provider.Status("Held")

// heldDocument is what a held instance waits for.
type heldDocument struct {
	Reason string `json:"reason"`
	Since  string `json:"since"`
	// NextTry is null for an instance that goes on as soon as a worker has the code.
	NextTry *string `json:"next_try"`
}

// heldCountDocument counts the instances that are held for the same reason.
type heldCountDocument struct {
	Reason    string `json:"reason"`
	Instances int    `json:"instances"`
	// Since is when the first of them was held.
	Since string `json:"since"`

	moment string
}

// retriedDocument is what `retry --json` prints.
type retriedDocument struct {
	Retried []string `json:"retried"`
}

// held is what an instance waits for, nil if it is not held or the store does not know.
func (s session) held(ctx context.Context, instance string) (*provider.HeldInstance, error) {
	held, err := s.Held(ctx, instance)
	if errors.Is(err, client.ErrManagementNotAvailable) {
		return nil, nil //nolint:nilnil // the store does not know
	}
	return held, err
}

// allHeld lists what is held, those held longest first; nothing if the store does not know.
func (s session) allHeld(ctx context.Context) ([]provider.HeldInstance, error) {
	held, err := s.ListHeld(ctx)
	if errors.Is(err, client.ErrManagementNotAvailable) {
		return nil, nil
	}
	return held, err
}

// heldIDs are the ids of what is held.
func heldIDs(list []provider.HeldInstance) []string {
	ids := make([]string, len(list))
	for i, held := range list {
		ids[i] = held.InstanceID
	}
	return ids
}

// describeHeld is a held instance in JSON.
func describeHeld(held *provider.HeldInstance) *heldDocument {
	document := &heldDocument{Reason: held.Reason, Since: instant(held.Since)}
	if !held.NextTry.IsZero() {
		document.NextTry = new(instant(held.NextTry))
	}
	return document
}

// heldStatusRows are the lines of a held instance.
func heldStatusRows(held *provider.HeldInstance) [][]string {
	since := "since " + moment(held.Since)
	if !held.NextTry.IsZero() {
		since += ", next try " + moment(held.NextTry)
	}
	return [][]string{{"held", since}, {"", held.Reason}}
}

// countHeld counts what is held, by the reason.
func (s session) countHeld(ctx context.Context) (total int, reasons []*heldCountDocument, err error) {
	list, err := s.allHeld(ctx)
	at, reasons := map[string]*heldCountDocument{}, []*heldCountDocument{}
	for _, held := range list {
		document := at[held.Reason]
		if document == nil {
			document = &heldCountDocument{Reason: held.Reason, Since: instant(held.Since), moment: moment(held.Since)}
			at[held.Reason] = document
			reasons = append(reasons, document)
		}
		document.Instances++
	}
	return len(list), reasons, err
}

// heldRows are the lines of a table.
func heldRows(reasons []*heldCountDocument) (rows [][]string) {
	for _, r := range reasons {
		rows = append(rows, []string{"held", fmt.Sprintf("%s since %s: %s", screen.Counted(uint64(r.Instances), "instance"), r.moment, r.Reason)})
	}
	return rows
}

func (a *app) retryCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "retry ID...",
		Short: "Try held instances again at once",
		Long: `Try held instances again at once, for example after a rollback.

An instance is held while no worker has code that fits its history. Workers try it again
by themselves: after a pause of up to a minute by default if the code that they have does
not fit, and at once when the code was missing and a worker has it. 'duroxide list
--status Held' shows the held instances, and 'duroxide status ID' what one waits for.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usageError{cmd, errors.New("which instances? Give their ids, or --all")}
			}
			return a.withStore(cmd, false, func(ctx context.Context, s session) error { return a.retry(ctx, s, args, all) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all held instances")
	return a.onStore(cmd)
}

// retry tries all of them, and then says what went wrong.
func (a *app) retry(ctx context.Context, s session, instances []string, all bool) (err error) {
	if all {
		list, err := s.allHeld(ctx)
		if err != nil {
			return err
		}
		instances = heldIDs(list)
	}
	document := retriedDocument{Retried: []string{}}
	var wrong []error
	for _, instance := range instances {
		err := s.RetryHeld(ctx, instance)
		if all && errors.Is(err, client.ErrNotHeld) {
			continue // it has gone on meanwhile
		}
		if err != nil {
			wrong = append(wrong, retryError(instance, err))
			continue
		}
		document.Retried = append(document.Retried, instance)
	}
	if err := a.printRetried(document, all); err != nil {
		return err
	}
	return errors.Join(wrong...)
}

func (a *app) printRetried(document retriedDocument, all bool) error {
	if a.json {
		return a.printJSON(document)
	}
	if all {
		a.screen.Printf("%s will be tried again.\n", screen.Counted(uint64(len(document.Retried)), "instance"))
		return nil
	}
	for _, instance := range document.Retried {
		a.screen.Printf("%q will be tried again.\n", instance)
	}
	return nil
}

// retryError says what to do about an instance that is not held.
func retryError(instance string, err error) error {
	switch {
	case errors.Is(err, client.ErrNoInstance):
		return noInstance(instance)
	case errors.Is(err, client.ErrEnded):
		return fmt.Errorf("instance %q has ended and cannot be tried again; start a new one", instance)
	case errors.Is(err, client.ErrNotHeld):
		return fmt.Errorf("instance %q is not held, so it needs no retry; 'duroxide status' and 'duroxide history' show what it waits for", instance)
	case errors.Is(err, client.ErrManagementNotAvailable):
		return errors.New("this store does not record which instances are held")
	}
	return err
}
