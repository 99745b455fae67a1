// Package mssqltest finds a T-SQL server for tests and hands out schemas on it.
//
// The server is the one at the URL in the environment variable DUROXIDE_TEST_MSSQL, whose login must own the database
// that the URL names. Without the variable the tests run on package tsqltest's server, in their own process; with
// DUROXIDE_TEST_MSSQL_REQUIRED=1 they fail instead. The program tools/sqlserver starts a server in a container and sets
// the variable for the command that it runs.
//
// A package whose tests use a server calls [Run] in its TestMain:
//
//	func TestMain(m *testing.M) { mssqltest.Run(m) }
//
// Tests share the server but not the data: each has a schema of its own. [NewSchema] makes one, which takes a second or
// two; [Pooled] is for tests by the hundred and reuses schemas that it has emptied.
package mssqltest
