package session

import (
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/define"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// clientFile stands for the client where an error has no other place.
var clientFile = diag.NewFile("", "")

// rowsArgument is a table-valued parameter as it came over the wire.
type rowsArgument = request.TableValue

// call executes a procedure that the client calls by its name.
func (s *Session) call(r request.Call) error {
	args := make([]argument, len(r.Params))
	type result struct {
		v value.Value
		t value.Type
	}
	results := make([]*result, len(r.Params))
	for i, p := range r.Params {
		args[i] = argument{name: p.Name, typ: p.Type, value: p.Value, fallback: p.Default, rows: p.Table}
		if p.Output {
			args[i].output = func(v value.Value, t value.Type) error {
				v, t = asAsked(v, t, p.Type)
				results[i] = &result{v, t}
				return nil
			}
		}
	}
	// A procedure is called from somewhere: an empty batch stands for the client.
	a := s.enter(s.newUnit(clientFile, s.defaultSchema()), nil)
	status, err := s.invoke(diag.Span{}, splitName(r.Name), args)
	if err != nil {
		err = s.failed(a, diag.Span{}, err)
	}
	s.leave(a)
	if err = s.ended(err); err != nil || status.IsNull() {
		return err
	}
	s.tellStatus(status)
	for i, out := range results {
		if out != nil {
			s.tell(func(sink request.Sink) error { return sink.Output(r.Params[i].Name, i, out.t, out.v) })
		}
	}
	return nil
}

// asAsked makes the value of an output parameter one of the type that the client has given it: who asks for a bit as a
// bigint gets a bigint. Texts and bytes keep the length that the procedure has given them.
func asAsked(v value.Value, t, asked value.Type) (value.Value, value.Type) {
	if asked.Kind == t.Kind || asked.Kind == sqltype.Null {
		return v, t
	}
	if asked.IsCharacter() || asked.IsBinary() {
		asked.Length = sqltype.Max
	}
	converted, err := value.Assign(v, t, asked)
	if err != nil {
		return v, t
	}
	return converted, asked
}

func (s *Session) tellStatus(status value.Value) {
	s.tell(func(sink request.Sink) error { return sink.ReturnStatus(int32(status.Int())) })
}

// bindTable gives a table-valued parameter its rows.
func (s *Session) bindTable(a *activation, p *param, arg *argument) error {
	switch {
	case arg.table != nil:
		if arg.table.ID != p.table.ID {
			return fault.New(206, arg.table.Name, p.typeName)
		}
		a.frame.Tables[p.slot] = arg.table
		return nil
	case arg.rows != nil:
		return s.fill(a, p, arg.rows)
	case arg.value.IsNull():
		return nil // a driver sends NULL for an empty table
	default:
		return fault.New(206, arg.typ.String(), p.typeName)
	}
}

// fill stores the rows of a table-valued parameter, as an INSERT would.
func (s *Session) fill(a *activation, p *param, rows *rowsArgument) (err error) {
	if len(rows.Rows) == 0 {
		return nil
	}
	t := a.variableTable(p.slot)
	writer, err := define.NewFiller(s.defining(a.unit), t, len(rows.Columns))
	if err != nil {
		return err
	}
	scope := s.begin()
	defer func() { err = s.end(scope, err) }()
	st := s.Statement()
	for _, row := range rows.Rows {
		values, err := writer.Row(&a.frame, row, func(i int) (value.Type, bool) {
			return rows.Columns[i].Type, i < len(rows.Defaulted) && rows.Defaulted[i]
		})
		if err != nil {
			return err
		}
		if _, err := st.Insert(t.Data, values); err != nil {
			return t.Refused(err)
		}
	}
	return nil
}
