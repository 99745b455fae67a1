package vet_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/syntax"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/vet"
)

func TestZZ(t *testing.T) {
	out, _ := os.Create("/tmp/vetdrv/out.txt")
	counts := map[string]int{}
	n := 0
	for _, root := range strings.Fields(os.Getenv("VETROOTS")) {
		filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(strings.ToLower(p), ".sql") {
				return nil
			}
			b, _ := os.ReadFile(p)
			if len(b) > 2<<20 || strings.Contains(string(b[:min(len(b), 100)]), "\x00") {
				return nil
			}
			n++
			script, _ := syntax.Parse(diag.NewFile(p, string(b)))
			set, _ := directive.Read(script)
			in := vet.Input{Scripts: []*syntax.Script{script}, Directives: []*directive.Set{set}}
			if os.Getenv("VETALL") != "" {
				in.Options.Enable = []string{"all"}
				in.Options.Portability = []string{"babelfish"}
			}
			in.Catalog, _ = catalog.Build(in.Scripts, in.Directives, catalog.Options{})
			found := vet.Run(in)
			for _, d := range found {
				counts[d.Rule]++
			}
			fmt.Fprint(out, found.Format())
			return nil
		})
	}
	fmt.Println(n, counts)
}
