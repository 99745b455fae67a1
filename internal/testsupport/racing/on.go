//go:build race

package racing

// On says that the detector is on.
const On = true
