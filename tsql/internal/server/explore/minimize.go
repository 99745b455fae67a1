package explore

import "slices"

// Minimize leaves deviations out of a schedule as long as it still fails. It asks fails at most limit times.
func Minimize(s Schedule, limit int, fails func(Schedule) bool) Schedule {
	for size := max(len(s)/2, 1); size > 0 && len(s) > 0; {
		shorter := false
		for i := 0; i < len(s) && limit > 0; {
			without := slices.Concat(s[:i], s[min(i+size, len(s)):])
			limit--
			if fails(without) {
				s, shorter = without, true
				continue
			}
			i += size
		}
		switch {
		case size > 1:
			size /= 2
		case !shorter:
			return s
		}
		if limit <= 0 {
			return s
		}
	}
	return s
}
