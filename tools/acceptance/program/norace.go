//go:build !race

package program

// raceFlag is what makes a build like this one.
var raceFlag []string
