package value

import "github.com/duroxide/duroxide-go/tsql/internal/server/fault"

// MaxBytes is how many bytes a value has at most. SQL Server has room for 2 GiB, which a test's process has not: one
// careless REPLICATE, or a few doublings in a loop, would end it.
const MaxBytes = 256 << 20

// CheckSize refuses a value of more than MaxBytes. What makes a long value of short ones asks before it takes the
// memory.
func CheckSize(bytes int64) error {
	if bytes <= MaxBytes {
		return nil
	}
	return fault.New(fault.Unsupported, "a value of more than 256 MiB is not supported by tsqltest")
}
