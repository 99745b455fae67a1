//go:build race

package mssql

// raceDetector says that everything takes ten times as long.
const raceDetector = true
