package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"
)

// What the test binary does as the command that the program runs.
const (
	roleVariable  = "SQLSERVER_TEST_ROLE"
	roleExit      = "exit"      // prints the URL and exits with code 3
	roleInterrupt = "interrupt" // says that it is there, waits for an interrupt, and exits with code 4
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case roleExit:
		fmt.Print(os.Getenv(urlVariable))
		os.Exit(3)
	case roleInterrupt:
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, os.Interrupt)
		fmt.Println("ready")
		<-interrupted
		os.Exit(4)
	}
	os.Exit(m.Run())
}

// newApp is the program on a fake Docker. Its command is this test binary in a role.
func newApp(t *testing.T, d *fakeDocker, stdout *bytes.Buffer) (a *app, stderr *bytes.Buffer, command string) {
	t.Helper()
	command, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stderr = &bytes.Buffer{}
	return &app{stdout: stdout, stderr: stderr, engine: func(context.Context) (*engine, error) {
		return d.connect(t, func(context.Context, string, bool) error { return nil }), nil
	}}, stderr, command
}

func TestCommandGetsTheServerAndItsExitCodeCounts(t *testing.T) {
	t.Setenv(roleVariable, roleExit)
	d := newFakeDocker(t)
	var stdout bytes.Buffer
	a, stderr, command := newApp(t, d, &stdout)
	if code := a.run(t.Context(), []string{"-dir", t.TempDir(), command}); code != 3 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if url := stdout.String(); !strings.HasPrefix(url, "sqlserver://sa:") || !strings.Contains(url, "@localhost:49153?database="+database+"&encrypt=disable") {
		t.Errorf("the command saw %q", url)
	}
	if !d.called("DELETE /containers/c0ffee") {
		t.Errorf("the container was not removed: %q", d.calls)
	}
}

// announced calls back when something is written.
type announced struct{ once func() }

func (a announced) Write(p []byte) (int, error) { a.once(); return len(p), nil }

func TestInterruptReachesTheCommandAndTheContainerGoes(t *testing.T) {
	t.Setenv(roleVariable, roleInterrupt)
	d := newFakeDocker(t)
	a, stderr, command := newApp(t, d, nil)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	a.stdout = announced{interrupt}
	if code := a.run(ctx, []string{command}); code != 4 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if !d.called("DELETE /containers/c0ffee") {
		t.Errorf("the container was not removed: %q", d.calls)
	}
}

func TestNothingRunsWithoutServerOrCommand(t *testing.T) {
	t.Parallel()
	refused := func(context.Context) (*engine, error) { return nil, errors.New("no Docker engine: nobody there") }
	for want, args := range map[string][]string{
		"no Docker engine: nobody there; start Docker, or set DUROXIDE_TEST_MSSQL": {"go", "version"},
		"usage: sqlserver": nil,
		"-directory":       {"-directory", ".", "go"},
		"-dir folder":      {"-h"},
	} {
		var stdout, stderr bytes.Buffer
		code := (&app{stdout: &stdout, stderr: &stderr, engine: refused}).run(t.Context(), args)
		if code != exitFailed || stdout.Len() > 0 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q", args, code, &stdout, &stderr)
		}
	}
}

func TestCommandThatDoesNotExist(t *testing.T) {
	t.Parallel()
	d := newFakeDocker(t)
	var stdout bytes.Buffer
	a, stderr, _ := newApp(t, d, &stdout)
	if code := a.run(t.Context(), []string{"./no-such-command"}); code != exitFailed || !strings.Contains(stderr.String(), "no-such-command") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if !d.called("DELETE /containers/c0ffee") {
		t.Errorf("the container was not removed: %q", d.calls)
	}
}

func TestServerOfSomebodyElse(t *testing.T) {
	t.Setenv(roleVariable, roleExit)
	command, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	var tried []string
	a := &app{stdout: &stdout, stderr: &stderr, wait: wait{patience: time.Minute, pause: 1, create: func(_ context.Context, master string, rowVersions bool) error {
		if tried = append(tried, fmt.Sprint(master, " ", rowVersions)); len(tried) == 1 {
			return errors.New("not yet")
		}
		return nil
	}}}
	if code := a.run(t.Context(), []string{"-server", "sqlserver://sa:secret@db:1433?encrypt=disable", "-row-versions=false", command}); code != 3 {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	if want := "sqlserver://sa:secret@db:1433?database=master&encrypt=disable false"; len(tried) != 2 || tried[1] != want {
		t.Errorf("tried %q; want %q, twice", tried, want)
	}
	if want := "sqlserver://sa:secret@db:1433?database=duroxide_test&encrypt=disable"; stdout.String() != want {
		t.Errorf("the command saw %q; want %q", &stdout, want)
	}
	if code := a.run(t.Context(), []string{"-server", "db:1433", command}); code != exitFailed || !strings.Contains(stderr.String(), "-server wants a URL") {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}
