package otel

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"

	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/provider"
)

// maxValues is how many values a label with names has in a process; the others are otherName.
// Names come from registered code, but clients may send anything.
const (
	maxValues = 200
	otherName = "other"
)

// label is a label of a metric whose values are names.
type label struct {
	key attribute.Key

	mu   sync.RWMutex
	seen map[string]struct{}
}

func newLabel(key attribute.Key) *label { return &label{key: key, seen: map[string]struct{}{}} }

// of is the label for a name.
func (l *label) of(value string) attribute.KeyValue { return l.key.String(l.bounded(value)) }

// bounded is the name, or otherName if there are too many.
func (l *label) bounded(value string) string {
	l.mu.RLock()
	_, known := l.seen[value]
	l.mu.RUnlock()
	if known {
		return value
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.seen[value]; !known && len(l.seen) == maxValues {
		return otherName
	}
	l.seen[value] = struct{}{}
	return value
}

// initiatedBy says who began an execution.
func initiatedBy(turn hook.Turn) string {
	switch {
	case turn.ExecutionID > 1:
		return "continueAsNew"
	case turn.Parent != "":
		return "suborchestration"
	}
	return "client"
}

// ending is a status that ends an execution, as metrics label it.
func ending(s provider.Status) string {
	switch s {
	case provider.StatusCompleted:
		return "success"
	case provider.StatusContinuedAsNew:
		return "continuedAsNew"
	default:
		return "failed"
	}
}

// turnRange is a number of turns, as metrics label it.
func turnRange(turns int64) string {
	switch {
	case turns <= 5:
		return "1-5"
	case turns <= 10:
		return "6-10"
	case turns <= 50:
		return "11-50"
	}
	return "50+"
}

// tries is how often an activity was fetched before, as metrics label it.
func tries(attempt uint32) string {
	switch attempt {
	case 0, 1:
		return "0"
	case 2:
		return "1"
	case 3:
		return "2"
	}
	return "3+"
}

// errorType is a failure's, as metrics label it.
func errorType(failure provider.ErrorDetails) string {
	switch failure.(type) {
	case provider.ApplicationFailure:
		return "app_error"
	case provider.InfrastructureFailure:
		return "infrastructure_error"
	case provider.ConfigurationFailure:
		return "config_error"
	case provider.PoisonFailure:
		return "poison"
	}
	return "unknown"
}

// outcome is how an activity ended, as metrics label it; empty for one that was not run because
// it was fetched too often.
func outcome(err error) string {
	if err == nil {
		return "success"
	}
	if errors.Is(err, hook.ErrCancelled) {
		return "cancelled"
	}
	if notRun, ok := errors.AsType[*hook.NotRunError](err); ok {
		if _, poison := notRun.Details.(provider.PoisonFailure); poison {
			return ""
		}
		return "config_error"
	}
	if _, ok := errors.AsType[*provider.Error](err); ok {
		return "infra_error"
	}
	return "app_error"
}

// storeErrorType is the type of a store's error, as metrics label it: by its cause, or else by
// its text, which the drivers of different databases word in much the same way.
func storeErrorType(err error) string {
	text := strings.ToLower(err.Error())
	says := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(text, part) {
				return true
			}
		}
		return false
	}
	timeout := errors.Is(err, context.DeadlineExceeded)
	n, network := errors.AsType[net.Error](err)
	switch {
	case says("deadlock"):
		return "deadlock"
	case timeout, network && n.Timeout(), says("timeout", "time out", "timed out", "database is locked"):
		return "timeout"
	case network, errors.Is(err, driver.ErrBadConn), errors.Is(err, io.EOF), says("connection"):
		return "connection"
	}
	return "other"
}
