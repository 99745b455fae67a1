package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/internal/sealed"
)

// syscalls are the built-in activities, whose prefix is reserved.
func (w *Worker) syscalls() map[string]registry.ActivityFunc {
	return map[string]registry.ActivityFunc{
		registry.SyscallPrefix + "new_guid":     func(context.Context, string) (string, error) { return uuid.NewString(), nil },
		registry.SyscallPrefix + "utc_now_ms":   func(context.Context, string) (string, error) { return strconv.FormatUint(nowMs(), 10), nil },
		registry.SyscallPrefix + "get_kv_value": w.getKVValue,
	}
}

// handler finds an activity, built-in ones first.
func (w *Worker) handler(name string) (registry.ActivityFunc, bool) {
	if fn, ok := w.builtIn[name]; ok {
		return fn, true
	}
	return w.registry.Activity(name)
}

// getKVValue reads another instance's key (§7.13).
func (w *Worker) getKVValue(ctx context.Context, input string) (string, error) {
	var request struct {
		InstanceID string `json:"instance_id"`
		Key        string `json:"key"`
	}
	if err := json.Unmarshal([]byte(input), &request); err != nil {
		return "", errors.New("reading a key of another instance: the request is not valid JSON")
	}
	value, err := w.store.GetKVValue(ctx, request.InstanceID, request.Key)
	if err == nil {
		value, err = sealed.OpenOptional(ctx, w.options.Codec, value)
	}
	if err != nil {
		return "", fmt.Errorf("reading a key of instance %q: %w", request.InstanceID, err)
	}
	data, err := json.Marshal(value)
	return string(data), err
}
