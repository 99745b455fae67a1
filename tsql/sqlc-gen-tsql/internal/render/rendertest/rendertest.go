// Package rendertest checks that generated packages compile, for any test that generates one. It runs the type checker in
// the process of the test: to build each package with the go command would take a second, and there are hundreds.
package rendertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
)

// dependencies are what generated code may import; whatever these import is found with them. The list is written out
// rather than taken from package render, so that a package too many is noticed.
var dependencies = []string{
	"github.com/microsoft/go-mssqldb", "github.com/shopspring/decimal", "github.com/golang-sql/civil",
	"context", "database/sql", "encoding/hex", "errors", "fmt", "iter", "math", "math/big", "slices", "strconv", "strings",
	"time", "unicode/utf8",
}

// exports finds the compiled form of every package that generated code may see. The go command is asked once for all
// tests of a binary, and needs no network.
var exports = sync.OnceValues(func() (map[string]string, error) {
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, dependencies...)
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOPROXY=off")
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, problems.String())
	}
	files := map[string]string{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		files[p.ImportPath] = p.Export
	}
})

// shared keeps the packages that were read, so that a further check costs only the generated code. Neither the importer nor
// the set of files is safe for concurrent use, and a lock costs less than to read the packages again.
var shared struct {
	sync.Mutex
	imports types.Importer
	files   *token.FileSet
}

// Check type-checks a generated package, and returns all that the compiler would say.
func Check(files map[string][]byte) error {
	found, err := exports()
	if err != nil {
		return err
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.imports == nil {
		shared.files = token.NewFileSet()
		shared.imports = importer.ForCompiler(shared.files, "gc", func(path string) (io.ReadCloser, error) {
			if found[path] == "" {
				return nil, fmt.Errorf("generated code may not import %s", path)
			}
			return os.Open(found[path])
		})
	}
	var parsed []*ast.File
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file, err := parser.ParseFile(shared.files, name, files[name], parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed = append(parsed, file)
	}
	var problems []error
	config := types.Config{Importer: shared.imports, GoVersion: "go1.26", Error: func(err error) { problems = append(problems, err) }}
	_, err = config.Check("generated", shared.files, parsed, nil)
	if len(problems) > 0 {
		err = errors.Join(problems...)
	}
	return err
}
