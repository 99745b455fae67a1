package client

import (
	"context"
	"fmt"

	"github.com/duroxide/duroxide-go/provider"
)

// Stats reads the sizes of an instance: the events and bytes of its current execution's history, the messages carried
// into it, its keys and their bytes. They show how near the instance is to its limits, and whether it should continue
// as new. The result is nil if no instance of that id has had its first turn.
func (c *Client) Stats(ctx context.Context, instance string) (*provider.InstanceStats, error) {
	stats, err := c.store.GetInstanceStats(ctx, instance)
	if err != nil {
		return nil, fmt.Errorf("reading the sizes of %q: %w", instance, err)
	}
	return stats, nil
}
