// Package mssql is the store on SQL Server, Azure SQL Database and Azure SQL Managed Instance. It implements the
// contract of package [provider] with stored procedures.
//
//	store, err := mssql.Open(ctx, "sqlserver://user:password@host:1433?database=orders", mssql.Options{})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//
// Any number of processes and hosts may use the same schema. Each schema of a database is a separate store, see
// [Options].Schema. To log in with Entra ID, open the store with package azuread, which is a separate module.
//
// # How it is built
//
// The tables and procedures are in sql/schema and sql/procedures, as scripts that any SQL tool can run. Package
// gen/mssqldb is generated from them, and this package calls it. Most calls of the contract are one round trip: a
// remote call of one procedure, which is the whole transaction. Lists are sent as table-valued
// parameters. `duroxide migrate up` or [Options].AutoMigrate creates the schema.
//
// A worker that finds nothing holds no connection while it waits. It looks again when another call of this process has
// added work, when a delay that this process set has passed, or when it is time to poll for work of other processes
// ([Options].MinPollInterval).
//
// # Errors
//
// Every error is a [*provider.Error]. A problem with the server matches one of this package's sentinels, such as
// [ErrUnreachable] or [ErrPermission], and the text says what to do. A call that certainly changed nothing, such as a
// deadlock's victim, is repeated a few times ([Options].MaxRetries). A call whose outcome is unknown, because the
// connection broke, is repeated only if repeating it does no harm.
package mssql
