package value

import (
	"encoding/binary"
	"math/big"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// toBytes makes a binary. Numbers lose their first bytes if they are too long, everything else its last ones.
func toBytes(v Value, from, to Type, style int) (Value, error) {
	switch v.kind {
	case Bytes:
		return fitBytes(v.s, to), nil
	case String:
		if from.Kind == sqltype.XML {
			return xmlToBytes(v.s, to)
		}
		return textToBytes(v.s, from, to, style)
	case Int:
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(v.n))
		return fitNumber(string(b[8-intBytes(from.Kind):]), to), nil
	case Money:
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(v.n))
		return fitNumber(string(b[8-intBytes(moneyBytes(from).Kind):]), to), nil
	case Float:
		return fitNumber(floatBytes(v, from), to), nil
	case Decimal:
		return fitBytes(decimalBytes(v, from), to), nil
	case DateTime:
		return fitNumber(dateTimeBytes(v.n, from), to), nil
	case Date, Time, DateTime2, DateTimeOffset:
		return fitBytes(string(appendDateBytes(nil, v, from, true)), to), nil
	case GUID:
		b := GUIDToStored(v.GUID())
		return fitBytes(string(b[:]), to), nil
	default:
		return Value{}, never(from, to)
	}
}

// byteLimit is the length of a binary type; ok is false if it has none.
func byteLimit(t Type) (n int, ok bool) {
	switch {
	case t.Kind == sqltype.RowVersion:
		return 8, true
	case t.Kind != sqltype.Binary && t.Kind != sqltype.VarBinary || t.IsMax():
		return 0, false
	default:
		return t.Length, true
	}
}

// fixedBytes reports whether values of a type have its full length.
func fixedBytes(t Type) bool { return t.Kind == sqltype.Binary || t.Kind == sqltype.RowVersion }

// fitBytes cuts bytes at the end, or fills them with zeros there.
func fitBytes(s string, to Type) Value {
	limit, ok := byteLimit(to)
	switch {
	case ok && len(s) > limit:
		s = s[:limit]
	case ok && len(s) < limit && fixedBytes(to):
		s += strings.Repeat("\x00", limit-len(s))
	}
	return OfRaw(s)
}

// fitNumber cuts the bytes of a number at the beginning, or fills them with zeros there.
func fitNumber(s string, to Type) Value {
	limit, ok := byteLimit(to)
	switch {
	case ok && len(s) > limit:
		s = s[len(s)-limit:]
	case ok && len(s) < limit && fixedBytes(to):
		s = strings.Repeat("\x00", limit-len(s)) + s
	}
	return OfRaw(s)
}

// textToBytes takes the bytes of a text, or with the styles 1 and 2 reads them in hexadecimal.
func textToBytes(s string, from, to Type, style int) (Value, error) {
	if style == 1 || style == 2 {
		b, ok := parseHex(s, style == 1)
		if !ok {
			return Value{}, fault.New(8114, baseName(from), baseName(to))
		}
		return fitBytes(b, to), nil
	}
	if inUTF16(from) {
		return fitBytes(string(EncodeUTF16(nil, s)), to), nil
	}
	return fitBytes(string(EncodeVarchar(nil, s, from.Collation)), to), nil
}

// parseHex reads bytes in hexadecimal, with 0x or without.
func parseHex(s string, prefix bool) (string, bool) {
	if prefix {
		if len(s) < 2 || s[0] != '0' || s[1]|0x20 != 'x' {
			return "", false
		}
		s = s[2:]
	}
	if len(s)%2 != 0 {
		return "", false
	}
	dst := make([]byte, 0, len(s)/2)
	for i := 0; i < len(s); i += 2 {
		high, ok1 := hexDigit(s[i])
		low, ok2 := hexDigit(s[i+1])
		if !ok1 || !ok2 {
			return "", false
		}
		dst = append(dst, high<<4|low)
	}
	return string(dst), true
}

func floatBytes(v Value, from Type) string {
	var b [8]byte
	if from.Kind == sqltype.Real {
		n := realBits(v.Float())
		binary.BigEndian.PutUint32(b[:4], n)
		return string(b[:4])
	}
	binary.BigEndian.PutUint64(b[:], uint64(v.n))
	return string(b[:])
}

// decimalBytes is a decimal as the server stores it: precision, scale, a zero, the sign (1 is positive), and the
// magnitude in words of four bytes, low ones first.
func decimalBytes(v Value, from Type) string {
	n, scale := v.Decimal()
	var magnitude [16]byte
	new(big.Int).Abs(n).FillBytes(magnitude[:])
	words := 4
	for words > 1 && isZero(magnitude[16-words*4:20-words*4]) {
		words--
	}
	sign := byte(1)
	if n.Sign() < 0 {
		sign = 0
	}
	dst := []byte{byte(from.Precision), byte(scale), 0, sign}
	for i := 15; i >= 16-words*4; i-- {
		dst = append(dst, magnitude[i])
	}
	return string(dst)
}

func isZero(b []byte) bool { return strings.Trim(string(b), "\x00") == "" }

// decimalFromBytes is the inverse of decimalBytes.
func decimalFromBytes(s string) (Value, bool) {
	if len(s) < 5 || s[0] > maxPrecision || s[1] > s[0] || len(s) > 20 {
		return Value{}, false
	}
	b := make([]byte, 0, 16)
	for i := len(s) - 1; i >= 4; i-- {
		b = append(b, s[i])
	}
	n := new(big.Int).SetBytes(b)
	if s[3] == 0 {
		n.Neg(n)
	}
	return OfDecimal(n, int(s[1])), true
}

// dateTimeBytes is a datetime as the server stores it: days since 1900 and parts of the day.
func dateTimeBytes(n int64, from Type) string {
	days, part := splitDateTime(n)
	var b [8]byte
	if from.Kind == sqltype.SmallDateTime {
		binary.BigEndian.PutUint16(b[:], uint16(days-day1900))
		binary.BigEndian.PutUint16(b[2:], uint16(part/18000))
		return string(b[:4])
	}
	binary.BigEndian.PutUint32(b[:], uint32(int32(days-day1900)))
	binary.BigEndian.PutUint32(b[4:], uint32(part))
	return string(b[:])
}

// dateTimeFromBytes is the inverse of dateTimeBytes, from the last bytes.
func dateTimeFromBytes(s string, to Type) (Value, bool) {
	if to.Kind == sqltype.SmallDateTime {
		n := bytesToInt(s, OfKind(sqltype.Int)).n
		days, minutes := n>>16&0xFFFF, n&0xFFFF
		return OfDateTime(days*dateTimePerDay + minutes*18000), minutes < 1440
	}
	n := bytesToInt(s, OfKind(sqltype.BigInt)).n
	days, part := n>>32, n&0xFFFFFFFF
	return OfDateTime(days*dateTimePerDay + part), part < dateTimePerDay && days >= day1753-day1900 && days <= lastDay-day1900
}

// appendDateBytes appends a date, a time, or both as the server stores and sends them: low bytes first, the time in
// units of the scale. As a binary, the scale comes first.
func appendDateBytes(dst []byte, v Value, t Type, withScale bool) []byte {
	if v.kind != Date {
		if withScale {
			dst = append(dst, byte(t.Scale))
		}
		n := v.n / pow10[7-t.Scale]
		for range sqltype.TimeBytes(t.Scale) {
			dst = append(dst, byte(n))
			n >>= 8
		}
	}
	if v.kind != Time {
		dst = append(dst, byte(v.days), byte(v.days>>8), byte(v.days>>16))
	}
	if v.kind == DateTimeOffset {
		dst = append(dst, byte(v.offset), byte(v.offset>>8))
	}
	return dst
}

// dateFromBytes reads what appendDateBytes writes as a binary.
func dateFromBytes(s string, to Type) (Value, bool) {
	days, ticks, offset := int64(0), int64(0), int64(0)
	group := groupOf(to.Kind)
	if group != dateGroup {
		if s == "" || s[0] > 7 || len(s) < 1+sqltype.TimeBytes(int(s[0])) {
			return Value{}, false
		}
		scale, size := int(s[0]), sqltype.TimeBytes(int(s[0]))
		ticks = lowFirst(s[1:1+size]) * pow10[7-scale]
		s = s[1+size:]
	}
	if group != timeGroup {
		if len(s) < 3 {
			return Value{}, false
		}
		days = lowFirst(s[:3])
		s = s[3:]
	}
	if group == offsetGroup {
		if len(s) < 2 {
			return Value{}, false
		}
		offset = int64(int16(lowFirst(s[:2])))
		s = s[2:]
	}
	if s != "" || days > lastDay || ticks >= ticksPerDay || offset < -14*60 || offset > 14*60 {
		return Value{}, false
	}
	switch group {
	case dateGroup:
		return OfDate(int(days)), true
	case timeGroup:
		return OfTime(ticks), true
	case offsetGroup:
		return OfDateTimeOffset(int(days), ticks, int(offset)), true
	default:
		return OfDateTime2(int(days), ticks), true
	}
}

// lowFirst is the number of bytes, the low one first.
func lowFirst(s string) (n int64) {
	for i := len(s) - 1; i >= 0; i-- {
		n = n<<8 | int64(s[i])
	}
	return n
}
