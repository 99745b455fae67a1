package function

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// FORMAT is .NET's ToString of numbers and dates, for the cultures of this file.

// culture is how a country writes numbers and dates.
type culture struct {
	decimal, group, symbol                          string
	currency, negativeCurrency, percent             string // n is the number, $ the symbol
	shortDate, longDate, shortTime, longTime        string
	monthDay, yearMonth, am, pm, dateSign, timeSign string
	months, days                                    []string
	shortLetters                                    int // of the short names of days
	shortMonths                                     []string
}

var (
	englishMonths = strings.Fields("January February March April May June July August September October November December")
	englishDays   = strings.Fields("Sunday Monday Tuesday Wednesday Thursday Friday Saturday")
	englishShort  = strings.Fields("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec")
)

// cultures are by lower-case name.
var cultures = map[string]*culture{
	"en-us": {
		decimal: ".", group: ",", symbol: "$", currency: "$n", negativeCurrency: "($n)", percent: "n%",
		shortDate: "M/d/yyyy", longDate: "dddd, MMMM d, yyyy", shortTime: "h:mm tt", longTime: "h:mm:ss tt",
		monthDay: "MMMM d", yearMonth: "MMMM yyyy", am: "AM", pm: "PM", dateSign: "/", timeSign: ":",
		months: englishMonths, days: englishDays, shortMonths: englishShort, shortLetters: 3,
	},
	"en-gb": {
		decimal: ".", group: ",", symbol: "£", currency: "$n", negativeCurrency: "-$n", percent: "n%",
		shortDate: "dd/MM/yyyy", longDate: "dd MMMM yyyy", shortTime: "HH:mm", longTime: "HH:mm:ss",
		monthDay: "d MMMM", yearMonth: "MMMM yyyy", am: "AM", pm: "PM", dateSign: "/", timeSign: ":",
		months: englishMonths, days: englishDays, shortMonths: englishShort, shortLetters: 3,
	},
	"de-de": {
		decimal: ",", group: ".", symbol: "€", currency: "n $", negativeCurrency: "-n $", percent: "n %",
		shortDate: "dd.MM.yyyy", longDate: "dddd, d. MMMM yyyy", shortTime: "HH:mm", longTime: "HH:mm:ss",
		monthDay: "d. MMMM", yearMonth: "MMMM yyyy", dateSign: ".", timeSign: ":",
		months:       strings.Fields("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
		days:         strings.Fields("Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag"),
		shortMonths:  strings.Fields("Jan Feb Mrz Apr Mai Jun Jul Aug Sep Okt Nov Dez"),
		shortLetters: 2,
	},
	"fr-fr": {
		decimal: ",", group: "\u00a0", symbol: "€", currency: "n $", negativeCurrency: "-n $", percent: "n %",
		shortDate: "dd/MM/yyyy", longDate: "dddd d MMMM yyyy", shortTime: "HH:mm", longTime: "HH:mm:ss",
		monthDay: "d MMMM", yearMonth: "MMMM yyyy", dateSign: "/", timeSign: ":",
		months:       strings.Fields("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
		days:         strings.Fields("dimanche lundi mardi mercredi jeudi vendredi samedi"),
		shortMonths:  strings.Fields("janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc."),
		shortLetters: 3,
	},
}

// cultureOf returns the culture of a name; without a name, that of the session, which is English.
func cultureOf(name string) (*culture, error) {
	if c, ok := cultures[strings.ToLower(strings.TrimSpace(name))]; ok {
		return c, nil
	}
	return nil, fault.New(fault.Unsupported, "FORMAT with the culture '"+name+"' is not supported by tsqltest")
}

// bindFormat: NULL for a format that .NET refuses.
func bindFormat(c *bindCall) (*Bound, error) {
	t := c.args[0].Type
	if !t.IsNumeric() && !t.IsTemporal() || t.Kind == sqltype.Bit {
		return nil, fault.New(8116, t.Type.Kind, 1, "format")
	}
	types := []value.Type{asIs, typeMaxText, typeMaxText}[:len(c.args)]
	return simple(func(args []value.Value) (value.Value, error) {
		name := "en-US"
		if len(args) == 3 {
			name = args[2].Str()
		}
		culture, err := cultureOf(name)
		if err != nil {
			return value.Value{}, err
		}
		var text string
		var ok bool
		switch {
		case args[0].Kind() == value.Time:
			text, ok = culture.formatTime(args[0].Ticks(), args[1].Str())
		case t.IsTemporal():
			text, ok = culture.formatDate(args[0], args[1].Str())
		default:
			text, ok = culture.formatNumber(numberOf(args[0], t), args[1].Str())
		}
		if !ok {
			return value.Value{}, nil
		}
		return value.OfString(value.Slice16(text, 0, 4000)), nil
	}, types...), nil
}

// number is a number to be formatted.
type number struct {
	rat   *big.Rat
	whole bool // of an integer type: D and X are for these alone
	bits  int  // of an integer type
	scale int  // of a decimal, which keeps its zeros in G; -1 for a float
}

// numberOf reads a number. A float counts with the 15 digits that it is sure of.
func numberOf(v value.Value, t value.Type) number {
	switch v.Kind() {
	case value.Int:
		bits := map[sqltype.Kind]int{sqltype.TinyInt: 8, sqltype.SmallInt: 16, sqltype.Int: 32, sqltype.BigInt: 64}[t.Kind]
		return number{rat: new(big.Rat).SetInt64(v.Int()), whole: true, bits: bits}
	case value.Money:
		return number{rat: big.NewRat(v.Money(), 10000), scale: 4}
	case value.Decimal:
		coef, scale := v.Decimal()
		return number{rat: new(big.Rat).SetFrac(coef, pow10(scale)), scale: scale}
	default:
		rat, ok := new(big.Rat).SetString(strconv.FormatFloat(v.Float(), 'g', 15, 64))
		if !ok {
			rat = new(big.Rat)
		}
		return number{rat: rat, scale: -1}
	}
}

// pow10 returns a power of ten.
func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}
