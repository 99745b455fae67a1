package function

import (
	"math/bits"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// bitFunctions work on whole numbers and on binaries, whose bits count from the last byte.
var bitFunctions = map[string]binder{
	"BIT_COUNT":   bindBits(func(b []byte, _ []value.Value) (value.Value, error) { return value.OfInt(ones(b)), nil }),
	"GET_BIT":     bindBits(getBit),
	"SET_BIT":     bindBits(nil),
	"LEFT_SHIFT":  bindBits(nil),
	"RIGHT_SHIFT": bindBits(nil),
}

// widthOf returns the bytes of a whole number.
func widthOf(t value.Type) int {
	switch t.Kind {
	case sqltype.Bit, sqltype.TinyInt:
		return 1
	case sqltype.SmallInt:
		return 2
	case sqltype.Int:
		return 4
	default:
		return 8
	}
}

// bytesOfInt returns the bytes of a whole number, the highest first.
func bytesOfInt(n int64, width int) []byte {
	b := make([]byte, width)
	for i := range b {
		b[width-1-i] = byte(n >> (8 * i))
	}
	return b
}

// intOfBytes is the inverse of bytesOfInt.
func intOfBytes(b []byte, t value.Type) int64 {
	n := int64(0)
	if len(b) > 0 && b[0]&0x80 != 0 && t.Kind != sqltype.TinyInt && t.Kind != sqltype.Bit {
		n = -1
	}
	for _, c := range b {
		n = n<<8 | int64(c)
	}
	return n
}

// bindBits gives a function the bits of the first argument. Without a function, the bits are changed and keep the type.
func bindBits(read func(b []byte, args []value.Value) (value.Value, error)) binder {
	return func(c *bindCall) (*Bound, error) {
		t := c.args[0].Type
		binary := t.IsBinary()
		if !binary && !t.IsExactInteger() && t.Kind != sqltype.Bit {
			return nil, fault.New(8116, t.Type.Kind, 1, c.name)
		}
		types := []value.Type{asIs, typeBigInt, typeInt}[:len(c.args)]
		return simple(func(args []value.Value) (value.Value, error) {
			var b []byte
			if binary {
				b = args[0].Bytes()
			} else {
				b = bytesOfInt(args[0].Int(), widthOf(t))
			}
			if read != nil {
				return read(b, args)
			}
			if err := changeBits(c.name, b, args); err != nil {
				return value.Value{}, err
			}
			if binary {
				return value.OfBytes(b), nil
			}
			return value.OfInt(intOfBytes(b, t)), nil
		}, types...), nil
	}
}

func ones(b []byte) int64 {
	n := 0
	for _, c := range b {
		n += bits.OnesCount8(c)
	}
	return int64(n)
}

func getBit(b []byte, args []value.Value) (value.Value, error) {
	i := args[1].Int()
	if i < 0 || i >= int64(len(b))*8 {
		return value.Value{}, fault.New(1023, i, "GET_BIT")
	}
	return value.OfBool(bitAt(b, i)), nil
}

// bitAt returns a bit, counted from the lowest.
func bitAt(b []byte, i int64) bool { return b[int64(len(b))-1-i/8]>>(i%8)&1 != 0 }

func putBit(b []byte, i int64, on bool) {
	mask := byte(1) << (i % 8)
	if at := int64(len(b)) - 1 - i/8; on {
		b[at] |= mask
	} else {
		b[at] &^= mask
	}
}

// changeBits is SET_BIT and the shifts. A negative shift goes the other way.
func changeBits(name string, b []byte, args []value.Value) error {
	n, size := args[1].Int(), int64(len(b))*8
	if name == "SET_BIT" {
		if n < 0 || n >= size {
			return fault.New(1023, n, name)
		}
		putBit(b, n, len(args) < 3 || args[2].Bool())
		return nil
	}
	if name == "RIGHT_SHIFT" {
		n = -n
	}
	before := append([]byte(nil), b...)
	for i := range size {
		from := i - n
		putBit(b, i, n > -size && n < size && from >= 0 && from < size && bitAt(before, from))
	}
	return nil
}
