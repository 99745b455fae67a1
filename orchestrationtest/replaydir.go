package orchestrationtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/internal/sealed"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// ReplayDir replays the histories in a folder against these orchestrations, each in a subtest named after the file. A
// subtest fails if the code no longer fits the history; on a worker such an instance would fail. The files are those
// that `duroxide history --into` or `duroxide history --json` writes, of running or ended instances. The history of
// an ended instance also covers every instance that has reached one of its events. After the end of a history the
// code may ask for anything. Code that panics does not fit, unless the recorded code panicked, too. Nor does code
// that uses its context in another goroutine.
//
//	func TestRunningOrdersGoOn(t *testing.T) {
//		orchestrationtest.ReplayDir(t, "testdata/histories", firstOrder, newOrder, payment)
//	}
//
// A history does not contain keys of the key-value map that an earlier execution set, so code that decides by such
// keys is checked only in first executions.
//
// Payloads that are encoded in the store are also encoded in the files; pass [Codec] among the definitions to decode
// them. Failures show no payloads.
func ReplayDir(t *testing.T, dir string, definitions ...worker.Registrable) {
	t.Helper()
	code, err := codeOf(definitions)
	if err != nil {
		t.Fatalf("orchestrationtest.ReplayDir: %v", err)
	}
	files, err := histories(dir)
	if err != nil {
		t.Fatalf("orchestrationtest.ReplayDir: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			if err := code.replay(t.Context(), file); err != nil {
				t.Error(err)
			}
		})
	}
}

// histories lists the files in a folder, of which there must be one at least.
func histories(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("there is no *.json in %s; `duroxide history --into %[1]s` writes histories into it", dir)
	}
	return files, err
}

// recording is the part of `duroxide history --json` that a replay needs.
type recording struct {
	Instance    string           `json:"instance"`
	ExecutionID uint64           `json:"execution_id"`
	Events      []provider.Event `json:"events"`
}

// replay replays the history in a file.
func (c code) replay(ctx context.Context, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var rec recording
	if err := json.Unmarshal(data, &rec); err != nil {
		return fmt.Errorf("%s is not what `duroxide history --json` writes: %w", file, err)
	}
	if err := c.check(ctx, rec.Events); err != nil {
		return fmt.Errorf("%q, execution %d: %w", rec.Instance, rec.ExecutionID, err)
	}
	return nil
}

func (c code) check(ctx context.Context, history []provider.Event) error {
	history, err := sealed.OpenEvents(ctx, c.codec, history)
	if errors.Is(err, codec.ErrNotDecoded) && c.codec == nil {
		return fmt.Errorf("%w: give ReplayDir the workers' codec, as orchestrationtest.Codec(c)", err)
	}
	if err != nil {
		return err
	}
	misfit, err := c.registry.Check(ctx, history, replay.Turn{
		FrameworkVersion: provider.FrameworkVersion, ActivityRetry: c.retry, BlockedAfter: blockedAfter,
	})
	if misfit != nil {
		return errors.New(misfit.Now())
	}
	return err
}

// Save writes the history of an instance's latest execution into a folder, as `duroxide history --into` does, for a
// later [ReplayDir]. The file is named after the instance, with "_" in place of characters that file names should not
// have.
func (e *Env) Save(dir, instance string) {
	e.t.Helper()
	in := e.instance(instance)
	data, err := json.MarshalIndent(recording{Instance: in.id, ExecutionID: in.execution, Events: in.history}, "", "  ")
	if err == nil {
		err = os.MkdirAll(dir, 0o750)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, fileName(instance)+".json"), data, 0o600)
	}
	if err != nil {
		e.t.Fatalf("saving the history of %q: %v", instance, err)
	}
}

func fileName(instance string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, instance)
}
