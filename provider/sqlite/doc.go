// Package sqlite is the embedded store. It implements the contract of package [provider] in one SQLite file, or in
// memory, without a server.
//
//	store, err := sqlite.Open(ctx, "orders.db", sqlite.Options{})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//
// Several processes of one host may open the same file, each with its own Store.
//
// # How it is built
//
// The SQL is in sql/sqlite. Package gen/sqlitedb is generated from it, and this package calls it. The tables store
// which work may be fetched next, so that a fetch does not search for it.
//
// One connection writes. Calls that change something queue for it. All calls that queue while a transaction is being
// written to disk run together as the next transaction, so concurrent calls share the cost of a disk flush. Before it
// begins that transaction, the writer waits up to 40 µs for callers that have just been answered to call again; a
// single caller does not wait. Every call returns after the commit of its transaction. If a call in a group fails, the
// group runs again with a savepoint for each call, so that only the failing call is undone. Reads use other
// connections, which the write-ahead log of SQLite separates from the writer. A store in memory has one connection for
// everything.
//
// A fetch that finds nothing waits until another call of this process has added work, until a delay or a lease ends,
// or until another process has written to the file (see [Options].PollInterval).
//
// # Durability
//
// By default, the effects of a call that has returned survive a loss of power. See [Options].Synchronous.
//
// # Errors
//
// Every error is a [*provider.Error]. A problem with the file matches one of this package's sentinels, such as
// [ErrBusy] or [ErrDiskFull], and the text says what to do.
package sqlite
