package goroutine

import (
	"runtime"
	"strings"
)

// maxDump bounds the memory of a dump, in bytes. Goroutines beyond it are not seen.
const maxDump = 64 << 20

// Trace is a goroutine's stack, as a panic would print it.
type Trace struct {
	// State is what the goroutine does, in the words of Go's traces: "chan receive",
	// "sleep", "running".
	State string
	// Text is the whole trace.
	Text string
}

// Traces returns the goroutines in whose stack the text occurs. It stops the program for
// as long as it takes to write down all stacks.
func Traces(text string) []Trace {
	var found []Trace
	for trace := range strings.SplitSeq(dump(), "\n\n") {
		if strings.Contains(trace, text) {
			found = append(found, Trace{State: state(trace), Text: strings.Clone(trace)})
		}
	}
	return found
}

// dump is the trace of all goroutines.
func dump() string {
	for size := 1 << 20; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size || size >= maxDump {
			return string(buf[:n])
		}
	}
}

// state reads "goroutine 34 [chan receive, 2 minutes]:".
func state(trace string) string {
	_, rest, _ := strings.Cut(trace, "[")
	text, _, _ := strings.Cut(rest, "]")
	text, _, _ = strings.Cut(text, ",")
	return text
}

// Computing reports a goroutine that waits for nothing but its turn on a processor, or
// for the garbage collector. One whose memory makes a collection begin waits on "semacquire"
// for the end of the dump itself; a program's own such waits go through runtime_Semacquire.
func (t Trace) Computing() bool {
	switch t.State {
	case "running", "runnable", "preempted", "copystack", "waiting":
		return true
	case "semacquire":
		return !strings.Contains(t.Text, ".runtime_Semacquire(")
	}
	return strings.HasPrefix(t.State, "GC ")
}

// Place is the innermost line of the user's code, such as "orders/pay.go:31", or empty.
func (t Trace) Place() string {
	lines := strings.Split(t.Text, "\n")
	for i := 1; i+1 < len(lines); i += 2 {
		if strings.HasPrefix(lines[i], "created by ") {
			break
		}
		file := strings.TrimSpace(lines[i+1])
		file, _, _ = strings.Cut(file, " +0x")
		name := lines[i]
		if end := strings.LastIndexByte(name, '('); end > 0 {
			name = name[:end]
		}
		if usersCode(name, file) {
			return short(file)
		}
	}
	return ""
}
