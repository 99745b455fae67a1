// Command generate writes the Go code under gen/ from the SQL under sql/, and the walker of the T-SQL tree from the
// types of its nodes. With -verify it checks that gen/ and the walker are exactly what it would write, and names every
// file that is missing, changed or left over.
//
// sqlc alone is not enough for either. It never removes a file whose queries are gone, and its own diff looks only at
// the files it would write, so a stale one stays invisible. This command lets sqlc write into an empty scratch folder
// and compares whole trees; writing and verifying differ only in what happens to the differences.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/duroxide/duroxide-go/tsql/drift"
)

// repair is the command that makes -verify succeed. It is printed with every complaint.
const repair = "make generate"

// genFolder is the folder, below the root of the repository, that holds generated code and nothing else.
const genFolder = "gen"

// errDrift reports that gen/ or the walker is not what the SQL, sqlc.yaml and the node types ask for. The
// differences are already printed.
var errDrift = errors.New("generated code is out of date")

func main() {
	verify := flag.Bool("verify", false, "change nothing; fail if gen/ or the walker is not up to date")
	flag.Parse()

	root, err := findRoot()
	if err == nil {
		err = run(context.Background(), root, everything, *verify, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// findRoot climbs from the working directory to the folder that holds sqlc.yaml: make runs this command at the root, a
// test in its own folder, a developer anywhere.
func findRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, configFile)); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no %s in %s or above it", configFile, start)
		}
	}
}

// run generates in a scratch folder and then reports the differences to what is under root (verify) or carries them
// out.
func run(ctx context.Context, root string, generate generator, verify bool, out io.Writer) error {
	want, err := generateTree(ctx, root, generate)
	if err != nil {
		return err
	}
	have, err := generatedFiles(root)
	if err != nil {
		return err
	}
	differences := drift.Compare(want, have)
	if !verify {
		return drift.Apply(root, want, differences, out)
	}
	if len(differences) == 0 {
		fmt.Fprintf(out, "generated code is up to date (%d files)\n", len(want))
		return nil
	}
	for _, d := range differences {
		fmt.Fprintln(out, d)
	}
	return fmt.Errorf("%w; repair with: %s", errDrift, repair)
}
