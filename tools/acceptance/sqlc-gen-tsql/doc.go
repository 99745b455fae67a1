// Package sqlcgentsql runs scripts of what a user of the generator types, testdata/script. It has nothing but tests.
package sqlcgentsql
