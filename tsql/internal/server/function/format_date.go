package function

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// formatDate formats a date. A format of one letter is a standard one, any other is custom.
func (c *culture) formatDate(v value.Value, format string) (string, bool) {
	if format == "" {
		format = "G"
	}
	t := v.GoTime()
	if len(format) == 1 {
		offset := v.Kind() == value.DateTimeOffset
		letter := format[0]
		var ok bool
		if format, ok = c.standardDate(letter, offset); !ok || letter == 'U' && offset {
			return "", false
		}
		switch letter {
		case 'r', 'R', 'u': // these are in UTC, and in English
			c, t = english, t.UTC()
		case 's', 'o', 'O':
			c = english
		}
	}
	if v.Kind() == value.DateTime {
		t = t.Round(time.Millisecond) // .NET sees 7 milliseconds where there are 6 2/3
	}
	return c.customDate(t, v.Kind() == value.DateTimeOffset, format)
}

// standardDate returns the custom format that a letter stands for.
func (c *culture) standardDate(letter byte, offset bool) (string, bool) {
	switch letter {
	case 'd':
		return c.shortDate, true
	case 'D':
		return c.longDate, true
	case 't':
		return c.shortTime, true
	case 'T':
		return c.longTime, true
	case 'f':
		return c.longDate + " " + c.shortTime, true
	case 'F', 'U':
		return c.longDate + " " + c.longTime, true
	case 'g':
		return c.shortDate + " " + c.shortTime, true
	case 'G':
		if offset {
			return c.shortDate + " " + c.longTime + " zzz", true
		}
		return c.shortDate + " " + c.longTime, true
	case 'm', 'M':
		return c.monthDay, true
	case 'y', 'Y':
		return c.yearMonth, true
	case 's':
		return "yyyy'-'MM'-'dd'T'HH':'mm':'ss", true
	case 'u':
		return "yyyy'-'MM'-'dd HH':'mm':'ss'Z'", true
	case 'o', 'O':
		return "yyyy'-'MM'-'dd'T'HH':'mm':'ss'.'fffffffK", true
	case 'r', 'R':
		return "ddd, dd MMM yyyy HH':'mm':'ss 'GMT'", true
	default:
		return "", false
	}
}

// customDate formats by letters, each repeated to say how long it is.
func (c *culture) customDate(t time.Time, offset bool, format string) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(format); {
		ch, n := format[i], 1
		for i+n < len(format) && format[i+n] == ch {
			n++
		}
		switch ch {
		case '\\':
			if i+1 >= len(format) {
				return "", false
			}
			out.WriteByte(format[i+1])
			i += 2
			continue
		case '\'', '"':
			end := strings.IndexByte(format[i+1:], ch)
			if end < 0 {
				return "", false
			}
			out.WriteString(format[i+1 : i+1+end])
			i += end + 2
			continue
		case '%':
			i++
			continue
		case '/':
			out.WriteString(strings.Repeat(c.dateSign, n))
		case ':':
			out.WriteString(strings.Repeat(c.timeSign, n))
		default:
			text, ok := c.datePart(t, offset, ch, n)
			if !ok {
				return "", false
			}
			if ch == 'F' && text == "" { // a point before fractional digits that are not there
				trimmed := strings.TrimSuffix(out.String(), ".")
				out.Reset()
				out.WriteString(trimmed)
			}
			out.WriteString(text)
		}
		i += n
	}
	return out.String(), true
}

// datePart formats what a letter stands for; other characters stand for themselves.
func (c *culture) datePart(t time.Time, offset bool, letter byte, n int) (string, bool) {
	switch letter {
	case 'y':
		if n <= 2 {
			return fmt.Sprintf("%0*d", n, t.Year()%100), true
		}
		return fmt.Sprintf("%0*d", n, t.Year()), true
	case 'M':
		switch n {
		case 1, 2:
			return fmt.Sprintf("%0*d", n, int(t.Month())), true
		case 3:
			return c.shortMonths[t.Month()-1], true
		default:
			return c.months[t.Month()-1], true
		}
	case 'd':
		switch n {
		case 1, 2:
			return fmt.Sprintf("%0*d", n, t.Day()), true
		case 3:
			return string([]rune(c.days[t.Weekday()])[:c.shortLetters]), true
		default:
			return c.days[t.Weekday()], true
		}
	case 'H':
		return fmt.Sprintf("%0*d", min(n, 2), t.Hour()), true
	case 'h':
		return fmt.Sprintf("%0*d", min(n, 2), (t.Hour()+11)%12+1), true
	case 'm':
		return fmt.Sprintf("%0*d", min(n, 2), t.Minute()), true
	case 's':
		return fmt.Sprintf("%0*d", min(n, 2), t.Second()), true
	case 'f', 'F':
		if n > 7 {
			return "", false
		}
		text := fmt.Sprintf("%07d", t.Nanosecond()/100)[:n]
		if letter == 'F' {
			text = strings.TrimRight(text, "0")
		}
		return text, true
	case 't':
		half := c.am
		if t.Hour() >= 12 {
			half = c.pm
		}
		if n == 1 {
			return half[:min(1, len(half))], true
		}
		return half, true
	case 'g':
		return "A.D.", true
	case 'K', 'z':
		return zoneText(t, offset, letter, n), true
	default:
		return strings.Repeat(string(letter), n), true
	}
}

// zoneText is the offset of a time from UTC; of a time without one, K is empty and z that of the server, UTC.
func zoneText(t time.Time, offset bool, letter byte, n int) string {
	if letter == 'K' && !offset {
		return ""
	}
	_, seconds := t.Zone()
	sign := "+"
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	hours, minutes := seconds/3600, seconds/60%60
	switch {
	case letter == 'K' || n >= 3:
		return fmt.Sprintf("%s%02d:%02d", sign, hours, minutes)
	case n == 2:
		return fmt.Sprintf("%s%02d", sign, hours)
	default:
		return sign + strconv.Itoa(hours)
	}
}

// formatTime formats a time of day, which is a duration to .NET: what is no letter has to be quoted or escaped.
func (c *culture) formatTime(ticks int64, format string) (string, bool) {
	hour, minute, second, part := ticks/36_000_000_000, ticks/600_000_000%60, ticks/10_000_000%60, ticks%10_000_000
	switch format {
	case "", "c", "t", "T":
		text := fmt.Sprintf("%02d:%02d:%02d", hour, minute, second)
		if part > 0 {
			text += fmt.Sprintf(".%07d", part)
		}
		return text, true
	case "g":
		text := fmt.Sprintf("%d:%02d:%02d", hour, minute, second)
		if part > 0 {
			text += c.decimal + strings.TrimRight(fmt.Sprintf("%07d", part), "0")
		}
		return text, true
	case "G":
		return fmt.Sprintf("0:%02d:%02d:%02d%s%07d", hour, minute, second, c.decimal, part), true
	}
	var out strings.Builder
	for i := 0; i < len(format); {
		ch, n := format[i], 1
		for i+n < len(format) && format[i+n] == ch {
			n++
		}
		switch ch {
		case '\\', '\'', '"':
			end := i + 2
			if ch != '\\' {
				end = strings.IndexByte(format[i+1:], ch) + i + 2
			}
			if end > len(format) || end == i+1 {
				return "", false
			}
			out.WriteString(strings.Trim(format[i+1:end], string(ch)))
			i = end
			continue
		case '%':
			n = 1
		case 'h':
			fmt.Fprintf(&out, "%0*d", min(n, 2), hour)
		case 'm':
			fmt.Fprintf(&out, "%0*d", min(n, 2), minute)
		case 's':
			fmt.Fprintf(&out, "%0*d", min(n, 2), second)
		case 'd':
			fmt.Fprintf(&out, "%0*d", n, 0)
		case 'f', 'F':
			if n > 7 {
				return "", false
			}
			text := fmt.Sprintf("%07d", part)[:n]
			if ch == 'F' {
				text = strings.TrimRight(text, "0")
			}
			out.WriteString(text)
		default:
			return "", false
		}
		i += n
	}
	return out.String(), true
}
