package sqlite

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/leaktest"

	"github.com/duroxide/duroxide-go/internal/testsupport/racing"
	"github.com/duroxide/duroxide-go/provider"
)

const (
	millisecond = time.Millisecond
	second      = time.Second
)

// childEnv makes this test binary run a part of itself, as another process that
// uses the same file.
const childEnv = "DUROXIDE_SQLITE_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		if err := roles[role](os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	setDefaults()
	leaktest.Main(m)
}

// setDefaults chooses other defaults for the flags that the command line leaves out:
// more tests at once than there are processors, because most of them wait for a lease
// to end, and fewer random cases where each takes long.
func setDefaults() {
	flag.Parse()
	defaults := map[string]string{"test.parallel": "32"}
	if racing.On {
		defaults["rapid.checks"] = "10"
	}
	flag.Visit(func(f *flag.Flag) { delete(defaults, f.Name) })
	for name, value := range defaults {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
}

// roles are what a child process can do with a database file.
var roles = map[string]func(path, argument string) error{
	// enqueue adds a message for one instance.
	"enqueue": func(path, instance string) error {
		return withStore(path, func(ctx context.Context, store *Store) error {
			return store.EnqueueForOrchestrator(ctx, start(instance), 0)
		})
	},
	// flood adds messages for ever and prints a line for each that is stored.
	"flood": func(path, instance string) error {
		return withStore(path, func(ctx context.Context, store *Store) error {
			for {
				if err := store.EnqueueForOrchestrator(ctx, start(instance), 0); err != nil {
					return err
				}
				fmt.Println("stored")
			}
		})
	},
}

func withStore(path string, f func(context.Context, *Store) error) error {
	ctx := context.Background()
	store, err := Open(ctx, path, Options{BusyTimeout: 30 * time.Second})
	if err != nil {
		return err
	}
	defer store.Close()
	return f(ctx, store)
}

// child prepares a child process.
func child(t *testing.T, ctx context.Context, role, path, argument string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(ctx, os.Args[0], path, argument)
	cmd.Env = append(os.Environ(), childEnv+"="+role)
	return cmd
}

// after is a point in time to come.
func after(d time.Duration) <-chan time.Time { return time.After(d) }

// isLost reports whether a token no longer opens anything.
func isLost(err error) bool { return errors.Is(err, provider.ErrLockLost) }
