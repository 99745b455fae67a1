package rig

import (
	"bytes"
	"os"
	"strconv"
)

// self is the process itself, for written.
const self = "self"

// written is how many bytes a process has handed to the system to be written: "wchar" of
// proc(5). What goes to a socket or a pipe is among them.
func written(process string) (n int64, known bool) {
	text, err := os.ReadFile("/proc/" + process + "/io")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(text) {
		if value, ok := bytes.CutPrefix(line, []byte("wchar: ")); ok {
			n, err = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
