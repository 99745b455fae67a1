package vet

import (
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// timeRules are about clocks and arithmetic with times.
var timeRules = []Rule{
	{
		ID:    "T2-overflow",
		Title: "No DATEADD or DATEDIFF whose int overflows",
		Reason: "Milliseconds overflow an int after 24.8 days, and seconds since 1970 in 2038 (durabletask-mssql #98, #155). " +
			"DATEDIFF_BIG does not; DATEADD takes a remainder and whole days.",
		Bad:   "DECLARE @now bigint = DATEDIFF(MILLISECOND, '19700101', SYSUTCDATETIME());",
		Good:  "DECLARE @now bigint = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());",
		check: checkOverflow,
	},
	{
		ID:       "T2-utc",
		Title:    "The clock is SYSUTCDATETIME()",
		Reason:   "Local time jumps twice a year, and servers stand in different zones.",
		Bad:      "DECLARE @now datetime2 = SYSDATETIME();",
		Good:     "DECLARE @now datetime2 = SYSUTCDATETIME();",
		Optional: true,
		check:    checkUTC,
	},
	{
		ID:    "T2-once",
		Title: "A procedure reads the clock once",
		Reason: "Two reads are two times, and what was due by the first may not be by the second. In a loop it may be read " +
			"again, for a time budget.",
		Bad: "CREATE PROCEDURE dbo.due AS\nDECLARE @a datetime2 = SYSUTCDATETIME();\n" +
			"SELECT id FROM dbo.timers WHERE due BETWEEN @a AND SYSUTCDATETIME();",
		Good: "CREATE PROCEDURE dbo.due AS\nDECLARE @a datetime2 = SYSUTCDATETIME();\n" +
			"SELECT id FROM dbo.timers WHERE due <= @a;",
		Optional: true,
		check:    checkClockReads,
	},
	{
		ID:       "T2-column",
		Title:    "Times are stored as bigint, milliseconds since 1970",
		Reason:   "Nothing converts, rounds or has a zone on the way, in any driver or server.",
		Bad:      "CREATE TABLE dbo.timers (id int NOT NULL PRIMARY KEY, due datetime2(3) NOT NULL);",
		Good:     "CREATE TABLE dbo.timers (id int NOT NULL PRIMARY KEY, due bigint NOT NULL);",
		Optional: true,
		check:    checkTimeColumns,
	},
}

// datePart returns the unit of a date function, spelled out. The parser takes the word for a column, as it must: only
// the function's name tells.
func datePart(c *syntax.Call) string {
	if len(c.Args) == 0 {
		return ""
	}
	ref, ok := c.Args[0].(*syntax.ColumnRef)
	if !ok {
		return ""
	}
	switch part := catalog.Fold(ref.Parts[0].Value); part {
	case "second", "ss", "s":
		return "second"
	case "millisecond", "ms":
		return "millisecond"
	case "microsecond", "mcs":
		return "microsecond"
	case "nanosecond", "ns":
		return "nanosecond"
	default:
		return part
	}
}

// checkOverflow looks at both directions: DATEDIFF returns an int, and DATEADD takes one.
func checkOverflow(p *pass) {
	for _, u := range p.units {
		for c := range syntax.All[*syntax.Call](u.node) {
			switch callName(c) {
			case "DATEDIFF":
				p.checkDateDiff(u, c)
			case "DATEADD":
				p.checkDateAdd(u, c)
			}
		}
	}
}

// checkDateDiff reports a difference in small units, or in seconds since a fixed day. Between two columns seconds are
// left alone: the two are seldom 68 years apart.
func (p *pass) checkDateDiff(u *unit, c *syntax.Call) {
	part := datePart(c)
	// DATEDIFF in these units overflows within 24.8 days, 35 minutes and 2 seconds.
	small := part == "millisecond" || part == "microsecond" || part == "nanosecond"
	// A literal as one of the ends is an epoch: the difference grows with every day, and in seconds passes the limit
	// in 2038 if it began in 1970.
	epoch := len(c.Args) == 3 && (is[*syntax.Literal](syntax.Unparen(c.Args[1])) || is[*syntax.Literal](syntax.Unparen(c.Args[2])))
	if small || part == "second" && epoch {
		p.report(u, c.Span, "write DATEDIFF_BIG", "DATEDIFF in %ss overflows an int", part)
	}
}

// checkDateAdd reports a number of small units that may be more than an int.
func (p *pass) checkDateAdd(u *unit, c *syntax.Call) {
	part := datePart(c)
	// DATEADD in nanoseconds is left out: nobody adds more than two seconds of them.
	if len(c.Args) != 3 || part != "second" && part != "millisecond" && part != "microsecond" {
		return
	}
	if u.mayBeWide(c.Args[1]) {
		p.report(u, c.Args[1].Range(), "add whole days first, then the remainder: x % 86400000",
			"DATEADD takes an int, and this number of %ss may be more", part)
	}
}

// mayBeWide says whether a number is known not to fit into an int: it is of a wider type, or a product. A remainder
// fits, and what isn't known is left alone.
func (u *unit) mayBeWide(x syntax.Expr) bool {
	switch x := syntax.Unparen(x).(type) {
	case *syntax.Unary:
		return u.mayBeWide(x.X)
	case *syntax.Binary:
		switch x.Op {
		// A remainder is smaller than what it is divided by, which is nearly always a constant.
		case "%":
			return false
		case "*":
			a, literalA := intValue(x.X)
			b, literalB := intValue(x.Y)
			// Times one is how some people write a sign.
			if literalA && (a == 1 || a == -1) || literalB && (b == 1 || b == -1) {
				return u.mayBeWide(x.X) || u.mayBeWide(x.Y)
			}
			// Two constants are computed when the script is compiled: an overflow shows there.
			return !literalA || !literalB
		default:
			return u.mayBeWide(x.X) || u.mayBeWide(x.Y)
		}
	case *syntax.Call:
		return callName(x) == "DATEDIFF_BIG"
	default:
		switch u.typeOf(x).Kind {
		case sqltype.BigInt, sqltype.Decimal, sqltype.Float, sqltype.Real:
			return true
		default:
			return false
		}
	}
}

// checkUTC leaves GETUTCDATE alone, which is UTC if coarse, and SYSDATETIMEOFFSET, which says its zone.
func checkUTC(p *pass) {
	for _, u := range p.units {
		for c := range syntax.All[*syntax.Call](u.node) {
			switch callName(c) {
			case "GETDATE", "SYSDATETIME", "CURRENT_TIMESTAMP", "CURRENT_DATE":
				p.report(u, c.Span, "SYSUTCDATETIME()", "%s is local time", callName(c))
			}
		}
	}
}

// clocks are the functions that read the clock.
var clocks = map[string]bool{
	"GETDATE": true, "SYSDATETIME": true, "CURRENT_TIMESTAMP": true, "CURRENT_DATE": true, "SYSDATETIMEOFFSET": true,
	"GETUTCDATE": true, "SYSUTCDATETIME": true,
}

// checkClockReads doesn't look into loops, where a second reading is the point of a time budget.
func checkClockReads(p *pass) {
	for _, u := range p.procedures() {
		reads := 0
		syntax.Walk(u.node, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.Call); ok && clocks[callName(c)] {
				if reads++; reads > 1 {
					p.report(u, c.Span, "keep the first reading in a variable", "the clock is read again")
				}
			}
			return !is[*syntax.While](n)
		})
	}
}

// checkTimeColumns looks at tables, table types and table variables; the columns of WITH RESULT SETS describe what
// something else returns.
func checkTimeColumns(p *pass) {
	for _, u := range p.units {
		syntax.Walk(u.node, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.ColumnDef:
				if n.Type != nil && u.temporal(n.Type) {
					p.report(u, n.Span, "bigint, milliseconds since 1970", "column %s holds a time as %s", n.Name.Value,
						u.script.File.Slice(n.Type.Span))
				}
			case *syntax.ResultSetDef:
				return false
			}
			return true
		})
	}
}

// temporal says whether a type is one of times, rather than of whole days. A date has no zone and no precision to
// lose.
func (u *unit) temporal(t *syntax.TypeName) bool {
	if u.catalog == nil {
		return false
	}
	switch typ, _, _ := u.catalog.Type(t); typ.Kind {
	case sqltype.DateTime, sqltype.DateTime2, sqltype.SmallDateTime, sqltype.DateTimeOffset, sqltype.Time:
		return true
	default:
		return false
	}
}
