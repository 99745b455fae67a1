// Package azuread opens stores of package mssql with a login of Microsoft Entra ID
// (formerly Azure Active Directory): managed identities, service principals, workload
// identities, the Azure command line, and the other ways of the driver's package of the
// same name. It is a module of its own because these libraries are many times as large as
// the store, and a program that logs in by password should neither link nor list them.
//
// The connection string says how to log in:
//
//	sqlserver://server.database.windows.net?database=orders&fedauth=ActiveDirectoryDefault
//
// The command line with these logins is the command below this package, cmd/duroxide.
package azuread
