package ask

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// fixedVariables are the @@variables that every session of every server has alike. The counters of a machine's work are
// 0: they say how long a server has run.
var fixedVariables = map[string]execute.Value{
	"VERSION":          value.OfString(versionText),
	"MICROSOFTVERSION": value.OfInt(0x10000000 + 1000),
	"SERVICENAME":      value.OfString("MSSQLSERVER"),
	"MAX_CONNECTIONS":  value.OfInt(32767),
	"MAX_PRECISION":    value.OfInt(38),
	"TIMETICKS":        value.OfInt(31250),
	"CONNECTIONS":      value.OfInt(0),
	"CPU_BUSY":         value.OfInt(0),
	"IDLE":             value.OfInt(0),
	"IO_BUSY":          value.OfInt(0),
	"PACK_RECEIVED":    value.OfInt(0),
	"PACK_SENT":        value.OfInt(0),
	"PACKET_ERRORS":    value.OfInt(0),
	"TOTAL_ERRORS":     value.OfInt(0),
	"TOTAL_READ":       value.OfInt(0),
	"TOTAL_WRITE":      value.OfInt(0),
	"LANGID":           value.OfInt(0),
	"LANGUAGE":         value.OfString("us_english"),
	"TEXTSIZE":         value.OfInt(2147483647),
	"REMSERVER":        null,
}

// optionBits are the bits of @@OPTIONS.
var optionBits = map[string]int64{
	"IMPLICIT_TRANSACTIONS": 2, "CURSOR_CLOSE_ON_COMMIT": 4, "ANSI_WARNINGS": 8, "ANSI_PADDING": 16, "ANSI_NULLS": 32,
	"ARITHABORT": 64, "ARITHIGNORE": 128, "QUOTED_IDENTIFIER": 256, "NOCOUNT": 512, "ANSI_NULL_DFLT_ON": 1024,
	"ANSI_NULL_DFLT_OFF": 2048, "CONCAT_NULL_YIELDS_NULL": 4096, "NUMERIC_ROUNDABORT": 8192, "XACT_ABORT": 16384,
}

// Variable is an @@variable that the session's methods do not answer. Name has no @@.
func Variable(r *execute.Run, name string) execute.Value {
	s := r.Frame.Session
	if v := s.Info(name); !v.IsNull() {
		return v
	}
	switch name {
	case "SERVERNAME":
		return s.Info("SERVER_NAME")
	case "LOCK_TIMEOUT":
		if d := s.Store().LockTimeout; d >= 0 {
			return value.OfInt(d.Milliseconds())
		}
		return value.OfInt(-1)
	case "DBTS":
		s.Store().Draw(0)
		return s.Database().LastRowVersion()
	case "OPTIONS":
		bits := int64(0)
		for option, bit := range optionBits {
			if strings.EqualFold(s.Option(option), "ON") {
				bits |= bit
			}
		}
		return value.OfInt(bits)
	default:
		return fixedVariables[name]
	}
}
