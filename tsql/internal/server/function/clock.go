package function

import (
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// clockFunctions read the clock. The server's time zone is UTC.
var clockFunctions = map[string]binder{
	"GETDATE":             bindNow,
	"GETUTCDATE":          bindNow,
	"CURRENT_TIMESTAMP":   bindNow,
	"CURRENT_DATE":        bindNow,
	"SYSDATETIME":         bindNow,
	"SYSUTCDATETIME":      bindNow,
	"SYSDATETIMEOFFSET":   bindNow,
	"CURRENT_TIMEZONE":    bindConstant("(UTC) Coordinated Universal Time"),
	"CURRENT_TIMEZONE_ID": bindConstant("UTC"),
}

func bindNow(c *bindCall) (*Bound, error) {
	result := c.result
	return &Bound{Once: true, Eval: func(env Environment, _ []value.Value) (value.Value, error) {
		if v, ok := momentAt(env.Now()).value(result); ok {
			return v, nil
		}
		return value.Value{}, overflowOf(result)
	}}, nil
}

// momentAt is a point of Go's time in UTC.
func momentAt(t time.Time) moment {
	return moment{ticks: unixTicks + t.Unix()*tickSecond + int64(t.Nanosecond())/100}
}

func bindConstant(text string) binder {
	return func(*bindCall) (*Bound, error) {
		return &Bound{Deterministic: true, Eval: func(Environment, []value.Value) (value.Value, error) {
			return value.OfString(text), nil
		}}, nil
	}
}
