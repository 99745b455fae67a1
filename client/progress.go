package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/provider"
)

// WaitError reports that the context ended before the wait did. After a deadline it describes how far the instance
// was, and what it waits for if it is held.
type WaitError struct {
	Instance string
	// Status is the instance's status after the deadline, without the custom status. Its State is "" if the status
	// was not read: when the context ended for another reason than its deadline, the store did not answer within a
	// second, or the history cannot be decoded.
	Status Status
	// LastEvent is the type of the last event, "" if there is no history.
	LastEvent string
	// WaitsFor lists the calls and waits that have no result yet, the oldest first.
	WaitsFor []string
	// Held is what the instance waits for if it is held, see [Client.Held].
	Held *provider.HeldInstance
	// Err is why the wait ended: the context's error, its cause, and the store's error if there was one.
	Err error
}

// Error describes the wait without payloads. Of WaitsFor it names the first three.
func (e *WaitError) Error() string {
	return fmt.Sprintf("waiting for %q: %v%s", e.Instance, e.Err, e.progress())
}

// Unwrap returns Err.
func (e *WaitError) Unwrap() error { return e.Err }

// progress tells how far the instance was, "" if that is not known.
func (e *WaitError) progress() string {
	switch e.Status.State {
	case "":
		return e.held("; it is")
	case NotFound:
		if e.Held != nil {
			return "; it is held before its begin, it waits for " + e.Held.Reason
		}
		return "; it has not begun"
	case Queued, Running, Completed, Failed, Cancelled:
	}
	text := fmt.Sprintf("; it is %s (%s %s, execution %d), its last event is %s",
		e.Status.State, e.Status.Name, e.Status.Version, e.Status.ExecutionID, e.LastEvent)
	text += e.held(", it is")
	const most = 3
	if n := len(e.WaitsFor); n > most {
		return fmt.Sprintf("%s, it waits for %s and %d more", text, strings.Join(e.WaitsFor[:most], ", "), n-most)
	} else if n > 0 {
		text += ", it waits for " + strings.Join(e.WaitsFor, ", ")
	}
	return text
}

// held tells of a held instance since when and why, "" of any other.
func (e *WaitError) held(prefix string) string {
	if e.Held == nil {
		return ""
	}
	return fmt.Sprintf("%s held since %s: %s", prefix, e.Held.Since.UTC().Format("2006-01-02 15:04 MST"), e.Held.Reason)
}

// lastLook is how long the look at the instance after a deadline may take.
const lastLook = time.Second

// unfinished is the error of a wait that its context ended.
func (c *Client) unfinished(ctx context.Context, instance string, cause error) error {
	e := &WaitError{Instance: instance, Err: cause}
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return e
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	events, err := c.read(ctx, instance)
	if err == nil {
		e.Status = statusOf(instance, events)
	}
	if held, failed := c.Held(ctx, instance); failed == nil && !e.Status.Finished() {
		e.Held = held // also if its history cannot be read
	}
	if err != nil {
		return e
	}
	if len(events) > 0 {
		e.LastEvent = events[len(events)-1].Kind.Type()
	}
	for _, event := range history.Unsettled(events) {
		e.WaitsFor = append(e.WaitsFor, waitsFor(event))
	}
	return e
}

// waitsFor names a call or a wait, without its payload.
func waitsFor(event provider.Event) string {
	switch k := event.Kind.(type) {
	case provider.ActivityScheduled:
		return fmt.Sprintf("activity %q", k.Name)
	case provider.SubOrchestrationScheduled:
		return fmt.Sprintf("sub-orchestration %q (%s)", k.Name, k.Instance)
	case provider.TimerCreated:
		return "a timer until " + time.UnixMilli(int64(k.FireAtMs)).UTC().Format(time.RFC3339)
	case provider.ExternalSubscribed:
		return fmt.Sprintf("event %q", k.Name)
	case provider.QueueSubscribed:
		return fmt.Sprintf("queue %q", k.Name)
	}
	return event.Kind.Type()
}
