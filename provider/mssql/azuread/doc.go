// Package azuread opens stores of package mssql with a login of Microsoft Entra ID
// (formerly Azure Active Directory): managed identities, service principals, workload
// identities, the Azure command line, and the other ways of the driver's package of the
// same name. It stands apart because these libraries are many times as large as the
// store, and a program that logs in by password should not link them.
//
// The connection string says how to log in:
//
//	sqlserver://server.database.windows.net?database=orders&fedauth=ActiveDirectoryDefault
package azuread
