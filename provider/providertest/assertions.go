package providertest

import (
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/provider"
)

// violated ends the scenario. rule quotes the contract: "§5.2: …".
func (e *env) violated(rule, format string, args ...any) {
	e.Helper()
	e.Fatalf("violates %s\n\t%s", rule, fmt.Sprintf(format, args...))
}

// violation is violated for a goroutine, which has to return its failure.
func violation(rule, format string, args ...any) error {
	return fmt.Errorf("violates %s\n\t%s", rule, fmt.Sprintf(format, args...))
}

// check ends the scenario unless ok.
func (e *env) check(ok bool, rule, format string, args ...any) {
	e.Helper()
	if !ok {
		e.violated(rule, format, args...)
	}
}

// ok ends the scenario when a call failed that must succeed.
func (e *env) ok(err error, rule string) {
	e.Helper()
	if err != nil {
		e.violated(rule, "unexpected error: %v", err)
	}
}

// permanent ends the scenario unless err is a permanent [*provider.Error] that
// matches target.
func (e *env) permanent(err, target error, rule string) {
	e.Helper()
	if err == nil {
		e.violated(rule, "the call succeeded, want a permanent error matching %q", target)
	}
	if _, ok := errors.AsType[*provider.Error](err); !ok {
		e.violated(rule, "error %v is no *provider.Error", err)
	}
	if provider.IsRetryable(err) {
		e.violated(rule, "error %v is retryable, want permanent", err)
	}
	if !errors.Is(err, target) {
		e.violated(rule, "error %v does not match %q", err, target)
	}
}
