//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/program"
)

// pidLine is what the demo prints about its worker.
var pidLine = regexp.MustCompile(`worker 1 is a process of its own, pid (\d+)`)

// TestDemoLeavesNoProcessBehind ends the demo in the middle, in each way there is,
// and looks for its worker.
func TestDemoLeavesNoProcessBehind(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		signal syscall.Signal
		code   int
		// cleans says whether the demo still gets to remove its files.
		cleans bool
	}{
		{syscall.SIGINT, exitInterrupted, true},
		{syscall.SIGTERM, exitInterrupted, true},
		{syscall.SIGKILL, -1, false},
	} {
		t.Run(test.signal.String(), func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			command := exec.CommandContext(t.Context(), program.Path(t))
			command.Env = append(os.Environ(), "TMPDIR="+temp)
			var stderr bytes.Buffer
			command.Stderr = &stderr
			stdout, err := command.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			worker := 0
			lines := bufio.NewScanner(stdout)
			for worker == 0 && lines.Scan() {
				if found := pidLine.FindStringSubmatch(lines.Text()); found != nil {
					worker, _ = strconv.Atoi(found[1])
				}
			}
			if worker == 0 {
				t.Fatal("the demo did not name its worker")
			}
			if err := command.Process.Signal(test.signal); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() { // until its end
			}
			_ = command.Wait() // the code says more
			if got := command.ProcessState.ExitCode(); got != test.code {
				t.Errorf("exit code %d, want %d: %s", got, test.code, stderr.String())
			}
			waitUntilGone(t, worker)
			left, err := os.ReadDir(temp)
			if err != nil {
				t.Fatal(err)
			}
			if test.cleans && len(left) > 0 {
				t.Errorf("the demo left %v behind", left)
			}
		})
	}
}

// waitUntilGone waits for the end of a process that is not ours. One that nobody
// has asked about its end (a zombie) is gone.
func waitUntilGone(t *testing.T, pid int) {
	t.Helper()
	const patience = 10 * time.Second
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if _, state, ok := strings.Cut(string(stat), ") "); err == nil && ok && strings.HasPrefix(state, "Z") {
			return
		}
	}
	t.Errorf("process %d is still there", pid)
}
