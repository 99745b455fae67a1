package cli_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/cli"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// newTerminal opens a pseudo-terminal: what is written to one end is read at the other.
func newTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	var number, locked int32
	for request, value := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &locked} {
		if _, _, code := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), request, uintptr(unsafe.Pointer(value))); code != 0 {
			t.Fatal(code)
		}
	}
	if program, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

// deletions is a store that counts what is deleted.
type deletions struct {
	*sqlite.Store
	deleted *int
}

func (d deletions) DeleteInstanceBulk(ctx context.Context, filter provider.InstanceFilter) (provider.DeleteInstanceResult, error) {
	*d.deleted++
	return d.Store.DeleteInstanceBulk(ctx, filter)
}

// On a terminal purge asks what it may delete, and goes by the answer. Nothing but a yes deletes.
func TestPurgeAsksOnATerminal(t *testing.T) {
	t.Parallel()
	for answer, deletes := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "yes, but\n": false} {
		t.Run(strings.TrimSpace(answer), func(t *testing.T) {
			t.Parallel()
			person, program := newTerminal(t)
			asked := make(chan string, 1)
			go func() {
				question, _ := bufio.NewReader(person).ReadString(']')
				asked <- question
				_, _ = person.WriteString(answer)
			}()
			deleted := 0
			var complaints strings.Builder
			code := cli.Run(t.Context(), cli.Env{
				Args:  []string{"purge", "--older-than", "0s", "--store", "test:"},
				Stdin: program, Stdout: program, Stderr: &complaints,
				Getenv:     func(string) string { return "" },
				Executable: func() (string, error) { return "", errors.New("there is no program") },
				Stores: cli.Stores{"test": func(ctx context.Context, _ string, _ bool) (cli.Store, error) {
					store, err := openCancelled(ctx, "", false)
					if err != nil {
						return nil, err
					}
					time.Sleep(2 * time.Millisecond) // times are in milliseconds, and what ends now has not ended before now
					return deletions{store.(*sqlite.Store), &deleted}, nil
				}},
			})
			if question := <-asked; !strings.Contains(question, "Delete what ended before ") || !strings.HasSuffix(question, "for ever? [y/N]") {
				t.Errorf("it asks %q", question)
			}
			if deletes && (code != cli.ExitOK || deleted == 0) || !deletes && (code != cli.ExitFailure || deleted > 0 || !strings.Contains(complaints.String(), "nothing was deleted")) {
				t.Errorf("exit code %d, %d deletions: %s", code, deleted, &complaints)
			}
		})
	}
}
