//go:build race

package sqlite

// raceDetector says that everything takes ten times as long.
const raceDetector = true
