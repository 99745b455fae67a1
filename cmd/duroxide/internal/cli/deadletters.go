package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/provider"
)

// letterDocument is a dead letter in JSON.
type letterDocument struct {
	ID       uint64 `json:"id"`
	Instance string `json:"instance"`
	// Activity is false for a message to the instance.
	Activity   bool   `json:"activity"`
	Kind       string `json:"kind"`
	Reason     string `json:"reason"`
	SetAsideAt string `json:"set_aside_at"`

	moment string
}

// lettersDocument is what `dead-letters --json` prints.
type lettersDocument struct {
	Letters []letterDocument `json:"letters"`
}

// shownLetterDocument is what `dead-letters show --json` prints.
type shownLetterDocument struct {
	letterDocument

	Text string `json:"text"`
}

// handledLettersDocument is what `dead-letters send --json` and `dead-letters delete --json` print.
type handledLettersDocument struct {
	Letters []uint64 `json:"letters"`
}

func describeLetter(letter provider.DeadLetter) letterDocument {
	return letterDocument{
		ID: letter.ID, Instance: letter.InstanceID, Activity: letter.Activity, Kind: letter.Kind, Reason: letter.Reason,
		SetAsideAt: instant(letter.SetAsideAt), moment: moment(letter.SetAsideAt),
	}
}

// what says of which kind a letter is, as tables show it.
func (d letterDocument) what() string {
	if d.Activity {
		return "activity " + d.Kind
	}
	return "message " + d.Kind
}

// letters lists the first dead letters of an instance, or of all if it is empty.
func (s session) letters(ctx context.Context, instance string) ([]letterDocument, error) {
	documents := []letterDocument{}
	list, err := s.store.ListDeadLetters(ctx, provider.DeadLetterQuery{InstanceID: instance})
	for _, letter := range list {
		documents = append(documents, describeLetter(letter))
	}
	return documents, err
}

// letterRows are the lines of a table about the letters of one instance.
func letterRows(letters []letterDocument) (rows [][]string) {
	const most = 3
	for _, letter := range letters[:min(len(letters), most)] {
		rows = append(rows, []string{"set aside", fmt.Sprintf("letter %d, %s, at %s: %s", letter.ID, letter.what(), letter.moment, letter.Reason)})
	}
	if len(letters) > most {
		rows = append(rows, []string{"", fmt.Sprintf("and %d more", len(letters)-most)})
	}
	if len(letters) > 0 {
		rows = append(rows, []string{"", "'duroxide dead-letters' shows them, sends them again or deletes them"})
	}
	return rows
}

func (a *app) deadLettersCommand() *cobra.Command {
	var instance string
	cmd := &cobra.Command{
		Use:   "dead-letters",
		Short: "List what could not be decoded; show, send again, or delete it",
		Long: `List what could not be decoded, those set aside first first. A store sets aside messages
and activities that it cannot decode, because a newer release wrote them, as after a
rollback, or because somebody has damaged them. The instance waits for them until they
are sent again. One list has at most 1000.

Exit code 3: there is no such letter.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStore(cmd, false, func(ctx context.Context, s session) error { return a.listLetters(ctx, s, instance) })
		},
	}
	cmd.Flags().StringVar(&instance, "instance", "", "only those of the instance `ID`")
	show := &cobra.Command{
		Use:   "show LETTER",
		Short: "Show a dead letter with its text, payloads included",
		Args:  usage(cobra.ExactArgs(1)),
	}
	show.RunE = a.onLetters(func(ctx context.Context, s session, ids []uint64) error {
		return a.showLetter(ctx, s.store, ids[0])
	})
	send := &cobra.Command{
		Use:   "send LETTER...",
		Short: "Send dead letters again",
		Long: `Send dead letters again, as if they were sent now. This program has to be able to decode
them: use the release that wrote them, or a later one. A letter that cannot be decoded
stays, and so does one of an instance that has ended or was never started.`,
		Args: usage(cobra.MinimumNArgs(1)),
	}
	send.RunE = a.onLetters(func(ctx context.Context, s session, ids []uint64) error {
		return a.eachLetter(ids, "was sent again", func(id uint64) (bool, error) { return s.sendLetter(ctx, id) })
	})
	remove := &cobra.Command{
		Use:   "delete LETTER...",
		Short: "Delete dead letters for ever",
		Args:  usage(cobra.MinimumNArgs(1)),
	}
	remove.RunE = a.onLetters(func(ctx context.Context, s session, ids []uint64) error {
		return a.eachLetter(ids, "was deleted", func(id uint64) (bool, error) { return s.store.DeleteDeadLetter(ctx, id) })
	})
	cmd.AddCommand(a.storeFlags(show), a.storeFlags(send), a.storeFlags(remove))
	cmd.GroupID = operateGroup
	return a.storeFlags(cmd)
}

// onLetters runs a command on the letters that its arguments name.
func (a *app) onLetters(
	run func(ctx context.Context, s session, ids []uint64) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ids := make([]uint64, len(args))
		for i, arg := range args {
			id, err := strconv.ParseUint(arg, 10, 64)
			if err != nil {
				return usageError{cmd, fmt.Errorf("%q is no number of a letter; 'duroxide dead-letters' lists them", arg)}
			}
			ids[i] = id
		}
		return a.withStore(cmd, false, func(ctx context.Context, s session) error {
			return run(ctx, s, ids)
		})
	}
}

// eachLetter handles all of them, says of which it has, and then what went wrong.
func (a *app) eachLetter(ids []uint64, what string, handle func(id uint64) (found bool, err error)) error {
	document := handledLettersDocument{Letters: []uint64{}}
	var wrong []error
	for _, id := range ids {
		switch found, err := handle(id); {
		case err != nil:
			wrong = append(wrong, fmt.Errorf("letter %d: %w", id, err))
		case !found:
			wrong = append(wrong, noLetter(id))
		default:
			document.Letters = append(document.Letters, id)
		}
	}
	if a.json {
		return errors.Join(append(wrong, a.printJSON(document))...)
	}
	for _, id := range document.Letters {
		a.screen.Printf("Letter %d %s.\n", id, what)
	}
	return errors.Join(wrong...)
}

func noLetter(id uint64) error {
	return notFound("there is no letter %d; 'duroxide dead-letters' lists them", id)
}

func (a *app) listLetters(ctx context.Context, s session, instance string) error {
	letters, err := s.letters(ctx, instance)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(lettersDocument{letters})
	}
	if len(letters) == 0 {
		a.screen.Printf("Nothing was set aside.\n")
		return nil
	}
	rows := [][]string{{"LETTER", "SINCE", "INSTANCE", "WHAT", "REASON"}}
	for _, letter := range letters {
		rows = append(rows, []string{decimal(letter.ID), letter.moment, letter.Instance, letter.what(), letter.Reason})
	}
	printTable(a.screen, rows)
	return nil
}

func (a *app) showLetter(ctx context.Context, store provider.Store, id uint64) error {
	letter, err := store.GetDeadLetter(ctx, id)
	if err != nil {
		return err
	}
	if letter == nil {
		return noLetter(id)
	}
	document := shownLetterDocument{describeLetter(*letter), letter.WorkItem}
	if a.json {
		return a.printJSON(document)
	}
	printTable(a.screen, [][]string{
		{"letter", decimal(document.ID)},
		{"instance", document.Instance},
		{"what", document.what()},
		{"set aside", document.moment},
		{"reason", document.Reason},
		{"text", document.Text},
	})
	return nil
}

// sendLetter sends a letter again, unless that would come to nothing.
func (s session) sendLetter(ctx context.Context, id uint64) (found bool, err error) {
	letter, err := s.store.GetDeadLetter(ctx, id)
	if err != nil || letter == nil {
		return false, err
	}
	status, err := s.Status(ctx, letter.InstanceID)
	if err != nil {
		return false, err
	}
	switch status.State {
	case client.Completed, client.Failed, client.Cancelled:
		return false, fmt.Errorf("instance %q has ended and would ignore the letter; 'duroxide dead-letters delete %d' deletes it", letter.InstanceID, id)
	case client.NotFound:
		if letter.Kind != "StartOrchestration" {
			return false, fmt.Errorf("there is no instance %q that could take the letter: send its start first", letter.InstanceID)
		}
	case client.Queued, client.Running:
	}
	return s.store.RequeueDeadLetter(ctx, id)
}
