//go:build !race

package mssql

const raceDetector = false
