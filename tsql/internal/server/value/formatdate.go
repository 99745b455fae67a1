package value

import (
	"strconv"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// dateLayout is how a style of CONVERT prints the day and the time. In both, letters stand for numbers:
//
//	Y year, y its last two digits, N name of the month, m month, d day, D day with a blank for the zero
//	H hour, h hour of 12 with a blank for the zero, i minute, s second, f fraction, F fraction unless zero, p AM or PM
//
// and all else for itself. What stands between day and time is part of the time's layout.
type dateLayout struct {
	day, time string
}

// dateLayouts are the styles that print dates.
var dateLayouts = func() map[int]dateLayout {
	short := map[int]dateLayout{
		1: {"m/d/y", ""}, 2: {"y.m.d", ""}, 3: {"d/m/y", ""}, 4: {"d.m.y", ""}, 5: {"d-m-y", ""}, 6: {"d N y", ""},
		7: {"N d, y", ""}, 10: {"m-d-y", ""}, 11: {"y/m/d", ""}, 12: {"ymd", ""},
	}
	m := map[int]dateLayout{
		0: {"N D Y", " h:ip"}, 8: {"", " H:i:s"}, 9: {"N D Y", " h:i:s:fp"}, 13: {"d N Y", " H:i:s:f"}, 14: {"", " H:i:s:f"},
		20: {"Y-m-d", " H:i:s"}, 21: {"Y-m-d", " H:i:s.f"}, 22: {"m/d/y", " h:i:s p"}, 23: {"Y-m-d", ""},
		24: {"", " H:i:s"}, 25: {"Y-m-d", " H:i:s.f"},
		126: {"Y-m-d", "TH:i:s.F"}, 127: {"Y-m-d", "TH:i:s.F"},
	}
	for style, layout := range short {
		m[style] = layout
		long := []byte(layout.day)
		for i, c := range long {
			if c == 'y' {
				long[i] = 'Y'
			}
		}
		m[style+100] = dateLayout{string(long), ""}
	}
	for _, style := range []int{0, 8, 9, 13, 14, 20, 21} {
		m[style+100] = m[style]
	}
	m[130] = dateLayout{"d N Y", " h:i:s:fp"}
	m[131] = dateLayout{"d/m/Y", " h:i:s:fp"}
	return m
}()

// dateText prints a value of a date kind. Without a style, datetime is printed as "Jan  2 2006  3:04PM", and the others
// as "2006-01-02 15:04:05.0000000 +00:00", as far as they have it.
func dateText(v Value, from, to Type, style int) (string, error) {
	old := v.kind == DateTime
	if style == 0 && !old {
		style = 121
	}
	layout, ok := dateLayouts[style]
	switch {
	case !ok && old:
		return "", fault.New(281, style, baseName(from))
	case !ok:
		return "", fault.New(9809, style, baseName(from), baseName(to))
	case v.kind == Date && layout.day == "", v.kind == Time && layout.time == "":
		return "", fault.New(8114, baseName(from), baseName(to))
	}
	m := local(v)
	if style == 127 && v.kind == DateTimeOffset {
		m = moment{days: v.Date(), ticks: v.n}
	}
	var buffer [48]byte
	f := dateFormatter{moment: m, digits: from.Scale, separator: ".", dst: buffer[:0]}
	if old {
		f.digits, f.separator = 3, ""
		_, part := splitDateTime(v.n)
		f.fraction = (part%300*10 + 1) / 3 * 10000
	} else {
		f.fraction = m.ticks % ticksPerSecond
	}
	f.year, f.month, f.day = Civil(m.days)
	if style == 130 || style == 131 {
		if m.days < hijriStart {
			return "", fault.New(9814)
		}
		f.year, f.month, f.day = hijri(m.days)
		f.arabic = true
	}
	if v.kind != Time {
		f.print(layout.day)
	}
	if v.kind != Date {
		f.time(layout.time, v.kind == Time)
	}
	if v.kind == DateTimeOffset && layout.time != "" {
		f.zone(style)
	}
	return string(f.dst), nil
}

// dateFormatter prints one date.
type dateFormatter struct {
	moment
	year, month, day int
	fraction         int64 // in ticks
	digits           int   // of the fraction
	separator        string
	arabic           bool
	dst              []byte
}

// time prints the time. One without a day has nothing before it, not even the blank for a zero.
func (f *dateFormatter) time(layout string, alone bool) {
	if layout == "" {
		return
	}
	if alone || len(f.dst) == 0 {
		layout = layout[1:]
	}
	start := len(f.dst)
	f.print(layout)
	if alone && f.dst[start] == ' ' {
		f.dst = append(f.dst[:start], f.dst[start+1:]...)
	}
}

// zone prints the offset of a datetimeoffset.
func (f *dateFormatter) zone(style int) {
	if style == 127 {
		f.dst = append(f.dst, 'Z')
		return
	}
	if style != 126 {
		f.dst = append(f.dst, ' ')
	}
	sign, minutes := byte('+'), f.offset
	if minutes < 0 {
		sign, minutes = '-', -minutes
	}
	f.dst = append(f.dst, sign)
	f.pad(minutes/60, 2, '0')
	f.dst = append(f.dst, ':')
	f.pad(minutes%60, 2, '0')
}

// print prints by a layout.
func (f *dateFormatter) print(layout string) {
	seconds := int(f.ticks / ticksPerSecond)
	for i := range len(layout) {
		switch c := layout[i]; c {
		case 'Y':
			f.pad(f.year, 4, '0')
		case 'y':
			f.pad(f.year%100, 2, '0')
		case 'N':
			f.dst = append(f.dst, f.monthName()...)
		case 'm':
			f.pad(f.month, 2, '0')
		case 'd':
			f.pad(f.day, 2, '0')
		case 'D':
			f.pad(f.day, 2, ' ')
		case 'H':
			f.pad(seconds/3600, 2, '0')
		case 'h':
			f.pad((seconds/3600+11)%12+1, 2, ' ')
		case 'i':
			f.pad(seconds/60%60, 2, '0')
		case 's':
			f.pad(seconds%60, 2, '0')
		case 'f', 'F':
			f.printFraction(c == 'F')
		case 'p':
			f.dst = append(f.dst, "AP"[seconds/43200], 'M')
		default:
			f.dst = append(f.dst, c)
		}
	}
}

// printFraction prints the fraction of a second after the sign that the layout has. Types with a scale have a point
// there, or with scale 0 nothing.
func (f *dateFormatter) printFraction(unlessZero bool) {
	if f.digits == 0 || unlessZero && f.fraction == 0 {
		f.dst = f.dst[:len(f.dst)-1]
		return
	}
	if f.separator != "" {
		f.dst[len(f.dst)-1] = f.separator[0]
	}
	f.pad(int(f.fraction/pow10[7-f.digits]), f.digits, '0')
}

// pad appends a number with a width.
func (f *dateFormatter) pad(n, width int, fill byte) {
	digits := 1
	for m := n; m >= 10; m /= 10 {
		digits++
	}
	for ; digits < width; digits++ {
		f.dst = append(f.dst, fill)
	}
	f.dst = strconv.AppendInt(f.dst, int64(n), 10)
}

func (f *dateFormatter) monthName() string {
	if f.arabic {
		return hijriMonths[f.month-1]
	}
	return monthNames[f.month-1][:3]
}

// hijriMonths are the names that style 130 prints.
var hijriMonths = [12]string{
	"محرم", "صفر", "ربيع الاول", "ربيع الثاني", "جمادى الاولى", "جمادى الثانية",
	"رجب", "شعبان", "رمضان", "شوال", "ذو القعدة", "ذو الحجة",
}

// hijriStart is the first day of the Hijri calendar, 0622-07-18, in days since 0001-01-01.
const hijriStart = 227013

// hijri is a date in the tabular Islamic calendar, which the styles 130 and 131 print. The server's "Kuwaiti algorithm"
// is this calendar, with the 30-year cycle in which the sixteenth year is a leap year. What people observe may differ
// by two days.
func hijri(days int) (year, month, day int) {
	n := days - hijriStart
	year = (30*n + 10646) / 10631
	start := (year-1)*354 + (3+11*year)/30
	rest := n - start
	month = min((rest*2+1)/59, 11)
	day = rest - (month*59+1)/2
	return year, month + 1, day + 1
}

// String prints a value for debugging and tests: NULL, numbers and dates as T-SQL prints them, binaries in hexadecimal,
// text as it is.
func (v Value) String() string {
	switch v.kind {
	case Null:
		return "NULL"
	case String:
		return v.s
	case Int:
		return strconv.FormatInt(v.n, 10)
	case Decimal:
		return decimalText(v)
	case Money:
		return fixedPoint(v.n, 4)
	case Float:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case Bytes:
		return "0x" + hexText(v.s)
	case GUID:
		return guidText(v.s)
	case Variant:
		inner, _ := v.Variant()
		return inner.String()
	default:
		s, err := dateText(v, Type{Type: sqltype.Type{Scale: 7}}, Type{}, 121)
		if err != nil {
			return err.Error()
		}
		return s
	}
}
