// Package sqlite is the embedded store: the whole contract of package provider
// in one SQLite file, or in memory, without a server.
//
//	store, err := sqlite.Open(ctx, "orders.db", nil)
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//
// Several processes of one host may open the same file, each with its own Store.
//
// # How it is built
//
// The SQL is in sql/sqlite; package gen/sqlitedb is generated from it, and this
// package composes those calls. What may be fetched next is stored rather than
// searched: see the comments of the schema. For which names something is stored, the
// writer remembers (heads.go).
//
// One connection writes. Calls that change something queue up for it, and whatever has
// queued up while the last transaction was being made durable runs as the next one:
// concurrent calls share the price of a disk flush (writer.go, group.go). Those who have
// just been answered get a moment, 40 µs at most, to call again and share the next one; a
// caller who is alone never waits for company (gather.go), but for one that has started an
// instance or ended activities and locked the turn that comes of it for this process: the
// turn's acknowledgement may join its transaction for 0.4 ms (join.go). When a call of a
// group fails, the group is done again with a savepoint for each, so that one that fails
// takes nothing with it. Reads use other connections, which SQLite's write-ahead log keeps
// out of the writer's way; in memory there is one connection for everything.
//
// A fetch that finds nothing sleeps until another call of this process has made
// something fetchable, until a delay or lease it knows of ends, or until another
// process has written to the file, which is checked every [Config.PollInterval],
// or seldom while the system tells of the next write (wait.go, others.go).
//
// # Durability
//
// By default a call that has returned survives the loss of power. See
// [Config.Synchronous].
//
// # Errors
//
// Every error is a [*provider.Error]. Trouble with the file matches one of this
// package's sentinels, such as [ErrBusy] or [ErrDiskFull], and its text says what
// to do about it.
package sqlite
