package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync/atomic"
	"time"
)

// Process is a worker in a process of its own. It ends when it is told to, and
// also when this process ends in whatever way: its standard input then ends.
type Process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	// ready is closed at the first report, done when the process is gone and all it
	// wrote has been read; err is set before. died is closed as well if nobody had
	// told it to end.
	ready, done, died chan struct{}
	err               error
	told              atomic.Bool
}

// StartProcess starts a command that ends with its standard input and calls [Work]
// with its standard output. began is told of every activity that the process
// begins, one at a time, also of those it wrote down just before it was killed.
// When ctx ends, the process is killed.
func StartProcess(ctx context.Context, command []string, stderr io.Writer, began func(Call)) (*Process, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // it is this program itself
	cmd.Stderr = stderr
	// Whoever inherited the pipes from a killed process must not keep us waiting.
	cmd.WaitDelay = time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting a worker process: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting a worker process: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a worker process: %w", err)
	}
	p := &Process{
		cmd: cmd, stdin: stdin, ready: make(chan struct{}), done: make(chan struct{}), died: make(chan struct{}),
	}
	go p.follow(stdout, began)
	return p, nil
}

// follow stays with the process until it is gone.
func (p *Process) follow(stdout io.Reader, began func(Call)) {
	defer close(p.done)
	p.read(stdout, began)
	p.err = p.cmd.Wait()
	if !p.told.Load() {
		close(p.died)
	}
}

// read reads the reports until there are no more.
func (p *Process) read(stdout io.Reader, began func(Call)) {
	isReady := false
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		var line report
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue // the last line of a killed process may be cut off
		}
		if line.Ready && !isReady {
			isReady = true
			close(p.ready)
		}
		if line.Call != nil {
			began(*line.Call)
		}
	}
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Died returns a channel that is closed when the process has ended and nobody had
// told it to.
func (p *Process) Died() <-chan struct{} { return p.died }

// Ready waits until the worker works.
func (p *Process) Ready(ctx context.Context) error {
	select {
	case <-p.ready:
		return nil
	case <-p.done:
		return fmt.Errorf("the worker process ended before it was ready: %w", p.err)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Kill kills the process without warning (SIGKILL) and returns when it is gone.
// Killing it again does nothing.
func (p *Process) Kill() {
	p.told.Store(true)
	_ = p.cmd.Process.Kill() // it can only have ended already
	<-p.done
	_ = p.stdin.Close()
}

// stopTimeout is how long a worker may take to stop.
const stopTimeout = 5 * time.Second

// Stop ends the process in order and returns when it is gone.
func (p *Process) Stop() error {
	p.told.Store(true)
	_ = p.stdin.Close() // closed already when the process is gone
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-p.done:
		return p.err
	case <-timer.C:
		p.Kill()
		return errors.New("the worker process did not stop and was killed")
	}
}

// UntilEOF returns a context that ends when the reader does: the other end of a
// worker process's standard input. The goroutine that reads ends with the reader.
func UntilEOF(ctx context.Context, r io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, r) // an error is an end, too
		cancel()
	}()
	return ctx, cancel
}
