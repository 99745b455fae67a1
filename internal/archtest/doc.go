// Package archtest keeps the architecture of the module true: which package may import which, and why.
//
// The table is in archtest_test.go, one rule a row, each with the reason it would give a contributor who broke it. It
// is checked against the real import graph, as the go command reports it: a rule about a package holds for its non-test
// files, since what a test imports reaches no user. A rule, or the list of planned packages, that names a folder which
// does not exist (or, for a planned one, does exist) fails too, so the table cannot outlive the tree it describes.
//
// T-SQL is in .sql files, but for the places that tsqltext_test.go names.
//
// The graph is that of the platform the test runs on; there are no platform-specific files whose imports it would miss.
package archtest
