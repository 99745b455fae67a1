package turns

import (
	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/provider"
)

// Request returns why the batch asks to cancel the instance, if it does.
func (b Batch) Request(begin Begin) (reason string, ok bool) {
	for _, message := range begin.Messages(b.Item.Messages) {
		if m, ok := message.(provider.CancelInstanceItem); ok {
			return m.Reason, true
		}
	}
	return "", false
}

// EndsByRequest reports whether the batch has a request to cancel that can be met without the instance's code: with
// code that cleans up it waits for that, like everything else.
func (b Batch) EndsByRequest(begin Begin) bool {
	if len(b.Item.History) > 0 {
		if started, ok := b.Item.History[0].Kind.(provider.OrchestrationStarted); ok && started.CleansUp {
			return false
		}
	}
	_, requested := b.Request(begin)
	return requested
}

// ClientsRequest returns why a client asks to cancel the instance, if one does. A parent does not know that somebody
// has to decide.
func (b Batch) ClientsRequest() (reason string, ok bool) {
	for _, message := range b.Item.Messages {
		if m, ok := message.(provider.CancelInstanceItem); ok && !history.ByParent(m.Reason) {
			return m.Reason, true
		}
	}
	return "", false
}
