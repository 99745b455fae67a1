package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// openedFile is the file that the connections have open. A file that is deleted or replaced under
// them takes writes as before, and nobody ever reads them again. A connection that is opened then reads
// another file, or makes an empty one.
type openedFile struct {
	// path is empty for a database in memory.
	path string
	info os.FileInfo
}

// opened looks at the file of a store that has just been opened. What cannot be looked at is not
// guarded.
func opened(path string) openedFile {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return openedFile{}
	}
	info, err := os.Stat(absolute)
	if err != nil {
		return openedFile{}
	}
	return openedFile{path: absolute, info: info}
}

// gone is an error if the file is no longer in its place.
func (f openedFile) gone() error {
	if f.path == "" {
		return nil
	}
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return f.error("was deleted or moved")
	case err == nil && !os.SameFile(info, f.info):
		return f.error("was replaced by another file")
	}
	return nil
}

func (f openedFile) error(what string) error {
	return fmt.Errorf("%w: %s %s while it was open, and nothing more is stored or read; "+
		"move the file back, or stop, delete the -wal and -shm files beside it, restore it from a backup and start again", ErrFileGone, f.path, what)
}
