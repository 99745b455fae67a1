package columns

import "time"

// FromMillis is the time of a column, which is in milliseconds, in UTC.
func FromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// Millis is a point in time as a column has it, in milliseconds; nil stays nil.
func Millis(at *time.Time) *int64 {
	if at == nil {
		return nil
	}
	return new(at.UnixMilli())
}

// Lease returns a lease's length in milliseconds, which must be positive.
func Lease(operation, name string, d time.Duration) (int64, error) {
	if d <= 0 {
		return 0, Invalid(operation, "%s must be positive, got %v", name, d)
	}
	return milliseconds(d), nil
}

// Delay returns a delay in milliseconds, which must not be negative.
func Delay(operation, name string, d time.Duration) (int64, error) {
	if d < 0 {
		return 0, Invalid(operation, "%s must not be negative, got %v", name, d)
	}
	return milliseconds(d), nil
}

// milliseconds rounds up: a lease is never shorter than asked for, and a short
// Delay is not none.
func milliseconds(d time.Duration) int64 {
	ms := int64(d / time.Millisecond)
	if d%time.Millisecond > 0 {
		ms++
	}
	return ms
}

// Since is the time between two moments in milliseconds, 0 if the clock was set back.
func Since(then, now int64) time.Duration {
	return time.Duration(max(0, now-then)) * time.Millisecond
}
