package analyze

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/internal/tsql/sqltype"
	"github.com/duroxide/duroxide-go/internal/tsql/syntax"
)

// datePart is what a word such as DAY in DATEADD names: a part of a date or of a time, a fine one that datetime can't be
// moved by, or one that can be read but not be counted with.
//
// The argument looks like a column and is none: DATEADD (day, 1, d) names no column day, also where a table has one.
// The parser cannot know, so that it is read off the reference here.
type datePart int

const (
	noPart datePart = iota
	ofDate
	ofTime
	ofTimeFine
	isoWeek
	zonePart
)

// dateParts are the words that stand for a part of a date, with their abbreviations.
var dateParts = partWords(map[datePart]string{
	ofDate:     "year yy yyyy quarter qq q month mm m dayofyear dy y day dd d week wk ww weekday dw w",
	ofTime:     "hour hh minute mi n second ss s millisecond ms",
	ofTimeFine: "microsecond mcs nanosecond ns",
	isoWeek:    "iso_week isowk isoww",
	zonePart:   "tzoffset tz",
})

func partWords(lists map[datePart]string) map[string]datePart {
	words := map[string]datePart{}
	for part, list := range lists {
		for word := range strings.FieldsSeq(list) {
			words[word] = part
		}
	}
	return words
}

// partOfDate returns the part that the argument of a function names.
func partOfDate(x syntax.Expr) datePart {
	if ref, ok := x.(*syntax.ColumnRef); ok && len(ref.Parts) == 1 {
		return dateParts[strings.ToLower(ref.Parts[0].Value)]
	}
	return noPart
}

// checkDatePart refuses the parts that the type of the date doesn't have, where the server does: a date has no hour.
// Text is not looked at, for it may hold both.
//
// Microsoft's reference has a table of it. For example
//
//	DATEPART (hour, CAST (d AS date))     -- error 9810
//	DATEADD (nanosecond, 1, GETDATE ())   -- error 9810: datetime is too coarse
//	DATEDIFF (hour, @date, @datetime)     -- fine: midnight is taken
func checkDatePart(c *invocation) error {
	switch c.name {
	case "DATEADD", "DATEPART", "DATENAME", "DATETRUNC", "DATEDIFF", "DATEDIFF_BIG":
	default:
		return nil
	}
	part := partOfDate(c.call.Args[0])
	name, ok := c.call.Args[0].(*syntax.ColumnRef) // the parser reads the word as one
	if !ok {
		return nil
	}
	word := strings.ToLower(name.Parts[0].Value)
	reads := c.name == "DATEPART" || c.name == "DATENAME"
	if part == zonePart && !reads || part == isoWeek && !reads && c.name != "DATETRUNC" {
		return fmt.Errorf("%s doesn't count in %s", c.name, word)
	}
	t := c.args[len(c.args)-1].Type
	if c.literalDate() || strings.HasPrefix(c.name, "DATEDIFF") {
		return nil // between a date and a datetime, any part can be counted
	}
	missing := false
	switch t.Kind {
	case sqltype.Date:
		missing = part == ofTime || part == ofTimeFine || part == zonePart
	case sqltype.Time:
		missing = part == ofDate || part == isoWeek || part == zonePart
	case sqltype.DateTime, sqltype.SmallDateTime:
		missing = part == ofTimeFine && !reads || part == zonePart
	default: // datetime2 and datetimeoffset have all parts; other types are refused elsewhere
	}
	if missing {
		return fmt.Errorf("%s has no %s", t, word)
	}
	return nil
}

// literalDate reports whether the date is a literal, of which DATEPART reads also what isn't there.
func (c *invocation) literalDate() bool { return c.args[len(c.args)-1].literal != nil }
