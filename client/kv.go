package client

import (
	"context"
	"fmt"

	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/internal/sealed"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// Value reads a key of an instance as its orchestration last set it; ok is false when it is not set.
func Value[T any](ctx context.Context, c *Client, key orchestration.Key[T], instance string) (value T, ok bool, err error) {
	text, err := c.store.GetKVValue(ctx, instance, key.Name())
	if err != nil {
		return value, false, fmt.Errorf("reading key %q of %q: %w", key.Name(), instance, err)
	}
	return decodeKV[T](ctx, c, instance, key.Name(), text)
}

// decodeKV decodes what a store holds; ok is false for nil.
func decodeKV[T any](ctx context.Context, c *Client, instance, key string, text *string) (value T, ok bool, err error) {
	if text, err = sealed.OpenOptional(ctx, c.codec, text); err != nil {
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

// WaitForValue waits until the instance has set the key, even if it has not started yet, and returns the value. Errors:
// as for [Client.Wait], and [ErrEnded] when the instance has ended without the key.
func WaitForValue[T any](ctx context.Context, c *Client, key orchestration.Key[T], instance string) (value T, err error) {
	var text *string
	isSet := func(provider.Progress) (_ bool, err error) { // is also asked when the instance has ended
		if text == nil {
			text, err = c.store.GetKVValue(ctx, instance, key.Name())
		}
		if err != nil {
			return false, fmt.Errorf("reading key %q of %q: %w", key.Name(), instance, err)
		}
		return text != nil, nil
	}
	set, err := isSet(provider.Progress{})
	if !set && (err == nil || provider.IsRetryable(err)) {
		_, err = c.waitUntil(ctx, waiting{instance: instance, listen: c.listenForChange, enough: isSet})
	}
	switch {
	case text != nil:
		value, _, err = decodeKV[T](ctx, c, instance, key.Name(), text)
	case err == nil:
		err = fmt.Errorf("waiting for key %q of %q: %w", key.Name(), instance, ErrEnded)
	}
	return value, err
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
