package samples

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/orchestration"
)

// A program of steps is data: some after each other, some side by side. After the DSL samples of Temporal and Cadence.

type program struct {
	Variables map[string]string
	Root      statement
}

type statement struct {
	Call     *invocation
	Sequence []statement
	Parallel []statement
}

type invocation struct {
	Activity, Result string
	Arguments        []string
}

var errNothing = errors.New("a statement does nothing")

// interpreter is made for each run.
type interpreter struct {
	bindings map[string]string
	calls    int
}

var Program = orchestration.New("Program", func(ctx *orchestration.Context, p program) (string, error) {
	in := &interpreter{bindings: map[string]string{}}
	for name, value := range p.Variables {
		in.bindings[name] = value
	}
	if err := in.run(ctx, p.Root); err != nil {
		return "", err
	}
	text := ""
	for _, name := range slices.Sorted(maps.Keys(in.bindings)) {
		text += fmt.Sprintf("%s=%s\n", name, in.bindings[name])
	}
	return text, nil
})

func (in *interpreter) run(ctx *orchestration.Context, s statement) error {
	switch {
	case s.Call != nil:
		return in.call(ctx, *s.Call)
	case len(s.Sequence) > 0:
		for _, next := range s.Sequence {
			if err := in.run(ctx, next); err != nil {
				return err
			}
		}
		return nil
	case len(s.Parallel) > 0:
		_, err := orchestration.Map(ctx, s.Parallel, 0, func(ctx *orchestration.Context, next statement) (struct{}, error) {
			return struct{}{}, in.run(ctx, next)
		})
		return err
	}
	return errNothing
}

func (in *interpreter) call(ctx *orchestration.Context, c invocation) error {
	var arguments []string
	for _, name := range c.Arguments {
		value, ok := in.bindings[name]
		if !ok {
			return fmt.Errorf("%s has no value", name)
		}
		arguments = append(arguments, value)
	}
	in.calls++
	result, err := orchestration.Activity(ctx, act[[]string, string](c.Activity), arguments, patient).Await()
	if err == nil && c.Result != "" {
		in.bindings[c.Result] = result
	}
	return err
}
