// Package racing tells tests whether the detector of races is on. Everything takes several times as long then, so that
// a test of what it cannot find, such as sessions that take turns or texts of ten megabytes, does a part of its work.
// The run without the detector does all of it.
package racing

import "testing"

// Part reports whether a test does a part of its work: under the detector, and with -short, by which README's command
// runs the tests. What a test checks stays; how often it tries is less.
func Part() bool { return On || testing.Short() }
