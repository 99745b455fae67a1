package wire

import (
	"errors"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// specialProcedures are the procedures that a call may name by number.
var specialProcedures = [...]string{
	1: "sp_cursor", 2: "sp_cursoropen", 3: "sp_cursorprepare", 4: "sp_cursorexecute", 5: "sp_cursorprepexec",
	6: "sp_cursorunprepare", 7: "sp_cursorfetch", 8: "sp_cursoroption", 9: "sp_cursorclose", 10: "sp_executesql",
	11: "sp_prepare", 12: "sp_execute", 13: "sp_prepexec", 14: "sp_prepexecrpc", 15: "sp_unprepare",
}

// What stands between the calls of a message. A name of a parameter, which is what else may stand there, is shorter.
const (
	nextCall        = 0xFF
	nextCallNotDone = 0xFE // the next call is not to be executed
)

// The bits of a call's flags, and of a parameter's.
const (
	callNoMetadata = 0x02
	paramOutput    = 0x01
	paramDefault   = 0x02
	paramEncrypted = 0x08
)

// callReader reads the calls of a message, one after the other: each may be executed before the next one is read.
type callReader struct {
	*cursor
	transaction uint64
	collation   *value.Collation
	first       bool
}

// newCallReader reads the headers of a message. collation is that of text that comes without one.
func newCallReader(payload []byte, collation *value.Collation) (*callReader, error) {
	r := &callReader{cursor: newCursor(payload), collation: collation, first: true}
	r.transaction = r.headers()
	return r, r.err
}

// more reports whether there is another call. A message has one at least.
func (r *callReader) more() bool { return r.first || !r.done() }

// next reads a call and what separates it from the next one. A *fault.Error is about what the client may not ask for;
// the message cannot be read on after it.
func (r *callReader) next() (request.Call, error) {
	r.first = false
	call := request.Call{Transaction: r.transaction}
	const byNumber = 0xFFFF
	if n := r.uint16(); n == byNumber {
		number := int(r.uint16())
		if number == 0 || number >= len(specialProcedures) {
			r.fail("the procedure with the number %d", number)
			return call, r.err
		}
		call.Name = specialProcedures[number]
	} else {
		call.Name = r.text(int(n))
	}
	call.NoMetadata = r.uint16()&callNoMetadata != 0
	for r.err == nil && !r.done() {
		if mark := r.rest[0]; mark == nextCall {
			r.take(1)
			break
		} else if mark == nextCallNotDone {
			return call, unsupported("a call that is not to be executed")
		}
		p, err := r.param(len(call.Params) + 1)
		if err != nil {
			return call, err
		}
		if call.Params == nil {
			call.Params = make([]request.Param, 0, usualParams)
		}
		call.Params = append(call.Params, p)
	}
	return call, r.err
}

// usualParams is how many parameters few calls exceed.
const usualParams = 16

// param reads the parameter with an ordinal.
func (r *callReader) param(ordinal int) (request.Param, error) {
	p := request.Param{Name: r.shortText()}
	flags := r.byte()
	p.Output, p.Default = flags&paramOutput != 0, flags&paramDefault != 0
	if flags&paramEncrypted != 0 {
		return p, unsupported("Always Encrypted, with which the parameter %q comes,", p.Name)
	}
	if r.err == nil && !r.done() && typeCode(r.rest[0]) == typeTable {
		var err error
		p.Table, err = r.table()
		if p.Table != nil {
			p.Type = tableType(p.Table)
		}
		return p, r.invalid(err, ordinal, p.Name, "table")
	}
	t, err := r.typeInfo(r.collation)
	if err != nil {
		return p, err
	}
	p.Type = t.typ
	p.Value, err = r.value(&t)
	return p, r.invalid(err, ordinal, p.Name, string(t.typ.Kind))
}

// invalid makes the server's error of errInvalid. That the message is broken comes first.
func (r *callReader) invalid(err error, ordinal int, name, typ string) error {
	switch {
	case r.err != nil:
		return r.err
	case errors.Is(err, errInvalid):
		return fault.New(8023, ordinal, name, typ)
	default:
		return err
	}
}
