package sqlite

import (
	"os"
	"sync"
	"syscall"
)

// writeNotices tells of writes to a file, by inotify, without opening the file: if a process
// closes a file that SQLite has open in it too, SQLite loses its locks on that.
type writeNotices struct {
	path    string
	inotify *os.File
	fd      int
	// written has room for one notice.
	written chan struct{}
	reading sync.WaitGroup
}

func newWriteNotices(path string) (*writeNotices, error) {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	n := &writeNotices{path: path, inotify: os.NewFile(uintptr(fd), "inotify"), fd: fd, written: make(chan struct{}, 1)}
	n.reading.Go(n.read)
	return n, nil
}

// next has the next write told, and no other: a process that writes a lot is not woken by
// each of its own.
func (n *writeNotices) next() error {
	_, err := syscall.InotifyAddWatch(n.fd, n.path, syscall.IN_MODIFY|syscall.IN_ONESHOT)
	return os.NewSyscallError("inotify_add_watch", err)
}

// read is the goroutine that waits for the system. What it tells but a write, as that
// nothing more will come, may be taken for one: that costs a few looks.
func (n *writeNotices) read() {
	var events [1024]byte
	for {
		if _, err := n.inotify.Read(events[:]); err != nil {
			return
		}
		select {
		case n.written <- struct{}{}:
		default: // a notice is already there
		}
	}
}

func (n *writeNotices) close() {
	_ = n.inotify.Close()
	n.reading.Wait()
}
