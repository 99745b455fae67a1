// Package duroxide runs scripts of what a user types at the command line, testdata/script. It has nothing but tests.
package duroxide
