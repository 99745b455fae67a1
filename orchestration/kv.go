package orchestration

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/internal/replay"
)

// Key is a key of the instance's key-value map with the type of its value. The map survives continue-as-new and has at
// most 150 keys. The JSON of a value has at most 64 KiB. Clients read a value with client.Value and wait for one with
// client.WaitForValue.
type Key[T any] struct{ name string }

// NewKey declares a key. For a key that is known only by its name, T is json.RawMessage.
func NewKey[T any](name string) Key[T] { return Key[T]{name: name} }

// Name returns the name.
func (k Key[T]) Name() string { return k.name }

// Set sets the key to the JSON of value. A value that has no JSON panics.
func (k Key[T]) Set(ctx *Context, value T) {
	ctx.mustOwn()
	text, err := payload.EncodeJSON(value)
	if err != nil {
		panic(fmt.Sprintf("value of key %q: %s", k.name, err))
	}
	ctx.env.Emit(replay.SetKV{Key: k.name, Value: text, AtMs: ctx.env.NowMs()})
}

// Get reads the key; ok is false when it is not set.
func (k Key[T]) Get(ctx *Context) (value T, ok bool, err error) {
	entry, ok := ctx.env.KV(k.name)
	if !ok {
		return value, false, nil
	}
	value, err = payload.DecodeJSON[T](entry.Value)
	if err != nil {
		return value, true, fmt.Errorf("value of key %q: %w", k.name, err)
	}
	return value, true, nil
}

// Clear removes the key.
func (k Key[T]) Clear(ctx *Context) { ctx.env.Emit(replay.ClearKV{Key: k.name}) }

var kvOf = activity.Declare[registry.KVRequest, *string](registry.ReadKV)

// Of reads the key of another instance. It takes as long as an activity, and stays the same on replay. ok is false
// when the key is not set, or there is no such instance.
func (k Key[T]) Of(ctx *Context, instance string) (value T, ok bool, err error) {
	text, err := Activity(ctx, kvOf, registry.KVRequest{Instance: instance, Key: k.name}).Await()
	if err != nil || text == nil {
		return value, false, err
	}
	value, err = payload.DecodeJSON[T](*text)
	if err != nil {
		return value, true, fmt.Errorf("value of key %q of %q: %w", k.name, instance, err)
	}
	return value, true, nil
}

// KV is the key-value map of an instance as a whole. A [Key] reads and sets one of its keys.
type KV struct{ ctx *Context }

// KV returns the instance's key-value map.
func (c *Context) KV() KV { return KV{ctx: c} }

// Keys returns the keys in order.
func (kv KV) Keys() []string { return slices.Sorted(maps.Keys(kv.ctx.env.KVAll())) }

// Clear removes all keys.
func (kv KV) Clear() { kv.ctx.env.Emit(replay.ClearAllKV{}) }

// Prune removes the keys that were last set before a time, in order, and returns how many.
func (kv KV) Prune(before time.Time) int {
	keys := kv.ctx.env.KVBefore(uint64(max(0, before.UnixMilli())))
	for _, key := range keys {
		kv.ctx.env.Emit(replay.ClearKV{Key: key})
	}
	return len(keys)
}
