package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// SyscallPrefix marks the names of built-in activities, which users cannot take.
const SyscallPrefix = "__duroxide_syscall:"

// The built-in activities, which every worker runs (contract §7.13).
const (
	NewGUID = SyscallPrefix + "new_guid"
	UTCNow  = SyscallPrefix + "utc_now_ms"
	// ReadKV reads a key of another instance.
	ReadKV = SyscallPrefix + "get_kv_value"
)

// KVRequest is the input of [ReadKV].
type KVRequest struct {
	Instance string `json:"instance_id"`
	Key      string `json:"key"`
}

// KVReader is the function of [ReadKV]. read returns the value, nil if there is none.
func KVReader(read func(ctx context.Context, instance, key string) (*string, error)) ActivityFunc {
	return func(ctx context.Context, input string) (string, error) {
		var request KVRequest
		if err := json.Unmarshal([]byte(input), &request); err != nil {
			return "", errors.New("reading a key of another instance: the request is not valid JSON")
		}
		value, err := read(ctx, request.Instance, request.Key)
		if err != nil {
			return "", fmt.Errorf("reading a key of instance %q: %w", request.Instance, err)
		}
		data, err := json.Marshal(value)
		return string(data), err
	}
}
