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

// The key-value map belongs to the instance and survives continue-as-new. At most
// 150 keys of at most 64 KiB each.

// SetKV sets a key to the JSON of value.
func SetKV(ctx *Context, key string, value any) {
	ctx.mustOwn()
	text, err := payload.EncodeJSON(value)
	if err != nil {
		panic(fmt.Sprintf("value of key %q: %s", key, err))
	}
	ctx.env.Emit(replay.SetKV{Key: key, Value: text, AtMs: ctx.env.NowMs()})
}

// GetKV reads a key; ok is false when it is not set.
func GetKV[T any](ctx *Context, key string) (value T, ok bool, err error) {
	entry, ok := ctx.env.KV(key)
	if !ok {
		return value, false, nil
	}
	value, err = payload.DecodeJSON[T](entry.Value)
	if err != nil {
		return value, true, fmt.Errorf("value of key %q: %w", key, err)
	}
	return value, true, nil
}

// ClearKV removes a key.
func ClearKV(ctx *Context, key string) { ctx.env.Emit(replay.ClearKV{Key: key}) }

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
		ClearKV(kv.ctx, key)
	}
	return len(keys)
}

var kvOf = activity.Declare[registry.KVRequest, *string](registry.ReadKV)

// KVOf reads a key of another instance. It takes as long as an activity, and stays the same on replay. ok is false
// when the key is not set, or there is no such instance.
func KVOf[T any](ctx *Context, instance, key string) (value T, ok bool, err error) {
	text, err := Activity(ctx, kvOf, registry.KVRequest{Instance: instance, Key: key}).Await()
	if err != nil || text == nil {
		return value, false, err
	}
	value, err = payload.DecodeJSON[T](*text)
	if err != nil {
		return value, true, fmt.Errorf("value of key %q of %q: %w", key, instance, err)
	}
	return value, true, nil
}
