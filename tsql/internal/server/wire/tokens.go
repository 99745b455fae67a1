package wire

import (
	"encoding/binary"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// The tokens of a response.
const (
	tokenReturnStatus = 0x79
	tokenColumns      = 0x81
	tokenError        = 0xAA
	tokenInfo         = 0xAB
	tokenReturnValue  = 0xAC
	tokenLoginAck     = 0xAD
	tokenFeatures     = 0xAE
	tokenRow          = 0xD1
	tokenNullBitsRow  = 0xD2
	tokenEnvironment  = 0xE3
	tokenDone         = 0xFD
	tokenDoneProc     = 0xFE
	tokenDoneInProc   = 0xFF
)

// The bits of a done token's status.
const (
	doneMore          = 0x01
	doneError         = 0x02
	doneInTransaction = 0x04
	doneCount         = 0x10
	doneAttention     = 0x20
	doneSevereError   = 0x100
)

// commands are what a done token calls the statement that has ended.
var commands = map[string]uint16{
	"SELECT": 0xC1, "INSERT": 0xC3, "DELETE": 0xC4, "UPDATE": 0xC5, "MERGE": 0x117, "EXEC": 0xE0,
	"BEGIN": 0xD4, "COMMIT": 0xD5, "ROLLBACK": 0xD2, "SAVE": 0xD6,
}

// done is one of the three done tokens.
type done struct {
	token   byte
	status  uint16
	command uint16
	rows    uint64
}

// append writes the token; more says that another one follows.
func (d done) append(dst []byte, more bool) []byte {
	if more {
		d.status |= doneMore
	}
	dst = binary.LittleEndian.AppendUint16(append(dst, d.token), d.status)
	dst = binary.LittleEndian.AppendUint16(dst, d.command)
	return binary.LittleEndian.AppendUint64(dst, d.rows)
}

// appendMessage writes an ERROR, or an INFO for what is none. A text that is too long for the token is cut off.
func appendMessage(dst []byte, e *fault.Error, server string) []byte {
	const longest = 8000
	token, class := byte(tokenInfo), e.Class
	switch {
	case class > 10:
		token = tokenError
	case class == 10:
		class = 0 // which is how clients have always been told of mere information
	}
	dst = append(dst, token, 0, 0)
	at := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(e.Number))
	dst = append(dst, e.State, class)
	dst = appendLongText(dst, e.Message, longest)
	dst = appendShortText(dst, server)
	dst = appendShortText(dst, e.Procedure)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(e.Line))
	binary.LittleEndian.PutUint16(dst[at-2:], uint16(len(dst)-at))
	return dst
}

// What an ENVCHANGE changes.
const (
	envDatabase    = 1
	envLanguage    = 2
	envPacketSize  = 4
	envCollation   = 7
	envBegin       = 8
	envCommit      = 9
	envRollback    = 10
	envResetIsDone = 18
)

// appendEnvironment writes an ENVCHANGE whose values are texts.
func appendEnvironment(dst []byte, what byte, now, before string) []byte {
	dst = append(dst, tokenEnvironment, 0, 0, what)
	at := len(dst) - 1
	dst = appendShortText(dst, now)
	dst = appendShortText(dst, before)
	binary.LittleEndian.PutUint16(dst[at-2:], uint16(len(dst)-at))
	return dst
}

// appendBinaryEnvironment writes an ENVCHANGE whose values are bytes.
func appendBinaryEnvironment(dst []byte, what byte, now, before []byte) []byte {
	dst = binary.LittleEndian.AppendUint16(append(dst, tokenEnvironment), uint16(3+len(now)+len(before)))
	dst = append(append(dst, what, byte(len(now))), now...)
	return append(append(dst, byte(len(before))), before...)
}

// appendTransaction writes an ENVCHANGE about a transaction: a descriptor is new when it begins, and old when it ends.
func appendTransaction(dst []byte, what byte, descriptor uint64) []byte {
	bytes := binary.LittleEndian.AppendUint64(nil, descriptor)
	if what == envBegin {
		return appendBinaryEnvironment(dst, what, bytes, nil)
	}
	return appendBinaryEnvironment(dst, what, nil, bytes)
}

// appendLoginAck writes that a login has succeeded.
func appendLoginAck(dst []byte, version uint32, program string, v Version) []byte {
	const transactSQL = 1
	dst = append(dst, tokenLoginAck, 0, 0)
	at := len(dst)
	dst = binary.BigEndian.AppendUint32(append(dst, transactSQL), version)
	dst = appendShortText(dst, program)
	dst = append(dst, v.Major, v.Minor, byte(v.Build>>8), byte(v.Build))
	binary.LittleEndian.PutUint16(dst[at-2:], uint16(len(dst)-at))
	return dst
}

// appendColumns writes the COLMETADATA of a result.
func appendColumns(dst []byte, columns []column) []byte {
	dst = binary.LittleEndian.AppendUint16(append(dst, tokenColumns), uint16(len(columns)))
	for i := range columns {
		c := &columns[i]
		dst = binary.LittleEndian.AppendUint32(dst, c.userType)
		dst = binary.LittleEndian.AppendUint16(dst, c.flags)
		dst = c.appendType(dst)
		dst = appendShortText(dst, c.name)
	}
	return dst
}

// appendRow writes a row, as a ROW or as an NBCROW, which has a bit for each column that is NULL. The latter is chosen
// where it is shorter and the client can read it.
func appendRow(dst []byte, columns []column, values []value.Value, nullBits bool) ([]byte, error) {
	bitmap := (len(columns) + 7) / 8
	if nullBits {
		saved := 0
		for i := range columns {
			if values[i].IsNull() && columns[i].shape != shapeFixed {
				saved += columns[i].nullCost
			}
		}
		nullBits = saved > bitmap
	}
	at := len(dst) + 1
	if nullBits {
		dst = append(dst, tokenNullBitsRow)
		for range bitmap {
			dst = append(dst, 0)
		}
	} else {
		dst = append(dst, tokenRow)
	}
	var err error
	for i := range columns {
		if nullBits && values[i].IsNull() && columns[i].shape != shapeFixed {
			dst[at+i/8] |= 1 << (i % 8)
			continue
		}
		if dst, err = columns[i].appendCell(dst, values[i]); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// appendReturnValue writes an output parameter.
func appendReturnValue(dst []byte, ordinal int, c *column, v value.Value) ([]byte, error) {
	const isOutput = 1
	dst = binary.LittleEndian.AppendUint16(append(dst, tokenReturnValue), uint16(ordinal))
	dst = append(appendShortText(dst, c.name), isOutput)
	dst = binary.LittleEndian.AppendUint32(dst, c.userType)
	dst = binary.LittleEndian.AppendUint16(dst, c.flags)
	return c.appendCell(c.appendType(dst), v)
}
