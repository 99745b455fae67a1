package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	configFile = "sqlc.yaml"
	sqlFolder  = "sql"
)

// A generator writes what the sqlc.yaml at config asks for, beside that file. Its working directory is root.
type generator func(ctx context.Context, root, config string) error

// sqlc is the generator that is pinned in tools/go.mod.
//
// It is built without cgo: that leaves out PostgreSQL's parser in C, which nothing here needs, so that the same sqlc
// runs whether or not a machine has a C compiler, and a first build takes about a fifth less time.
func sqlc(ctx context.Context, root, config string) error {
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile=tools/go.mod", "sqlc", "generate", "--file", config)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("sqlc generate: %w\n%s", err, output)
	}
	return nil
}

// generateTree runs generate on a copy of the inputs and returns what it wrote below gen/.
func generateTree(ctx context.Context, root string, generate generator) (written tree, err error) {
	scratch, err := os.MkdirTemp("", "duroxide-generate-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()

	if err := copyInputs(root, scratch); err != nil {
		return nil, err
	}
	if err := generate(ctx, root, filepath.Join(scratch, configFile)); err != nil {
		return nil, err
	}
	written, err = readTree(scratch, genFolder)
	if err == nil && len(written) == 0 {
		// Taken at its word, an empty result would empty gen/.
		err = fmt.Errorf("%s wrote no file below %s/", configFile, genFolder)
	}
	return written, err
}

// copyInputs copies the configuration and the SQL, to which its paths are relative.
func copyInputs(root, scratch string) error {
	config, err := os.ReadFile(filepath.Join(root, configFile))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(scratch, configFile), config, 0o600); err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(scratch, sqlFolder), os.DirFS(filepath.Join(root, sqlFolder)))
}
