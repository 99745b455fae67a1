package wire

import (
	"fmt"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
)

// unsupported is what TDS has and this server has not.
func unsupported(format string, args ...any) *fault.Error {
	return fault.New(fault.Unsupported, fmt.Sprintf(format, args...)+" is not supported by tsqltest")
}

// brokenStream is the last word to a client that doesn't speak TDS.
func brokenStream(reason error) *fault.Error {
	return &fault.Error{
		Number: 4002, Class: 20, State: 1, Scope: fault.Connection,
		Message: fmt.Sprintf("The incoming tabular data stream (TDS) protocol stream is incorrect (%v).", reason),
	}
}

// internalError is a mistake of this server.
func internalError(reason error) *fault.Error {
	return &fault.Error{
		Number: fault.Unsupported, Class: 20, State: 1, Scope: fault.Connection, Message: fmt.Sprintf("tsqltest: %v", reason),
	}
}
