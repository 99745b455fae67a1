package orchestrationtest

import (
	"fmt"

	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/retry"
	"github.com/duroxide/duroxide-go/worker"
)

// code is what a test runs, or replays histories against.
type code struct {
	registry *registry.Registry
	retry    *retry.Policy
	codec    *codec.Codec
}

// codeOf registers definitions as a worker does, and finds the options among them.
func codeOf(definitions []worker.Registrable) (c code, err error) {
	c.registry = registry.New()
	for i, definition := range definitions {
		switch option := definition.(type) {
		case nil:
			return c, registry.Nil(i, len(definitions)) // as a worker does
		case activityRetry:
			if err := option.Validate(); err != nil { // as a worker does
				return c, fmt.Errorf("ActivityRetry: %w", err)
			}
			c.retry = &option.Policy
		case payloads:
			c.codec = option.Codec
		default:
			if err := c.registry.Add(definition); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// activityRetry is what [ActivityRetry] returns.
type activityRetry struct {
	registry.Entry
	retry.Policy
}

// ActivityRetry sets ActivityRetry of worker.Options for a test. Pass it to [New] or [ReplayDir] among the
// definitions; a worker does not accept it.
func ActivityRetry(policy retry.Policy) worker.Registrable {
	return activityRetry{onlyForTests("ActivityRetry"), policy}
}

// payloads is what [Codec] returns.
type payloads struct {
	registry.Entry
	*codec.Codec
}

// Codec sets Codec of worker.Options for [ReplayDir], for histories of a store whose payloads are encoded. Pass it
// among the definitions; a worker does not accept it, and [New] does not need it, because a test has no store.
func Codec(c *codec.Codec) worker.Registrable { return payloads{onlyForTests("Codec"), c} }

// onlyForTests is the entry of an option that no worker registers.
func onlyForTests(option string) registry.Entry {
	return registry.NewEntry(func(*registry.Registry) error {
		return fmt.Errorf("orchestrationtest.%s is only for tests; for a worker, set worker.Options.%[1]s", option)
	})
}
