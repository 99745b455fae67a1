package sqlite

import "context"

// logStep is by how much the log grows between two looks at the room on the disk, in bytes.
const logStep = 64 << 10

// logRoom keeps the log from taking the last room on the disk. A log that did could neither grow nor be moved into the
// database, and on a disk of a few MiB it never gets long enough for SQLite to move it by itself. Only the writer's
// goroutine uses it.
type logRoom struct {
	// on returns the free bytes on the disk that holds a file; false if they are not known.
	on func(path string) (free int64, known bool)
	// looked is how long the log was at the last look.
	looked int64
	// full is set when a call has found the disk full.
	full bool
}

// keepRoom moves the log into the database when the disk has hardly more free room than the log takes, or when it is
// full. The database grows by at most as much as the log holds.
func (w *writer) keepRoom(ctx context.Context, logged int64) {
	r := &w.logRoom
	r.looked = min(r.looked, logged)
	if len(w.files) == 0 || !r.full && logged < r.looked+logStep {
		return
	}
	if free, known := r.on(w.files[0].path); r.full || known && free < logged+2*logStep {
		w.moveLog(ctx)
		r.full = false
	}
	r.looked = logged
}

// moveLog moves the log into the database and empties it, unless another process reads or writes or there is no room:
// then it stays, and so does all that it holds.
func (w *writer) moveLog(ctx context.Context) {
	_, _ = w.conn.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
}
