package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/generate"
)

// vet applies the lint rules. It says how many files it has read if it finds nothing, for a pattern that names too
// few looks like clean scripts.
func (a *app) vet(_ context.Context, args []string) error {
	in, err := a.parse(flag.NewFlagSet("vet", flag.ContinueOnError), args)
	if err != nil {
		return err
	}
	findings := generate.Vet(in.sources, in.config)
	if len(findings) == 0 {
		fmt.Fprintf(a.stdout, "nothing found in %s\n", filesOf(len(in.sources)))
	}
	return a.report(findings)
}

// filesOf counts files for people.
func filesOf(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}
