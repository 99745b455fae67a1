package worker

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/internal/sealed"
)

// syscalls are the built-in activities, whose prefix is reserved.
func (w *Worker) syscalls() map[string]registry.ActivityFunc {
	return map[string]registry.ActivityFunc{
		registry.NewGUID: func(context.Context, string) (string, error) { return uuid.NewString(), nil },
		registry.UTCNow:  func(context.Context, string) (string, error) { return strconv.FormatUint(nowMs(), 10), nil },
		registry.ReadKV:  registry.KVReader(w.kvValue),
	}
}

// handler finds an activity, built-in ones first.
func (w *Worker) handler(name string) (registry.ActivityFunc, bool) {
	if fn, ok := w.builtIn[name]; ok {
		return fn, true
	}
	return w.registry.Activity(name)
}

// kvValue reads another instance's key.
func (w *Worker) kvValue(ctx context.Context, instance, key string) (*string, error) {
	value, err := w.store.GetKVValue(ctx, instance, key)
	if err != nil {
		return nil, err
	}
	return sealed.OpenOptional(ctx, w.options.Codec, value)
}
