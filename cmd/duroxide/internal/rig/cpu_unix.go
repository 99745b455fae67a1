//go:build unix

package rig

import (
	"syscall"
	"time"
)

// cpuTime is the processor time that this process has used, in user and system mode.
func cpuTime() (used time.Duration, known bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
