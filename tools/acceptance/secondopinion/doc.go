// Package secondopinion compares what we have written ourselves with what others have: our T-SQL parser with teesql of
// sqlc's authors, on every statement that the tests of ours can read, and our search for an order of calls with
// Porcupine, on histories of the SQLite store. It has nothing but these tests.
package secondopinion
