// Command mutate changes one thing at a time in the T-SQL of the SQL Server store and shows what notices: the rules of
// sqlc-gen-tsql vet, the explorer's scenarios, or the conformance kit. A change that nothing notices is a case that the
// tests lack, or one that the list explains.
//
// It remembers what it has found in a file, so that a run may be stopped and goes on where it was. A mutant is asked
// about again when its text is another one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
)

func main() {
	var o options
	flag.StringVar(&o.root, "dir", ".", "`folder` of the repository")
	flag.StringVar(&o.results, "results", filepath.Join(os.TempDir(), "duroxide-mutants.jsonl"), "`file` of what was found, which is read and added to")
	flag.StringVar(&o.bin, "bin", "", "`folder` of programs that earlier runs have built, which are used as they are")
	flag.StringVar(&o.only, "run", "", "only mutants whose names match the `expression`")
	flag.StringVar(&o.finders, "finders", "", "only finders whose names match the `expression`")
	flag.IntVar(&o.parallel, "parallel", 2, "how `many` mutants at once")
	flag.BoolVar(&o.all, "all", false, "all mutants that are made mechanically, instead of a sample")
	flag.BoolVar(&o.again, "again", false, "ask again about mutants that survived")
	flag.BoolVar(&o.list, "list", false, "list the mutants, and ask nothing")
	report := flag.String("report", "", "write the results to this `file`, in Markdown")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, o, *report, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

type options struct {
	root, results, only, finders, bin string
	parallel                          int
	all, again, list                  bool
}

// errSurvived reports that a mutant survived that the list does not explain.
var errSurvived = errors.New("mutants survived that nobody has explained")

func run(ctx context.Context, o options, report string, out io.Writer) (err error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	texts, err := readTexts(o.root)
	if err != nil {
		return err
	}
	trials, err := prepare(texts, o.all, only)
	if err != nil {
		return err
	}
	if o.list {
		for _, t := range trials {
			fmt.Fprintf(out, "%s\t%s\n", t.kind, t.name)
		}
		return nil
	}
	known, err := readResults(o.results)
	if err != nil {
		return err
	}
	known.give(trials, o.again)
	lab, err := newLab(ctx, o.root, o.bin, texts, testPackages)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.close()) }()
	if err := ask(ctx, lab, trials, o, out); err != nil {
		return err
	}
	if report != "" {
		if err := writeReport(filepath.Join(o.root, report), trials); err != nil {
			return err
		}
	}
	return verdict(trials, out)
}

// verdict says how many were found, and fails if somebody has to look at a survivor.
func verdict(trials []*trial, out io.Writer) error {
	found, unexplained := 0, 0
	for _, t := range trials {
		if t.finder != "" {
			found++
		} else if t.survives == "" {
			unexplained++
			fmt.Fprintf(out, "survived: %s\n", t.name)
		}
	}
	fmt.Fprintf(out, "%d of %d mutants found\n", found, len(trials))
	if unexplained > 0 {
		return errSurvived
	}
	return nil
}
