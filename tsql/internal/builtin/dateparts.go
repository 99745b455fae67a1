package builtin

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Part is what a word such as DAY in DATEADD names.
//
// The argument looks like a column and is none: DATEADD (day, 1, d) names no column day, also where a table has one.
// The parser cannot know, so that it is read off the reference here.
type Part int

// The parts of a date, from the coarse to the fine.
const (
	NoPart Part = iota
	Year
	Quarter
	Month
	Week
	ISOWeek
	DayOfYear
	Day
	Weekday
	Hour
	Minute
	Second
	Millisecond
	Microsecond
	Nanosecond
	Offset // minutes between local time and UTC
)

// partWords are the words for each part, the full one first.
var partWords = map[Part]string{
	Year: "year yy yyyy", Quarter: "quarter qq q", Month: "month mm m", Week: "week wk ww", ISOWeek: "iso_week isowk isoww",
	DayOfYear: "dayofyear dy y", Day: "day dd d", Weekday: "weekday dw w", Hour: "hour hh", Minute: "minute mi n",
	Second: "second ss s", Millisecond: "millisecond ms", Microsecond: "microsecond mcs", Nanosecond: "nanosecond ns",
	Offset: "tzoffset tz",
}

var parts = invertParts()

func invertParts() map[string]Part {
	byWord := map[string]Part{}
	for part, list := range partWords {
		for word := range strings.FieldsSeq(list) {
			byWord[word] = part
		}
	}
	return byWord
}

// String returns the full word.
func (p Part) String() string {
	word, _, _ := strings.Cut(partWords[p], " ")
	return word
}

// PartOf returns the part that the argument of a function names; NoPart if it is no such word.
func PartOf(x syntax.Expr) Part { return parts[partWord(x)] }

// partWord returns the word that an argument consists of, in lower case.
func partWord(x syntax.Expr) string {
	if ref, ok := x.(*syntax.ColumnRef); ok && len(ref.Parts) == 1 {
		return strings.ToLower(ref.Parts[0].Value)
	}
	return ""
}

// ofDate reports the parts that a time doesn't have, and ofTime those that a date doesn't have.
func (p Part) ofDate() bool { return p >= Year && p <= Weekday }
func (p Part) ofTime() bool { return p >= Hour && p <= Nanosecond }

// fine reports the parts that datetime can't be moved by.
func (p Part) fine() bool { return p == Microsecond || p == Nanosecond }

// checkDatePart refuses the parts that the type of the date doesn't have, where the server does: a date has no hour.
// Text is not looked at, for it may hold both.
//
// Microsoft's reference has a table of it. For example
//
//	DATEPART (hour, CAST (d AS date))     -- error 9810
//	DATEADD (nanosecond, 1, GETDATE ())   -- error 9810: datetime is too coarse
//	DATEDIFF (hour, @date, @datetime)     -- fine: midnight is taken
func checkDatePart(c *Call) error {
	switch c.Name {
	case "DATEADD", "DATEPART", "DATENAME", "DATETRUNC", "DATEDIFF", "DATEDIFF_BIG":
	default:
		return nil
	}
	word := partWord(c.Syntax.Args[0])
	part := parts[word]
	reads := c.Name == "DATEPART" || c.Name == "DATENAME"
	if part == Offset && !reads || part == ISOWeek && !reads && c.Name != "DATETRUNC" {
		return fmt.Errorf("%s doesn't count in %s", c.Name, word)
	}
	last := c.Args[len(c.Args)-1]
	if last.Literal != nil || strings.HasPrefix(c.Name, "DATEDIFF") {
		return nil // a literal may hold any part, and between a date and a datetime any part can be counted
	}
	missing := false
	switch last.Type.Kind {
	case sqltype.Date:
		missing = part.ofTime() || part == Offset
	case sqltype.Time:
		missing = part.ofDate() || part == Offset
	case sqltype.DateTime, sqltype.SmallDateTime:
		missing = part.fine() && !reads || part == Offset
	default: // datetime2 and datetimeoffset have all parts; other types are refused elsewhere
	}
	if missing {
		return fmt.Errorf("%s has no %s", last.Type, word)
	}
	return nil
}
