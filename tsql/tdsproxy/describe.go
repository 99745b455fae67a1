package tdsproxy

import (
	"encoding/binary"
	"fmt"
	"unicode/utf16"
)

// executeSQL is the number of the procedure that runs a text.
const executeSQL = 10

// systemProcedures are the procedures that a request may name by number, those of them that drivers use (MS-TDS
// 2.2.6.6).
var systemProcedures = map[uint16]string{
	executeSQL: "sp_executesql", 11: "sp_prepare", 12: "sp_execute", 13: "sp_prepexec", 15: "sp_unprepare",
}

// maxName bounds how much of a batch's text becomes a request's name, in UTF-16 units.
const maxName = 80

// describe tells what a message asks for: the procedure that an RPC names, with the text if that is sp_executesql, or
// the beginning of a batch's text. Both are empty where it cannot be told.
func describe(kind Type, payload []byte) (name, text string) {
	if kind != RPC && kind != Batch {
		return "", ""
	}
	// ALL_HEADERS: its own length, in four bytes, comes first.
	if len(payload) < 4 {
		return "", ""
	}
	length := binary.LittleEndian.Uint32(payload)
	if uint64(length) > uint64(len(payload)) {
		return "", ""
	}
	rest := payload[length:]
	if kind == Batch {
		return decode(rest, min(len(rest)/2, maxName)), ""
	}
	name, rest = procedure(rest)
	if name == systemProcedures[executeSQL] {
		text = firstText(rest)
	}
	return name, text
}

// procedure reads NameLenProcID: a length and a name, or 0xFFFF and a number. rest is what follows.
func procedure(data []byte) (name string, rest []byte) {
	if len(data) < 2 {
		return "", nil
	}
	length, data := binary.LittleEndian.Uint16(data), data[2:]
	if length != 0xFFFF {
		end := min(2*int(length), len(data))
		return decode(data, int(length)), data[end:]
	}
	if len(data) < 2 {
		return "", nil
	}
	number, rest := binary.LittleEndian.Uint16(data), data[2:]
	if known, ok := systemProcedures[number]; ok {
		return known, rest
	}
	return fmt.Sprintf("system procedure %d", number), rest
}

const (
	nvarchar = 0xE7
	// large is the maximum length of nvarchar(max), whose value comes in chunks.
	large = 0xFFFF
)

// firstText reads the first parameter of an RPC, from its flags on (MS-TDS 2.2.6.6): empty unless it is an nvarchar.
func firstText(data []byte) string {
	const flags, status, size, collation = 2, 1, 2, 5
	if len(data) <= flags {
		return ""
	}
	name := 2 * int(data[flags])
	start := flags + 1 + name + status
	if len(data) < start+1+size+collation || data[start] != nvarchar {
		return ""
	}
	most, value := binary.LittleEndian.Uint16(data[start+1:]), data[start+1+size+collation:]
	if most == large {
		value = chunks(value)
		return decode(value, len(value)/2)
	}
	if len(value) < 2 {
		return ""
	}
	return decode(value[2:], int(binary.LittleEndian.Uint16(value))/2)
}

// chunks joins the chunks of a large value: they follow the length of the whole, which need not be known, and the last
// is empty.
func chunks(data []byte) (value []byte) {
	const whole, length = 8, 4
	for at := whole; at+length <= len(data); {
		size := int(binary.LittleEndian.Uint32(data[at:]))
		at += length
		if size == 0 || at+size > len(data) {
			break
		}
		value = append(value, data[at:at+size]...)
		at += size
	}
	return value
}

// decode reads text of so many UTF-16 units; empty if there are not as many.
func decode(data []byte, units int) string {
	if len(data) < 2*units {
		return ""
	}
	text := make([]uint16, units)
	for i := range text {
		text[i] = binary.LittleEndian.Uint16(data[2*i:])
	}
	return string(utf16.Decode(text))
}
