package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/duroxide/duroxide-go/tsql/drift"
)

// The walker of the T-SQL tree, which is generated from the node types beside it.
const (
	syntaxFolder = "tsql/internal/syntax"
	walkerFile   = syntaxFolder + "/children.go"
)

// everything is the generator of all generated code.
func everything(ctx context.Context, root, config string) error {
	if err := sqlc(ctx, root, config); err != nil {
		return err
	}
	return walker(ctx, root, config)
}

// walker is the generator of the walker.
func walker(ctx context.Context, root, config string) error {
	file := filepath.Join(filepath.Dir(config), walkerFile)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "run", "./"+syntaxFolder+"/walkgen", "-o", file, syntaxFolder)
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("walkgen: %w\n%s", err, output)
	}
	return nil
}

// generatedFiles reads the generated files below a root.
func generatedFiles(root string) (drift.Tree, error) {
	files, err := drift.ReadTree(root, genFolder)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, walkerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return files, nil
	}
	files[walkerFile] = text
	return files, err
}
