package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// progress prints a line for each package that is done, what the failed tests have printed, and now and then a line
// that says how far it is.
type progress struct {
	out   io.Writer
	total int // packages
	start time.Time

	mu           sync.Mutex
	compiled     int    // packages, those of libraries included
	compiling    string // what go build has named last, until it ends
	done, failed int    // packages
	passed       int    // tests
	running      []string
	printed      map[string]*output // by package
	tests        map[string]string  // how a test of this name ended: pass, skip or fail; in several packages, the best of it
	server       string             // what the tests say of their T-SQL server
}

// output is what the tests of a package have printed that have not passed.
type output struct {
	order []string // names of tests
	lines map[string][]string
	begun []string // the tests that have not ended
}

// An event is one of go test -json: see go doc test2json, and go help buildjson.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

func newProgress(out io.Writer, total int) *progress {
	return &progress{out: out, total: total, start: time.Now(), printed: map[string]*output{}, tests: map[string]string{}}
}

// every prints how far it is at intervals, until stop is called.
func (p *progress) every(interval time.Duration) (stop func()) {
	ticker, end := time.NewTicker(interval), make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		for {
			select {
			case <-ticker.C:
				p.tell()
			case <-end:
				return
			}
		}
	})
	return func() {
		ticker.Stop()
		close(end)
		waiting.Wait()
	}
}

func (p *progress) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := "compiling tests"
	switch {
	case p.compiling != "":
		now = fmt.Sprintf("compiling %s, package %d", p.compiling, p.compiled)
	case len(p.running) > 0:
		now = "testing " + strings.Join(p.running, ", ")
	}
	p.line("...   %d of %d packages, %d tests have passed; %s", p.done, p.total, p.passed, now)
}

// line prints a line behind the time.
func (p *progress) line(format string, args ...any) {
	fmt.Fprintf(p.out, "%5.0f s  %s\n", time.Since(p.start).Seconds(), fmt.Sprintf(format, args...))
}

// compile takes what go build -v says: the names of packages as it compiles them, and what is wrong with them.
func (p *progress) compile(names io.Reader) {
	for lines := bufio.NewScanner(names); lines.Scan(); {
		p.mu.Lock()
		if line := lines.Text(); strings.ContainsAny(line, " :") {
			fmt.Fprintln(p.out, line)
		} else {
			p.compiled++
			p.compiling = short(line)
		}
		p.mu.Unlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.compiling = ""
}

// read takes the events of one go test, and reports whether a package has failed.
func (p *progress) read(events io.Reader) (failed bool, err error) {
	for decoder := json.NewDecoder(events); ; {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			return failed, nil
		} else if err != nil {
			return failed, fmt.Errorf("reading what go test says: %w", err)
		}
		failed = failed || e.Action == "fail" && e.Test == ""
		p.take(e)
	}
}

func (p *progress) take(e event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case e.Action == "build-output":
		fmt.Fprint(p.out, e.Output)
	case e.Action == "output":
		p.keep(e)
	case e.Action == "start":
		p.running = append(p.running, short(e.Package))
	case e.Action == "run":
		printed := p.of(e.Package)
		printed.begun = append(printed.begun, e.Test)
	case e.Test != "":
		p.endOfTest(e)
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
		p.endOfPackage(e)
	}
}

// keep remembers what a test prints until it has passed.
func (p *progress) keep(e event) {
	if strings.HasPrefix(e.Output, "=== ") {
		return
	}
	if strings.HasPrefix(e.Output, "T-SQL server: ") {
		p.server = e.Output
	}
	p.of(e.Package).add(e.Test, e.Output)
}

func (o *output) add(test, line string) {
	if o.lines[test] == nil {
		o.order = append(o.order, test)
	}
	o.lines[test] = append(o.lines[test], line)
}

// of returns the output of a package.
func (p *progress) of(pkg string) *output {
	if p.printed[pkg] == nil {
		p.printed[pkg] = &output{lines: map[string][]string{}}
	}
	return p.printed[pkg]
}

func (p *progress) endOfTest(e event) {
	if e.Action != "pass" && e.Action != "skip" && e.Action != "fail" {
		return
	}
	printed := p.of(e.Package)
	printed.begun = slices.DeleteFunc(printed.begun, func(test string) bool { return test == e.Test })
	if was := p.tests[e.Test]; was != "pass" {
		p.tests[e.Test] = e.Action
	}
	if e.Action == "pass" {
		p.passed++
	}
	if e.Action != "fail" {
		printed.forget(e.Test)
	}
}

// forget drops what a test has printed that has not failed. What comes after its result is the process's, such as the
// panic of a test that still ran: go test -json gives those lines to the test that ended last.
func (o *output) forget(test string) {
	lines := o.lines[test]
	delete(o.lines, test)
	result := slices.IndexFunc(lines, func(line string) bool {
		line = strings.TrimLeft(line, " ")
		return strings.HasPrefix(line, "--- PASS: "+test+" ") || strings.HasPrefix(line, "--- SKIP: "+test+" ")
	})
	if result < 0 {
		return
	}
	// Lines that are indented further, behind the result, are what the test has logged.
	for _, line := range lines[result+1:] {
		if !strings.HasPrefix(line, "    ") {
			o.add("", line)
		}
	}
}

func (p *progress) endOfPackage(e event) {
	name := short(e.Package)
	p.running = slices.DeleteFunc(p.running, func(r string) bool { return r == name })
	p.done++
	word, printed := "ok", p.of(e.Package)
	delete(p.printed, e.Package)
	if e.Action == "fail" {
		p.failed++
		word = "FAIL"
		for _, test := range printed.order {
			fmt.Fprint(p.out, strings.Join(printed.lines[test], ""))
		}
	}
	p.line("%-4s  %s (%.1f s), %d of %d packages", word, name, e.Elapsed, p.done, p.total)
	if len(printed.begun) > 0 {
		p.line("      these have not ended: %s", strings.Join(printed.begun, ", "))
	}
}

// end prints the sum, and returns an error if a package has failed.
func (p *progress) end() error {
	fmt.Fprint(p.out, p.server)
	if p.failed > 0 {
		return fmt.Errorf("%d of %d packages have failed", p.failed, p.total)
	}
	p.line("ok    all %d packages, %d tests", p.done, p.passed)
	return nil
}

// short is the path of a package without the module's.
func short(pkg string) string { return strings.TrimPrefix(pkg, "github.com/duroxide/duroxide-go/") }
