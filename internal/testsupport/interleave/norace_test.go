//go:build !race

package interleave

const racing = false
