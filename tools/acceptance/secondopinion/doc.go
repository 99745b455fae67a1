// Package secondopinion compares our T-SQL parser with another one, teesql of sqlc's authors, on every statement that the
// tests of ours can read. It has nothing but this test.
package secondopinion
