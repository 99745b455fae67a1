package provider

import "math/bits"

// plainLen returns the length of the longest prefix without '"', '\\' and
// control characters, which both directions can copy as it is. Payloads are
// almost all such text, so it looks at eight bytes at a time.
func plainLen[T string | []byte](s T) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if m := specialBytes(load64(s[i : i+8])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// load64 is a little-endian load; the compiler makes it one instruction.
func load64[T string | []byte](s T) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// specialBytes returns a word whose lowest set bit is the top bit of the first
// special byte of x, 0 if there is none. Subtracting borrows from a higher byte
// only where a lower one is special, so the lowest bit is always right.
func specialBytes(x uint64) uint64 {
	const (
		ones = 0x0101010101010101
		tops = 0x8080808080808080
	)
	quote := x ^ ones*'"'
	slash := x ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (x-ones*0x20)&^x) & tops
}
