package replay

import (
	"fmt"
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// Limits of one execution (contract §7.2). Bytes are UTF-8 bytes. They are the running worker's:
// an execution that an older one started has them too.
const (
	maxCustomStatusBytes = 256 << 10
	maxTagBytes          = 256
	maxKVKeys            = 150
	maxKVValueBytes      = 64 << 10
)

// enforceLimits fails an orchestration that exceeded a limit in this turn. The
// failure takes the place of a terminal event already recorded, outgoing work is
// discarded, and the parent is told like of any failure.
func (e *engine) enforceLimits() {
	if e.outcome == Failed || e.outcome == Cancelled {
		return
	}
	violation := e.violation()
	if violation == "" && e.outcome == Continue {
		e.warn()
		violation = e.tooLarge()
	}
	if violation == "" {
		return
	}
	if e.outcome != Continue {
		e.events = slices.DeleteFunc(e.events, func(event provider.Event) bool { return event.Terminal() })
	}
	e.limitExceeded = true
	e.fail(Failed, provider.ApplicationFailure{Kind: provider.AppOrchestrationFailed, Message: violation})
}

// violation names the first limit that this turn's events exceed.
func (e *engine) violation() string {
	var status *string
	for _, event := range e.delta() {
		switch k := event.Kind.(type) {
		case provider.ActivityScheduled:
			if k.Tag != nil && len(*k.Tag) > maxTagBytes {
				return fmt.Sprintf("the tag of activity %q has %d bytes, the limit is %d", k.Name, len(*k.Tag), maxTagBytes)
			}
		case provider.KeyValueSet:
			if len(k.Value) > maxKVValueBytes {
				return fmt.Sprintf("the value of key %q has %d bytes, the limit is %d", k.Key, len(k.Value), maxKVValueBytes)
			}
		case provider.CustomStatusUpdated:
			if k.Status != nil {
				status = k.Status
			}
		}
	}
	if status != nil && len(*status) > maxCustomStatusBytes {
		return fmt.Sprintf("the custom status has %d bytes, the limit is %d", len(*status), maxCustomStatusBytes)
	}
	if len(e.env.kv) > maxKVKeys {
		return fmt.Sprintf("the instance has %d keys, the limit is %d", len(e.env.kv), maxKVKeys)
	}
	return ""
}
