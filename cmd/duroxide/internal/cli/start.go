package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// startedDocument is what `start --json` prints without --wait.
type startedDocument struct {
	Instance string `json:"instance"`
	// Started is false when the instance was there already.
	Started bool `json:"started"`
}

// waiting are the flags --wait and --timeout.
type waiting struct {
	wait    bool
	timeout time.Duration
}

func (w *waiting) flags(cmd *cobra.Command, what string) {
	cmd.Flags().BoolVar(&w.wait, "wait", false, what)
	cmd.Flags().DurationVar(&w.timeout, "timeout", 0, "give up waiting after this `duration` (default: never)")
}

// check refuses flags that contradict each other.
func (w *waiting) check(cmd *cobra.Command) error {
	switch {
	case w.timeout < 0:
		return usageError{cmd, errors.New("--timeout must not be negative")}
	case w.timeout > 0 && !w.wait:
		return usageError{cmd, errors.New("--timeout needs --wait")}
	}
	return nil
}

// until waits for an instance's end.
func (w *waiting) until(ctx context.Context, s session, instance string) (client.Status, error) {
	if w.timeout == 0 {
		return s.Wait(ctx, instance)
	}
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	status, err := s.Wait(ctx, instance)
	if errors.Is(err, context.DeadlineExceeded) {
		err = timeoutError{instance, w.timeout, err}
	}
	return status, err
}

func (a *app) startCommand() *cobra.Command {
	var w waiting
	var version, ifExists string
	cmd := &cobra.Command{
		Use:   "start NAME INSTANCE [INPUT]",
		Short: "Start an orchestration",
		Long: `Start the orchestration NAME with the instance id INSTANCE. It is queued until a
worker that has NAME takes it.

An id can be used once. If an instance in any state or a queued start has it already,
the command fails and starts nothing. --if-exists use accepts the instance that has
it. --if-exists replace deletes that instance with its sub-orchestrations and starts
the new one, but only if it has ended.

INPUT is text: a string as it is, anything else as JSON. "-" reads it from the
standard input. Without INPUT it is null. A SQLite file that does not exist is created.`,
		Args: usage(cobra.RangeArgs(2, 3)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := w.check(cmd); err != nil {
				return err
			}
			input, err := payloadOf(cmd, args[2:])
			if err != nil {
				return err
			}
			options, ok := ifExistsOptions[ifExists]
			if !ok {
				return usageError{cmd, fmt.Errorf("unknown --if-exists %q: it is fail, use or replace", ifExists)}
			}
			return a.withStore(cmd, true, func(ctx context.Context, s session) error {
				err := a.start(ctx, s, orchestration.Declare[string, any](args[0]).AtVersion(version), args[1], input, w, ifExists == "use", options...)
				if errors.Is(err, provider.ErrInvalidArgument) {
					return usageError{cmd, err}
				}
				return err
			})
		},
	}
	w.flags(cmd, "wait for the end and print the result")
	cmd.Flags().StringVar(&version, "at-version", "", "start exactly this `version` (default: the worker chooses)")
	cmd.Flags().StringVar(&ifExists, "if-exists", "fail", "what to `do` if the id is used: fail, use or replace")
	return a.onStore(cmd)
}

// ifExistsOptions are the values of --if-exists.
var ifExistsOptions = map[string][]client.StartOption{
	"fail": nil, "use": nil, "replace": {client.ReplaceFinished()},
}

func (a *app) start(ctx context.Context, s session, def orchestration.Definition[string, any], instance, input string, w waiting, use bool,
	options ...client.StartOption,
) error {
	_, err := client.Start(ctx, s.Client, def, instance, input, options...)
	existing, exists := errors.AsType[*client.AlreadyExistsError](err)
	if exists && !use {
		return fmt.Errorf("%w; choose another id, or see --if-exists in 'duroxide start --help'", err)
	}
	if err != nil && !exists {
		return err
	}
	if !w.wait && a.json {
		return a.printJSON(startedDocument{Instance: instance, Started: !exists})
	}
	if !a.json && exists {
		fmt.Fprintf(a.env.Stderr, "Instance %q already exists (%s, %s); nothing was started.\n",
			instance, screen.Visible(existing.Name), existing.State)
	} else if !a.json {
		a.screen.Printf("Started %s as %q.\n", screen.Visible(def.Name()), instance)
	}
	if !w.wait {
		return nil
	}
	return a.printEnd(ctx, s, instance, w)
}

// payloadOf returns what an optional argument stands for: null without one, the
// standard input without its last line break for "-", a string for a quoted JSON
// string, else the text as it is.
func payloadOf(cmd *cobra.Command, args []string) (string, error) {
	if len(args) == 0 {
		return "null", nil
	}
	given := args[0]
	if given == "-" {
		data, err := io.ReadAll(cmd.InOrStdin())
		if err != nil {
			return "", fmt.Errorf("reading the standard input: %w", err)
		}
		given = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	}
	var quoted string
	if json.Unmarshal([]byte(given), &quoted) == nil && given != "null" {
		return quoted, nil
	}
	return given, nil
}
