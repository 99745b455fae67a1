// Package mssql is the store on SQL Server, Azure SQL Database and Managed Instance: the
// whole contract of package provider over stored procedures.
//
//	store, err := mssql.Open(ctx, "sqlserver://user:password@host:1433?database=orders", nil)
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//
// Any number of processes and hosts may use the same schema. Several schemas of one
// database are stores of their own: see [Config.Schema]. For a login by Entra ID open
// the store with package azuread, which is a module of its own.
//
// # How it is built
//
// The tables and procedures are in sql/schema and sql/procedures, as they can be run in
// any SQL tool; package gen/mssqldb is generated from them, and this package composes
// those calls. A call of the contract is one round trip: a remote call of the procedure,
// which is the whole transaction, with lists as table-valued parameters (form.go says
// when not). `duroxide migrate up` makes the schema, or [Config.AutoMigrate].
//
// A fetch that finds nothing holds no connection. It waits until another call of this
// process has made something fetchable, until a delay that this process set has passed,
// or until it is its turn to look for what other processes have done (poll.go).
//
// # Errors
//
// Every error is a [*provider.Error]. Trouble with the server matches one of this
// package's sentinels, such as [ErrUnreachable] or [ErrPermission], and its text says
// what to do about it. A call that certainly changed nothing, such as the victim of a
// deadlock, repeats itself a few times; one whose outcome is unknown, because the
// connection broke, only if doing it twice is the same as doing it once (retry.go).
package mssql
