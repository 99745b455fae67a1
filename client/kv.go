package client

import (
	"context"
	"fmt"

	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/internal/sealed"
	"github.com/duroxide/duroxide-go/orchestration"
)

// KV reads a key of an instance as its orchestration last set it; ok is false
// when it is not set.
func KV[T any](ctx context.Context, c *Client, instance, key string) (value T, ok bool, err error) {
	text, err := c.store.GetKVValue(ctx, instance, key)
	if err == nil {
		text, err = sealed.OpenOptional(ctx, c.codec, text)
	}
	if err != nil {
		return value, false, fmt.Errorf("reading key %q of %q: %w", key, instance, err)
	}
	if text == nil {
		return value, false, nil
	}
	value, err = payload.DecodeJSON[T](*text)
	if err != nil {
		return value, true, fmt.Errorf("value of key %q of %q: %w", key, instance, err)
	}
	return value, true, nil
}

// Value is [KV] for a declared key.
func Value[T any](ctx context.Context, c *Client, key orchestration.Key[T], instance string) (value T, ok bool, err error) {
	return KV[T](ctx, c, instance, key.Name())
}

// KVAll reads all keys of an instance with their values as JSON.
func (c *Client) KVAll(ctx context.Context, instance string) (map[string]string, error) {
	values, err := c.store.GetKVAllValues(ctx, instance)
	for key, value := range values {
		if err == nil {
			values[key], err = c.codec.Decode(ctx, value)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the keys of %q: %w", instance, err)
	}
	return values, nil
}
