// Package acceptance is a module for tests that need libraries which must reach nobody who imports ours, and for
// nothing else: duroxide and sqlc-gen-tsql run the two commands as users do (testscript), secondopinion compares our
// T-SQL parser with another one (teesql) and our check of linearizability with another one (Porcupine), and program
// builds the commands for the first two.
//
// Whatever stands in the main go.mod is in the list of modules of everybody who imports the library, also what only a
// test needs. A test that can do without such a library belongs beside what it tests.
package acceptance
