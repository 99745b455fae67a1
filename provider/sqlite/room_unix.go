//go:build linux || darwin || freebsd

package sqlite

import "syscall"

// freeRoom returns how many bytes a process may still write on the disk that holds a file.
func freeRoom(path string) (free int64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:unconvert // the types differ between systems
}
