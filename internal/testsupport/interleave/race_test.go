//go:build race

package interleave

// racing says that the detector of races is on. It finds nothing in sessions that take turns, and they take ten times as long: a
// part of the scenarios will do.
const racing = true
