package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/demo"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/rig"
)

// loadElsewhere runs the client of rig A in a process of its own.
func (a *app) loadElsewhere(ctx context.Context, storeURL string, config rig.ParityConfig) (l rig.Load, err error) {
	program, err := a.env.Executable()
	if err != nil {
		return l, fmt.Errorf("finding this program, to run it as the client: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, "bench-load", "--store", storeURL, "--shape", config.Shape.Name, //nolint:gosec // itself
		"--in-flight", strconv.Itoa(config.InFlight), "--duration", config.Window.String())
	cmd.Stderr = a.env.Stderr
	stdin, err := cmd.StdinPipe() // it ends when this process does
	if err != nil {
		return l, fmt.Errorf("starting a client process: %w", err)
	}
	defer func() { _ = stdin.Close() }() // Output has closed it
	out, err := cmd.Output()
	if err != nil {
		return l, fmt.Errorf("the client process: %w", err)
	}
	err = json.Unmarshal(out, &l)
	return l, err
}

// benchLoadCommand is the child process of rig A.
func (a *app) benchLoadCommand() *cobra.Command {
	var url, shape string
	var config rig.LoadConfig
	cmd := &cobra.Command{
		Use:    "bench-load",
		Short:  "Be the client of rig A, until the standard input ends",
		Hidden: true,
		Args:   usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			ctx, cancel := demo.UntilEOF(cmd.Context(), cmd.InOrStdin())
			defer cancel()
			for _, s := range []rig.Shape{rig.FanOut, rig.Sequence, rig.Single} {
				if s.Name == shape {
					config.Shape = s
				}
			}
			store, err := a.env.Stores.Open(ctx, url, false)
			if err != nil {
				return openingError{err}
			}
			defer func() { err = errors.Join(err, store.Close()) }()
			l, err := rig.RunLoad(ctx, store, config)
			if err != nil {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(l)
		},
	}
	cmd.Flags().StringVar(&url, "store", "", "`URL` of the store")
	cmd.Flags().StringVar(&shape, "shape", rig.Single.Name, "`name` of what an orchestration does")
	cmd.Flags().DurationVar(&config.Window, "duration", time.Second, "how long orchestrations are started")
	inFlightFlag(cmd, &config.InFlight, 20)
	return cmd
}
