// Command firstday asks a SQL Server what only a SQL Server can answer about the store: whether the engine compiles
// every procedure, which plans it makes of the pinned statements, what an orchestration costs, and whether work
// survives damaged indexes, long transactions and killed sessions. It writes a report in Markdown, with the plans as
// .sqlplan files beside it, that says of each check whether it held, did not hold, or was not asked and why.
//
//	DUROXIDE_TEST_MSSQL='sqlserver://sa:password@host:1433?database=master' go run ./tools/firstday
//	make first-day    # the same; without the variable, with SQL Server in a container
//
// It runs in the root of the repository. The login creates a database for each compatibility level, with row versions
// and without, and drops it afterwards; nothing else on the server is changed. A login that may not create databases,
// and one of Azure SQL Database, works in the database that the URL names, as it is set, which must not have a schema
// duroxide; the schema is dropped afterwards.
//
// The exit code is 1 if a check did not hold, and 2 if there is no report.
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
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/microsoft/go-mssqldb" // the driver "sqlserver"
)

// urlVariable holds the URL of the server, as for the tests.
const urlVariable = "DUROXIDE_TEST_MSSQL"

// Exit codes.
const (
	exitFailed   = 1
	exitNoReport = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv(urlVariable), os.Stderr)
	stop()
	os.Exit(code)
}

// options are what the command line says.
type options struct {
	// root is the folder of the repository, out that of the report.
	root, out string
	// sizes are how many instances the tables hold while plans are looked at.
	sizes []int
	// levels are the compatibility levels, all of the server's if empty.
	levels []int
	// quick is for a server in the process of a test: the rigs do each kind of thing a few times.
	quick bool
}

// run carries out a command line and returns the exit code.
func run(ctx context.Context, args []string, url string, stderr io.Writer) int {
	flags := flag.NewFlagSet("firstday", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var o options
	flags.StringVar(&o.root, "root", ".", "`folder` of the repository")
	flags.StringVar(&o.out, "out", "first-day", "`folder` for the report and the plans")
	sizes := flags.String("sizes", "0,1000,100000", "`numbers` of instances in the tables while plans are made, smallest first")
	levels := flags.String("levels", "", "compatibility `levels` (default: 130 to the server's highest)")
	flags.BoolVar(&o.quick, "quick", false, "do each kind of thing a few times only")
	if err := flags.Parse(args); err != nil {
		return exitNoReport
	}
	var err error
	if o.sizes, err = numbers(*sizes); err == nil {
		o.levels, err = numbers(*levels)
	}
	if err == nil && url == "" {
		err = errors.New("no server: set " + urlVariable + ", or run make first-day, which starts one in Docker")
	}
	var r *report
	if err == nil {
		r, err = firstDay(ctx, o, url, stderr)
	}
	if err != nil {
		fmt.Fprintln(stderr, "firstday:", err)
		return exitNoReport
	}
	fmt.Fprintf(stderr, "firstday: %s; see %s\n", r.sum(), filepath.Join(o.out, reportFile))
	if r.count(failed) > 0 {
		return exitFailed
	}
	return 0
}

// numbers reads a list such as 0,1000.
func numbers(list string) (all []int, err error) {
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("%q is not a list of numbers", list)
		}
		all = append(all, n)
	}
	return all, nil
}

// firstDay makes the checks and writes the report.
func firstDay(ctx context.Context, o options, url string, log io.Writer) (_ *report, err error) {
	if err := os.RemoveAll(filepath.Join(o.out, plansFolder)); err != nil {
		return nil, err
	}
	s, err := connect(ctx, url, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	r := &report{facts: s.facts, began: time.Now()}
	for _, c := range s.configs() {
		r.configs = append(r.configs, c)
		if err := inspect(ctx, s, c, r, log); err != nil {
			return nil, fmt.Errorf("%s: %w", c, err)
		}
	}
	r.took = time.Since(r.began)
	if err := r.write(o.out); err != nil {
		return nil, err
	}
	return r, nil
}

// inspect makes the checks in a database with one configuration.
func inspect(ctx context.Context, s *server, c config, r *report, log io.Writer) (err error) {
	site, err := s.open(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, site.close(context.WithoutCancel(ctx))) }()
	applied := true
	for _, check := range checks {
		var result result
		began := time.Now()
		switch why := check.skip(site); {
		case why == leaveOut:
			continue
		case !applied:
			result = unasked("the schema was not applied")
		case why != "":
			result = unasked("%s", why)
		default:
			result = check.run(ctx, site)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if check.name == schemaCheck {
			applied = result.outcome == held
		}
		fmt.Fprintf(log, "firstday: %-22s %-24s %s (%.1f s)\n", c, check.name, result.outcome, time.Since(began).Seconds())
		r.add(check.name, c, result)
	}
	return nil
}
