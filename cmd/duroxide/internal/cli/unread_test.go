package cli_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/cli"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// unread is a store whose histories cannot be decoded.
type unread struct{ *sqlite.Store }

var errUnread = provider.Permanent("read", "event 2: unknown event type", provider.ErrCorrupt)

func (unread) Read(context.Context, string) ([]provider.Event, error) { return nil, errUnread }

func (unread) GetInstanceStats(context.Context, string) (*provider.InstanceStats, error) {
	return nil, errUnread
}

// openUnread is such a store with an instance "o" that is held.
func openUnread(ctx context.Context, _ string, _ bool) (cli.Store, error) {
	opened, err := openShort(ctx, "", false)
	if err != nil {
		return nil, err
	}
	store := opened.(short).Store
	if err := store.EnqueueForOrchestrator(ctx, provider.ExternalRaisedItem{Instance: "o", Name: "go"}, 0); err != nil {
		return nil, err
	}
	fetch := provider.FetchOrchestrationParams{LockTimeout: time.Minute, Known: provider.Know(provider.CodeName{Name: "Order", Version: "2.0.0"})}
	fetched, err := store.FetchOrchestrationItem(ctx, fetch)
	if err != nil {
		return nil, err
	}
	return unread{store}, store.AbandonOrchestrationItem(ctx, provider.AbandonParams{
		LockToken: fetched.LockToken, Delay: time.Hour, IgnoreAttempt: true, Misfit: "its history cannot be read: event 2: unknown event type",
	})
}

// An instance whose history cannot be read is shown as held, and why, where there was an error alone.
func TestUnreadableHistoryIsShown(t *testing.T) {
	t.Parallel()
	const reason = "its history cannot be read: event 2: unknown event type"
	for _, test := range []struct {
		args   string
		code   int
		want   string
		stderr string
	}{
		{"status o", cli.ExitOK, reason, ""},
		{"status o --json", cli.ExitOK, `"status":"Held"`, ""},
		{"status o --wait --timeout 50ms", cli.ExitTimeout, "", reason},
		{"list", cli.ExitOK, "Held", ""},
		{"metrics", cli.ExitOK, reason, ""},
		{"doctor", cli.ExitOK, reason, ""},
	} {
		code, stdout, stderr := run(t.Context(), cli.Stores{"test": openUnread}, append(strings.Fields(test.args), "--store", "test:")...)
		if code != test.code || !strings.Contains(stdout, test.want) || !strings.Contains(stderr, test.stderr) {
			t.Errorf("%s: exit code %d\n%s\n%s", test.args, code, stdout, stderr)
		}
	}
}
