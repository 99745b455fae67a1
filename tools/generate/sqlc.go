package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/duroxide/duroxide-go/tsql/drift"
)

// What the generator reads, below the root of the repository. Nothing else is copied into its scratch folder, so that a
// path in the configuration that leads elsewhere fails at once.
const (
	configFile = "sqlc.yaml"
	sqlFolder  = "sql"
)

// plugin is the name of our own sqlc plugin: of its command and of its package in tsql/.
const plugin = "sqlc-gen-tsql"

// A generator writes what the sqlc.yaml at config asks for, beside that file. The repository is at root.
type generator func(ctx context.Context, root, config string) error

// building is held while sqlc is built, so that the second of two tests takes what the first has built.
var building sync.Mutex

// sqlc is the generator that is pinned in tools/pinned/go.mod. It runs in the folder of the configuration, to which the
// paths of plugins are relative as its own are.
//
// It is built without cgo: that leaves out PostgreSQL's parser in C, which nothing here needs, so that the same sqlc
// runs whether or not a machine has a C compiler, and a first build takes about a fifth less time.
func sqlc(ctx context.Context, root, config string) error {
	building.Lock()
	tool := exec.CommandContext(ctx, "go", "tool", "-modfile=tools/pinned/go.mod", "-n", "sqlc") // builds it and says where
	tool.Dir = root
	tool.Env = append(os.Environ(), "CGO_ENABLED=0")
	var problems bytes.Buffer
	tool.Stderr = &problems
	path, err := tool.Output()
	building.Unlock()
	if err != nil {
		return fmt.Errorf("building sqlc: %w\n%s", err, &problems)
	}
	plugins, err := buildPlugin(ctx, root, config)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, strings.TrimSpace(string(path)), "generate", "--file", config)
	cmd.Dir = filepath.Dir(config)
	cmd.Env = append(os.Environ(), "PATH="+plugins+string(os.PathListSeparator)+os.Getenv("PATH"))
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("sqlc generate: %w\n%s", err, output)
	}
	return nil
}

// buildPlugin builds our plugin if the configuration runs it, into a folder beside that file which the caller removes
// with it, and returns the folder. sqlc finds the command there rather than an older one that somebody has installed.
func buildPlugin(ctx context.Context, root, config string) (string, error) {
	bin := filepath.Join(filepath.Dir(config), "bin")
	text, err := os.ReadFile(config)
	if err != nil {
		return "", err
	}
	if runs, err := runsPlugin(text); err != nil || !runs {
		return bin, err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", bin+string(filepath.Separator), "./tsql/"+plugin)
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", plugin, err, output)
	}
	return bin, nil
}

// runsPlugin reports whether a sqlc configuration has our plugin. Without it, the plugin needn't be built. Whether the
// rest of the file makes sense is for sqlc to say.
func runsPlugin(config []byte) (bool, error) {
	var c struct {
		Plugins []struct {
			Process struct {
				Cmd string `yaml:"cmd"`
			} `yaml:"process"`
		} `yaml:"plugins"`
	}
	if err := yaml.Unmarshal(config, &c); err != nil {
		return false, fmt.Errorf("%s: %w", configFile, err)
	}
	for _, p := range c.Plugins {
		if p.Process.Cmd == plugin {
			return true, nil
		}
	}
	return false, nil
}

// generateTree runs generate on a copy of the inputs and returns what it wrote. The copy has no generated files, so
// that all that is there afterwards has been written.
func generateTree(ctx context.Context, root string, generate generator) (written drift.Tree, err error) {
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
	written, err = generatedFiles(scratch)
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
