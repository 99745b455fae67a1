package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// openedFiles are the files that the connections have open: the database first, then its log and the log's index. Files
// that are deleted or replaced under the connections take writes as before, and nobody ever reads those again. A
// connection that is opened then reads other files, or makes empty ones. There are none for a database in memory.
type openedFiles []openedFile

type openedFile struct {
	path string
	info os.FileInfo
}

// errLogGone reports that the log or its index is gone, while the database is in its place.
var errLogGone = fmt.Errorf("%w: its log", ErrFileGone)

// opened looks at the files of a store that has just been opened. Files that cannot be looked at are not guarded.
func opened(path, log string) (files openedFiles) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	for _, path := range []string{absolute, log, indexPath(log)} {
		info, err := os.Stat(path)
		if err != nil {
			break
		}
		files = append(files, openedFile{path, info})
	}
	return files
}

// look is an error if a file is no longer in its place. logged is the length of the log.
func (f openedFiles) look() (logged int64, err error) {
	for i, file := range f {
		info, err := os.Stat(file.path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return 0, file.error(i > 0, "was deleted or moved")
		case err == nil && !os.SameFile(info, file.info):
			return 0, file.error(i > 0, "was replaced by another file")
		case err == nil && i == 1:
			logged = info.Size()
		}
	}
	return logged, nil
}

func (f openedFile) error(log bool, what string) error {
	sentinel, advice := ErrFileGone,
		"move the file back, or stop, delete the -wal and -shm files beside it, restore it from a backup and start again"
	if log {
		sentinel, advice = errLogGone,
			"move the file back, or stop all processes that use the database and start them again, and leave the -wal and -shm files "+
				"to them; closing the store moves into the database what the log holds"
	}
	return fmt.Errorf("%w: %s %s while it was open, and nothing more is stored or read; %s", sentinel, f.path, what, advice)
}

// logPath is where SQLite has the log of a file: beside that which a symbolic link leads to. "" if it is not known.
func logPath(path string) string {
	file, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	if file, err = filepath.Abs(file); err != nil {
		return ""
	}
	return file + "-wal"
}

// indexPath is where SQLite has the index of a log.
func indexPath(log string) string {
	return log[:max(0, len(log)-len("-wal"))] + "-shm"
}
