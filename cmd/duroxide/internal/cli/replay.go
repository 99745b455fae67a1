package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/retry"
	"github.com/duroxide/duroxide-go/worker"
)

// Code is what histories are replayed against: a program that links it gives it to the command.
type Code struct {
	Definitions   []worker.Registrable
	ActivityRetry *retry.Policy
	Codec         *codec.Codec
}

// replayDocument is what `replay --json` prints.
type replayDocument struct {
	Replayed int              `json:"replayed"`
	Misfits  []misfitDocument `json:"misfits"`
}

// misfitDocument is a history that could not be replayed.
type misfitDocument struct {
	Instance    string `json:"instance"`
	ExecutionID uint64 `json:"execution_id"`
	Reason      string `json:"reason"`
}

// errNoCode is the answer of a program without anybody's orchestrations.
var errNoCode = errors.New(`this program does not have your orchestrations. Build one that does, with this main function:

  commandline.Main(commandline.Options{Definitions: []worker.Registrable{Order, Payment}})

(package github.com/duroxide/duroxide-go/cmd/duroxide/commandline), or write histories with
'duroxide history --into DIR' and replay them in a test by orchestrationtest.ReplayDir`)

func (a *app) replayCommand() *cobra.Command {
	var each int
	cmd := &cobra.Command{
		Use:   "replay [ID...]",
		Short: "Check whether running instances fit this program's code",
		Long: `Replay the histories of running instances against the code of this program, before it
is deployed. Nothing is changed. Without ids it replays a sample: the newest instances of
each orchestration and version. The exit code is 1 if one does not fit.

This program must contain the code. duroxide itself contains none, and says how to build
a program that does. If the store's payloads are encoded, that program needs the codec,
too. No payload is shown.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(a.env.Code.Definitions) == 0 {
				return errNoCode
			}
			if each < 1 {
				return usageError{cmd, errors.New("--each must be at least 1")}
			}
			return a.withStore(cmd, false, func(ctx context.Context, s session) error { return a.replay(ctx, s, each, args) })
		},
	}
	cmd.Flags().IntVar(&each, "each", 20, "`number` of instances of each kind in a sample")
	return a.onStore(cmd)
}

func (a *app) replay(ctx context.Context, s session, each int, instances []string) error {
	w, err := worker.New(s.store, worker.Options{ActivityRetry: a.env.Code.ActivityRetry, Codec: a.env.Code.Codec})
	if err == nil {
		err = w.Register(a.env.Code.Definitions...)
	}
	var infos []provider.InstanceInfo
	if err == nil {
		infos, err = s.chosen(ctx, instances, each, provider.StatusRunning)
	}
	if err != nil {
		return err
	}
	document := replayDocument{Misfits: []misfitDocument{}}
	for _, info := range infos {
		events, err := s.store.ReadHistoryWithExecutionID(ctx, info.InstanceID, info.CurrentExecutionID)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			continue // deleted meanwhile
		}
		document.Replayed++
		if err := w.Check(ctx, events); err != nil {
			document.Misfits = append(document.Misfits, misfitDocument{info.InstanceID, info.CurrentExecutionID, a.reasonOf(err)})
		}
	}
	if err := a.printReplay(document); err != nil {
		return err
	}
	if n := len(document.Misfits); n > 0 {
		return fmt.Errorf("%d of %s could not be replayed", n, histories(document.Replayed))
	}
	return nil
}

// reasonOf is an error of [worker.Worker.Check] without the instance, if it can be.
func (a *app) reasonOf(err error) string {
	if errors.Is(err, codec.ErrNotDecoded) && a.env.Code.Codec == nil {
		return "its payloads are encoded, and this program has no codec: set Codec in commandline.Options"
	}
	if misfit, ok := errors.AsType[*worker.MisfitError](err); ok {
		return misfit.Reason
	}
	return err.Error()
}

func (a *app) printReplay(document replayDocument) error {
	if a.json {
		return a.printJSON(document)
	}
	for _, m := range document.Misfits {
		a.screen.Printf("%s, execution %d: %s\n", screen.Visible(m.Instance), m.ExecutionID, screen.Visible(m.Reason))
	}
	if len(document.Misfits) == 0 {
		a.screen.Printf("The code fits %s.\n", histories(document.Replayed))
	}
	return nil
}
