package provider

import (
	"fmt"
	"strings"
)

// ErrorDetails is a failure as histories and messages carry it: one of
// [InfrastructureFailure], [ConfigurationFailure], [ApplicationFailure] and [PoisonFailure], held by value.
type ErrorDetails interface {
	// Category is the variant's name in lower case, as in metric labels.
	Category() string
	// IsRetryable reports whether trying again may help.
	IsRetryable() bool
	// DisplayMessage is the text that user code sees and that becomes the output
	// of a failed execution.
	DisplayMessage() string
	isErrorDetails()
}

// InfrastructureFailure is a failure of the store.
type InfrastructureFailure struct {
	Operation, Message string
	Retryable          bool
}

// Nondeterminism is the only kind of a [ConfigurationFailure].
const Nondeterminism = "Nondeterminism"

// ConfigurationFailure is a failure because the code does not fit the recorded history, or because no worker has the
// code.
type ConfigurationFailure struct {
	// Kind is [Nondeterminism].
	Kind     string
	Resource string
	Message  *string
}

// AppErrorKind says where an [ApplicationFailure] came from.
type AppErrorKind string

// The kinds of an [ApplicationFailure].
const (
	AppActivityFailed      AppErrorKind = "ActivityFailed"
	AppOrchestrationFailed AppErrorKind = "OrchestrationFailed"
	AppPanicked            AppErrorKind = "Panicked"
	AppCancelled           AppErrorKind = "Cancelled"
)

// ApplicationFailure is a failure of user code.
type ApplicationFailure struct {
	Kind AppErrorKind
	// CancelReason belongs to AppCancelled.
	CancelReason string
	Message      string
	Retryable    bool
	// FailureKind, a name, and FailureDetails, a JSON text, describe the error beyond its message. Final says that
	// another attempt does not help. User code sets them with package failure. Runtimes in other languages ignore
	// them.
	FailureKind, FailureDetails string
	Final                       bool
	// Heartbeat holds the last heartbeat details of an activity, as JSON, for the next attempt; empty for none.
	// Runtimes in other languages ignore it.
	Heartbeat string
}

// PoisonFailure is the failure of work that was fetched more often than allowed.
type PoisonFailure struct {
	AttemptCount, MaxAttempts uint32
	MessageType               PoisonMessageType
	// Message is the work as JSON, or the error. A line before the JSON says what the work is and how its last
	// attempt failed.
	Message string
}

// PoisonMessageType says which work was fetched too often: one of [PoisonOrchestration], [PoisonActivity] and
// [PoisonDeserialization].
type PoisonMessageType interface{ isPoisonMessageType() }

// PoisonOrchestration is a turn of an instance.
type PoisonOrchestration struct {
	Instance    string
	ExecutionID uint64
}

// PoisonActivity is an activity.
type PoisonActivity struct {
	Instance     string
	ExecutionID  uint64
	ActivityName string
	ActivityID   uint64
}

// PoisonDeserialization is a history that cannot be decoded.
type PoisonDeserialization struct {
	Instance    string
	ExecutionID uint64
	Error       string
}

func (PoisonOrchestration) isPoisonMessageType()   {}
func (PoisonActivity) isPoisonMessageType()        {}
func (PoisonDeserialization) isPoisonMessageType() {}

func (InfrastructureFailure) isErrorDetails() {}
func (ConfigurationFailure) isErrorDetails()  {}
func (ApplicationFailure) isErrorDetails()    {}
func (PoisonFailure) isErrorDetails()         {}

// Category implements [ErrorDetails].
func (InfrastructureFailure) Category() string { return "infrastructure" }

// Category implements [ErrorDetails].
func (ConfigurationFailure) Category() string { return "configuration" }

// Category implements [ErrorDetails].
func (ApplicationFailure) Category() string { return "application" }

// Category implements [ErrorDetails].
func (PoisonFailure) Category() string { return "poison" }

// IsRetryable implements [ErrorDetails].
func (d InfrastructureFailure) IsRetryable() bool { return d.Retryable }

// IsRetryable implements [ErrorDetails].
func (ConfigurationFailure) IsRetryable() bool { return false }

// IsRetryable implements [ErrorDetails].
func (d ApplicationFailure) IsRetryable() bool { return d.Retryable }

// IsRetryable implements [ErrorDetails].
func (PoisonFailure) IsRetryable() bool { return false }

// DisplayMessage implements [ErrorDetails].
func (d InfrastructureFailure) DisplayMessage() string {
	return fmt.Sprintf("infrastructure:%s: %s", d.Operation, d.Message)
}

// DisplayMessage implements [ErrorDetails].
func (d ConfigurationFailure) DisplayMessage() string {
	switch {
	case d.Message == nil:
		return "nondeterministic in " + d.Resource
	case d.Resource != "": // code that no worker has: only a history that does not fit names no resource
		return *d.Message
	}
	return "nondeterministic: " + *d.Message
}

// DisplayMessage implements [ErrorDetails].
func (d ApplicationFailure) DisplayMessage() string {
	switch d.Kind {
	case AppCancelled:
		return "canceled: " + d.CancelReason
	case AppPanicked:
		return "orchestration panicked: " + d.Message
	case AppActivityFailed, AppOrchestrationFailed:
		return d.Message
	}
	return d.Message
}

// DisplayMessage implements [ErrorDetails].
func (d PoisonFailure) DisplayMessage() string {
	limit := fmt.Sprintf("%d attempts (max %d)", d.AttemptCount, d.MaxAttempts)
	switch m := d.MessageType.(type) {
	case PoisonOrchestration:
		return fmt.Sprintf("poison: orchestration %s exceeded %s%s", m.Instance, limit, d.line())
	case PoisonActivity:
		return fmt.Sprintf("poison: activity %s#%d exceeded %s%s", m.ActivityName, m.ActivityID, limit, d.line())
	case PoisonDeserialization:
		return fmt.Sprintf("poison: orchestration %s history deserialization failed after %s: %s",
			m.Instance, limit, m.Error)
	}
	return "poison: exceeded " + limit
}

// line is the line before the JSON in Message, after a colon; empty when there is none.
func (d PoisonFailure) line() string {
	line, work, ok := strings.Cut(d.Message, "\n")
	if !ok || strings.HasPrefix(line, "[") || strings.HasPrefix(line, "{") || !strings.HasPrefix(work, "[") && !strings.HasPrefix(work, "{") {
		return ""
	}
	return ": " + line
}
