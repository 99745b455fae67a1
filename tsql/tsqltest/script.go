package tsqltest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Apply executes scripts: the files of fsys that match the patterns (see fs.Glob), pattern by pattern. The files of
// one pattern are executed in the order of their names. GO lines separate batches. The first error fails the test,
// with file and line.
func (s *Server) Apply(t testing.TB, fsys fs.FS, patterns ...string) {
	t.Helper()
	if err := s.ApplyFS(t.Context(), fsys, patterns...); err != nil {
		t.Fatal(err)
	}
}

// ApplyFS is like [Server.Apply] but returns the first error.
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

// ApplyText executes a script. Error messages use name as the name of its file.
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
		line, column := file.Position(batch.Range().From)
		origin := origin{name: name, line: line, column: column, module: batch.Module != nil}
		for range batch.Count {
			if _, err := c.Exec(ctx, file.Slice(batch.Range())); err != nil {
				return fmt.Errorf("tsqltest: %w", origin.of(err))
			}
		}
		if batch.Module != nil && name != "" {
			s.modules.Store(moduleName(batch.Module.Name), origin)
		}
	}
	return nil
}

// moduleName is a name with its schema, in lower case.
func moduleName(n *syntax.ObjectName) string {
	schema, name := "dbo", n.Last().Value
	if len(n.Parts) > 1 {
		schema = n.Parts[len(n.Parts)-2].Value
	}
	return strings.ToLower(schema + "." + name)
}

// origin is where a batch stands in a script.
type origin struct {
	name         string
	line, column int
	module       bool // the batch defines a module, so that lines of the module are lines of the batch
}

// of turns the places of errors in the batch into places of the script.
func (o origin) of(err error) error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var list []error
		for _, one := range several.Unwrap() {
			list = append(list, o.of(one))
		}
		return errors.Join(list...)
	}
	e, ok := errors.AsType[*Error](err)
	if !ok || e.dynamic || e.Procedure != "" && !o.module {
		// The lines are those of another text.
		return fmt.Errorf("%s: %w", o.place(o.line), err)
	}
	moved := *e
	moved.Line, moved.File = moved.Line+int32(o.line)-1, o.name
	moved.Message = placeNote.ReplaceAllStringFunc(moved.Message, o.note)
	return &moved
}

// placeNote is the place at the end of the messages about what is not supported: batch, or the name of a module, with
// line and column.
var placeNote = regexp.MustCompile(`\(([^():]+):(\d+):(\d+)\)$`)

// note turns such a place into one of the script.
func (o origin) note(note string) string {
	parts := placeNote.FindStringSubmatch(note)
	line, err := strconv.Atoi(parts[2])
	if err != nil {
		return note
	}
	column, err := strconv.Atoi(parts[3])
	if err != nil {
		return note
	}
	if line == 1 {
		column += o.column - 1
	}
	return fmt.Sprintf("(%s:%d)", o.place(line+o.line-1), column)
}

// place is a line of the script as messages show it.
func (o origin) place(line int) string {
	if o.name == "" {
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("%s:%d", o.name, line)
}
