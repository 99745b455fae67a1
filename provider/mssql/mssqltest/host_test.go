package mssqltest

import (
	"bytes"
	"strings"
	"testing"
)

// recorder is a test that is told what to do, and does it not.
type recorder struct {
	testing.TB
	skipped, failed string
}

// stop is what a recorder panics with, as Skip and Fatal do not return.
type stop struct{}

func (*recorder) Helper() {}

func (r *recorder) Skip(args ...any) {
	r.skipped, _ = args[0].(string)
	panic(stop{})
}

func (r *recorder) Fatal(args ...any) {
	r.failed = "failed"
	if text, ok := args[0].(string); ok {
		r.failed = text
	}
	panic(stop{})
}

// use lets a test ask the host for its server.
func use(h *host) (r recorder) {
	defer func() {
		if p := recover(); p != nil && p != (stop{}) {
			panic(p)
		}
	}()
	h.use(&r)
	return r
}

func TestWithoutVariableTheServerIsInThisProcess(t *testing.T) {
	t.Parallel()
	h := &host{getenv: func(string) string { return "" }}
	var stderr bytes.Buffer
	h.begin()
	if line := h.describe(); !strings.Contains(line, "tsqltest") || strings.Contains(line, "\n") {
		t.Errorf("%q", line)
	}
	if r := use(h); r.skipped != "" || r.failed != "" {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(h.ready.facts.Version, "tsqltest") {
		t.Errorf("the server calls itself %q", h.ready.facts.Version)
	}
	h.close(&stderr)
	if stderr.Len() > 0 {
		t.Error(stderr.String())
	}
}

func TestWithoutServerTestsFailIfItIsRequired(t *testing.T) {
	t.Parallel()
	h := &host{getenv: func(name string) string {
		if name == RequiredVariable {
			return "1"
		}
		return ""
	}}
	h.begin()
	if r := use(h); r.skipped != "" || !strings.Contains(r.failed, URLVariable) {
		t.Errorf("%+v", r)
	}
}

func TestWithoutRunTestsFail(t *testing.T) {
	t.Parallel()
	h := &host{getenv: func(string) string { return "" }}
	if r := use(h); !strings.Contains(r.failed, "mssqltest.Run") {
		t.Errorf("%+v", r)
	}
}

func TestAServerThatIsNotThereFailsTests(t *testing.T) {
	t.Parallel()
	// Nobody listens on port 1 of this machine.
	h := &host{getenv: func(name string) string {
		if name == URLVariable {
			return "sqlserver://u:secret@127.0.0.1:1?encrypt=disable"
		}
		return ""
	}}
	h.begin()
	if r := use(h); r.failed == "" {
		t.Errorf("%+v", r)
	}
	if err := h.open(); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	var stderr bytes.Buffer
	h.close(&stderr)
	if stderr.Len() > 0 {
		t.Error(stderr.String())
	}
}
