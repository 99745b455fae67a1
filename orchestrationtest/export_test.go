package orchestrationtest

import (
	"context"
	"slices"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// Executions are the histories of all executions of an instance.
func (e *Env) Executions(instance string) [][]provider.Event {
	in := e.instance(instance)
	return append(slices.Clone(in.earlier), in.history)
}

// ReplayFile is a subtest of [ReplayDir].
func ReplayFile(ctx context.Context, file string, definitions ...worker.Registrable) error {
	c, err := codeOf(definitions)
	if err != nil {
		return err
	}
	return c.replay(ctx, file)
}

// Histories are the files of [ReplayDir].
var Histories = histories
