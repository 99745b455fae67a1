package tsqltest

import (
	"context"
	"fmt"
	"io/fs"
	"testing"

	"github.com/duroxide/duroxide-go/internal/tsql/diag"
	"github.com/duroxide/duroxide-go/internal/tsql/syntax"
)

// Apply executes scripts: the files of fsys that match the patterns of [fs.Glob], pattern by pattern, each in the order of
// their names. GO lines separate batches. The first error fails the test, with file and line.
func (s *Server) Apply(t testing.TB, fsys fs.FS, patterns ...string) {
	t.Helper()
	if err := s.ApplyFS(t.Context(), fsys, patterns...); err != nil {
		t.Fatal(err)
	}
}

// ApplyFS is Apply outside of a test.
func (s *Server) ApplyFS(ctx context.Context, fsys fs.FS, patterns ...string) error {
	for _, pattern := range patterns {
		names, err := fs.Glob(fsys, pattern)
		if err != nil {
			return fmt.Errorf("tsqltest: %q: %w", pattern, err)
		}
		if len(names) == 0 {
			return fmt.Errorf("tsqltest: no file matches %q", pattern)
		}
		for _, name := range names {
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				return fmt.Errorf("tsqltest: %w", err)
			}
			if err := s.ApplyText(ctx, name, string(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ApplyText executes a script. The name is for messages.
func (s *Server) ApplyText(ctx context.Context, name, text string) error {
	c, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	file := diag.NewFile(name, text)
	script, found := syntax.Parse(file)
	if len(found) > 0 {
		return fmt.Errorf("tsqltest: %s", found.Format())
	}
	for _, batch := range script.Batches {
		line, _ := file.Position(batch.Range().From)
		for range batch.Count {
			if _, err := c.Exec(ctx, file.Slice(batch.Range())); err != nil {
				return fmt.Errorf("tsqltest: %s, batch at line %d: %w", name, line, err)
			}
		}
	}
	return nil
}
