package session

import (
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// The types of what control statements take.
var (
	intType     = value.Type{Type: sqltype.Type{Kind: sqltype.Int}}
	bigintType  = value.Type{Type: sqltype.Type{Kind: sqltype.BigInt}}
	messageType = value.Type{Type: sqltype.Type{Kind: sqltype.NVarChar, Length: 2048}}
	nameType    = value.Type{Type: sqltype.Type{Kind: sqltype.NVarChar, Length: 128}}
	cookieType  = value.Type{Type: sqltype.Type{Kind: sqltype.VarBinary, Length: 100}}
	textType    = value.Type{Type: sqltype.Type{Kind: sqltype.NVarChar, Length: sqltype.Max}}
	printType   = value.Type{Type: sqltype.Type{Kind: sqltype.NVarChar, Length: 4000}}
)

// print executes PRINT.
func (s *Session) print(a *activation, st *syntax.Print) error {
	v, err := s.convert(a, st.X, printType)
	if err != nil {
		return err
	}
	s.rowCount = 0
	text := " "
	if !v.IsNull() {
		text = v.Str()
	}
	e := &fault.Error{Class: 0, State: 1, Message: text, Line: line(a.unit.file, st.From), Procedure: a.unit.name}
	s.report(e)
	return nil
}

// throw executes THROW.
func (s *Session) throw(a *activation, st *syntax.Throw) error {
	if st.Number == nil {
		e := s.innermostCaught()
		if e == nil {
			return fault.New(10704)
		}
		again := *e
		again.Scope, again.Raised, again.Terminated = max(again.Scope, fault.Batch), false, false
		return &again
	}
	number, err := s.convert(a, st.Number, intType)
	if err != nil {
		return err
	}
	text, err := s.convert(a, st.Message, messageType)
	if err != nil {
		return err
	}
	state, err := s.convert(a, st.State, intType)
	if err != nil {
		return err
	}
	if number.IsNull() || number.Int() < 50000 {
		return fault.New(35100, number.Int())
	}
	return &fault.Error{
		Number: int32(number.Int()), Class: 16, State: uint8(state.Int()), Message: text.Str(), Scope: fault.Batch,
	}
}

// raiserror executes RAISERROR.
func (s *Session) raiserror(a *activation, st *syntax.Raiserror) error {
	if len(st.Args) < 3 {
		return s.unsupported(a.unit, st.Span, "RAISERROR without severity and state")
	}
	severity, err := s.convert(a, st.Args[1], intType)
	if err != nil {
		return err
	}
	state, err := s.convert(a, st.Args[2], intType)
	if err != nil {
		return err
	}
	e := &fault.Error{Number: 50000, Class: uint8(min(max(severity.Int(), 0), 25)), State: uint8(max(state.Int(), 1)), Raised: true}
	if e.Message, err = s.raisedText(a, st, e); err != nil {
		return err
	}
	log := syntax.HasOption(st.Options, "LOG")
	if e.Class > 18 && !log {
		return fault.New(2754, 18)
	}
	placed(e, a.unit.file, st.From, a.unit.name)
	s.rowCount = 0
	if e.Class <= 10 {
		if syntax.HasOption(st.Options, "SETERROR") {
			defer func() { s.lastError = e.Number }()
		}
		s.report(e)
		return nil
	}
	return e
}

// raisedText is the message of RAISERROR with its arguments in it.
func (s *Session) raisedText(a *activation, st *syntax.Raiserror, e *fault.Error) (string, error) {
	v, t, err := s.evaluate(a, st.Args[0], st.Args[0])
	if err != nil {
		return "", err
	}
	if t.IsExactInteger() {
		if v.Int() < 13000 || v.Int() == 50000 {
			return "", fault.New(2732, v.Int())
		}
		return "", fault.New(18054, v.Int(), e.Class, e.State)
	}
	if v, err = value.Assign(v, t, messageType); err != nil {
		return "", err
	}
	args := make([]function.FormatArgument, 0, len(st.Args)-3)
	for _, x := range st.Args[3:] {
		arg, argType, err := s.evaluate(a, x, x)
		if err != nil {
			return "", err
		}
		args = append(args, function.FormatArgument{Value: arg, Type: argType})
	}
	return function.FormatMessage(v.Str(), args)
}

// waitfor executes WAITFOR DELAY and WAITFOR TIME.
func (s *Session) waitfor(a *activation, st *syntax.Waitfor) error {
	v, t, err := s.evaluate(a, st.X, st.X)
	if err != nil {
		return err
	}
	pause, err := pauseOf(v, t)
	if err != nil {
		return err
	}
	if strings.EqualFold(st.Kind, "TIME") {
		now := s.server.now()
		midnight := now.Truncate(24 * time.Hour)
		if pause -= now.Sub(midnight); pause < 0 {
			pause += 24 * time.Hour
		}
	}
	s.sleeps = s.server.now()
	defer func() { s.sleeps = time.Time{} }()
	if s.server.scheduler.Park(s.ctx, s.id, schedule.Point{Kind: "sleep"}, pause) == schedule.Cancelled {
		return s.ctx.Err()
	}
	return nil
}

// pauseOf is the time of a day that WAITFOR names: a text without a date, or a datetime.
func pauseOf(v value.Value, t value.Type) (time.Duration, error) {
	wrong := func() error {
		text, err := value.Assign(v, t, printType)
		if err != nil || text.IsNull() {
			return fault.New(148, "")
		}
		return fault.New(148, text.Str())
	}
	switch {
	case t.Kind == sqltype.Date || t.Kind == sqltype.Time || t.Kind == sqltype.DateTime2 || t.Kind == sqltype.DateTimeOffset:
		return 0, fault.New(9815, string(t.Kind))
	case v.IsNull():
		return 0, wrong()
	case t.IsCharacter() && (!strings.Contains(v.Str(), ":") || strings.ContainsAny(v.Str(), "-/,")):
		return 0, wrong()
	case !t.IsCharacter() && t.Kind != sqltype.DateTime && t.Kind != sqltype.SmallDateTime:
		return 0, wrong()
	}
	at, err := value.Convert(v, t, timeType, 0)
	if err != nil {
		return 0, wrong()
	}
	return time.Duration(at.Ticks()) * tick, nil
}

// timeType is a time of a day, which counts ticks.
var timeType = value.Type{Type: sqltype.Type{Kind: sqltype.Time, Scale: 7}}

// tick is the unit of times.
const tick = 100 * time.Nanosecond
