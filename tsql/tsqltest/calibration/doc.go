// Package calibration asks whether tsqltest is right. It has no code but tests: cases with what Microsoft documents and
// what others have published about SQL Server, each executed on a server of package tsqltest and, if the environment
// variable DUROXIDE_TEST_MSSQL has the URL of a server on which databases may be created, on that one as well. Both are
// compared with the same expectation, and so with each other.
//
// Most cases are files below testdata, which read like a protocol of what several people type:
//
//	T1: UPDATE test SET value = 11 WHERE id = 1
//	T2: SELECT value FROM test WHERE id = 1
//	    waits
//	T1: ROLLBACK
//	T2 goes on
//	    10
//
// Cases that are a matter of combination are tables in Go: which lock modes go together in matrix_test.go, what an
// error ends in errors_test.go.
package calibration
