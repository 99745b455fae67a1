package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// errNoDisk means that this process may not mount a disk of its own.
var errNoDisk = errors.New("may not mount a disk")

func init() { roles["fill"] = fill } //nolint:gochecknoinits // a role that only Linux has

// fill fills a small disk, mounted at path, with a store. It takes what else is there away, and goes on.
func fill(path, _ string) error {
	if err := syscall.Mount("tmpfs", path, "tmpfs", 0, "size=4m"); err != nil {
		return fmt.Errorf("%w: %w", errNoDisk, err)
	}
	other, file := filepath.Join(path, "other"), filepath.Join(path, "store.db")
	if err := os.WriteFile(other, make([]byte, 64<<10), 0o600); err != nil {
		return err
	}
	stored := uint64(0)
	untilFull := func(ctx context.Context, s *Store) error {
		for {
			err := s.EnqueueForOrchestrator(ctx, large(1000), 0)
			if errors.Is(err, ErrDiskFull) {
				return nil
			}
			if err != nil {
				return err
			}
			stored++
		}
	}
	err := withStore(file, func(ctx context.Context, s *Store) error {
		if err := untilFull(ctx, s); err != nil {
			return err
		}
		first := stored
		if err := os.Remove(other); err != nil {
			return err
		}
		if err := untilFull(ctx, s); err != nil {
			return err
		}
		if first < 1000 || stored < first+10 {
			return fmt.Errorf("%d messages of 1,000 bytes filled a disk of 4 MiB, and %d more 64 KiB", first, stored-first)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return withStore(file, func(ctx context.Context, s *Store) error {
		depths, err := s.GetQueueDepths(ctx)
		if err == nil && depths.OrchestratorQueue != stored {
			err = fmt.Errorf("%d messages were acknowledged, and %d are there", stored, depths.OrchestratorQueue)
		}
		return err
	})
}

// A store that has filled a small disk goes on as soon as a little room is free, and has lost nothing.
func TestSmallDiskThatIsFull(t *testing.T) {
	t.Parallel()
	cmd := child(t, t.Context(), "fill", t.TempDir(), "")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	var out bytes.Buffer
	cmd.Stderr = &out
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || strings.Contains(out.String(), errNoDisk.Error())) {
		t.Skipf("this process may not mount a disk of its own: %v %s", err, &out)
	}
	if err != nil {
		t.Errorf("%v: %s", err, &out)
	}
}
