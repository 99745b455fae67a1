package orchestration

import (
	"fmt"
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/internal/replay"
)

// The key-value map belongs to the instance and survives continue-as-new. At most
// 150 keys of at most 64 KiB each.

// SetKV sets a key to the JSON of value.
func SetKV(ctx *Context, key string, value any) {
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

// ClearAllKV removes all keys.
func ClearAllKV(ctx *Context) { ctx.env.Emit(replay.ClearAllKV{}) }

// KVKeys returns the keys in order.
func KVKeys(ctx *Context) []string { return slices.Sorted(maps.Keys(ctx.env.KVAll())) }
