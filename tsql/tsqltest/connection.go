package tsqltest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/session"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// Conn is a session without a network connection, for tests that make very many calls, or that need everything that a
// batch returns. Only one goroutine at a time may use it.
type Conn struct{ session request.Session }

// Connect opens a session as the server's owner. [Conn.Close] ends it.
func (s *Server) Connect(ctx context.Context) (*Conn, error) {
	opened, err := handler{s}.Open(ctx, request.Login{User: ownerName, Password: ownerPassword, Database: s.options.Database})
	if err != nil {
		return nil, fmt.Errorf("tsqltest: connecting: %w", publicError(err))
	}
	return &Conn{opened}, nil
}

// Close ends the session and rolls back its open transaction.
func (c *Conn) Close() { c.session.Close() }

// Result is everything that a batch or a call returns.
type Result struct {
	Sets     []Set
	Messages []string       // of PRINT, RAISERROR up to severity 10, and warnings
	Status   int32          // of a call
	Outputs  map[string]any // of a call, by the names of the parameters
	RowCount int64          // of the last statement that counts rows

	touched []session.Touch
}

// Set is a result set. A value is nil, an int64, float64, bool, string, []byte or time.Time; decimals and GUIDs are
// strings.
type Set struct {
	Columns []string
	Rows    [][]any
}

// Error is an error of T-SQL.
type Error struct {
	Number    int32
	Class     uint8 // the severity
	State     uint8
	Message   string
	Procedure string // empty for a batch
	Line      int32  // from 1, in the procedure or the batch; of an applied script, in the script
	File      string // of an applied script: its name, if Line is a line of it

	dynamic bool // raised in a text that EXECUTE executes
}

// Error returns the message with its number and place.
func (e *Error) Error() string {
	if e.File != "" {
		return fmt.Sprintf("%s:%d: %s (error %d)", e.File, e.Line, e.Message, e.Number)
	}
	if e.Procedure != "" {
		return fmt.Sprintf("%s:%d: %s (error %d)", e.Procedure, e.Line, e.Message, e.Number)
	}
	return fmt.Sprintf("line %d: %s (error %d)", e.Line, e.Message, e.Number)
}

// publicError makes an *Error of the server's error.
func publicError(err error) error {
	var e *fault.Error
	if !errors.As(err, &e) {
		return err
	}
	return &Error{
		Number: e.Number, Class: e.Class, State: e.State, Message: e.Message, Procedure: e.Procedure, Line: e.Line,
		dynamic: e.Dynamic,
	}
}

// Exec executes a batch. After an error the Result holds everything that came before it. The error is an [*Error], or
// several joined.
func (c *Conn) Exec(ctx context.Context, batch string) (*Result, error) {
	return c.execute(ctx, request.Batch{Text: batch})
}

// Arg is an argument of a procedure call.
type Arg struct {
	Name   string // with or without the @; empty for a positional one
	Value  any    // nil, an integer, float64, bool, string, []byte or time.Time
	Output bool
}

// Call executes a procedure.
func (c *Conn) Call(ctx context.Context, procedure string, args ...Arg) (*Result, error) {
	params := make([]request.Param, len(args))
	for i, a := range args {
		v, t, err := valueOf(a.Value)
		if err != nil {
			return nil, fmt.Errorf("tsqltest: argument %d of %s: %w", i+1, procedure, err)
		}
		name := a.Name
		if name != "" && !strings.HasPrefix(name, "@") {
			name = "@" + name
		}
		params[i] = request.Param{Name: name, Type: t, Value: v, Output: a.Output}
	}
	return c.execute(ctx, request.Call{Name: procedure, Params: params})
}

func (c *Conn) execute(ctx context.Context, r request.Request) (*Result, error) {
	sink := &collector{result: &Result{}}
	err := c.session.Execute(ctx, r, sink)
	if err == nil {
		err = ctx.Err()
	}
	if of, ok := c.session.(*connection); ok {
		sink.result.touched = of.Touched()
	}
	return sink.result, errors.Join(append(sink.errors, err)...)
}

// valueOf makes a value of a Go value.
func valueOf(x any) (value.Value, value.Type, error) {
	switch x := x.(type) {
	case nil:
		return value.Value{}, value.OfKind(sqltype.Null), nil
	case int:
		return value.OfInt(int64(x)), value.OfKind(sqltype.BigInt), nil
	case int32:
		return value.OfInt(int64(x)), value.OfKind(sqltype.Int), nil
	case int64:
		return value.OfInt(x), value.OfKind(sqltype.BigInt), nil
	case bool:
		return value.OfBool(x), value.OfKind(sqltype.Bit), nil
	case float64:
		return value.OfFloat(x), value.OfKind(sqltype.Float), nil
	case string:
		return value.OfString(x), value.NVarChar(sqltype.Max), nil
	case []byte:
		return value.OfBytes(x), value.VarBinary(sqltype.Max), nil
	case time.Time:
		t := value.Type{Type: sqltype.Type{Kind: sqltype.DateTimeOffset, Scale: 7}}
		return value.FromTime(x, t), t, nil
	default:
		return value.Value{}, value.Type{}, fmt.Errorf("no T-SQL value is made of a %T", x)
	}
}

// goValue makes a Go value of a value.
func goValue(v value.Value, t value.Type) any {
	switch v.Kind() {
	case value.Null:
		return nil
	case value.Int:
		if t.Kind == sqltype.Bit {
			return v.Bool()
		}
		return v.Int()
	case value.Float:
		return v.Float()
	case value.String:
		return v.Str()
	case value.Bytes:
		return v.Bytes()
	case value.Date, value.Time, value.DateTime, value.DateTime2, value.DateTimeOffset:
		return v.GoTime()
	case value.Variant:
		return goValue(v.Variant())
	default:
		return v.String()
	}
}

// collector is a sink that keeps everything.
type collector struct {
	result  *Result
	columns []request.Column
	errors  []error
}

func (c *collector) Columns(columns []request.Column) error {
	c.columns = columns
	set := Set{}
	for _, column := range columns {
		set.Columns = append(set.Columns, column.Name)
	}
	c.result.Sets = append(c.result.Sets, set)
	return nil
}

func (c *collector) Row(values []value.Value) error {
	row := make([]any, len(values))
	for i, v := range values {
		row[i] = goValue(v, c.columns[i].Type)
	}
	set := &c.result.Sets[len(c.result.Sets)-1]
	set.Rows = append(set.Rows, row)
	return nil
}

func (c *collector) Done(_ string, rows int64, counted, _ bool) error {
	if counted {
		c.result.RowCount = rows
	}
	return nil
}

func (c *collector) Error(e *fault.Error) error {
	c.errors = append(c.errors, publicError(e))
	return nil
}

func (c *collector) Message(e *fault.Error) error {
	c.result.Messages = append(c.result.Messages, e.Message)
	return nil
}

func (c *collector) ReturnStatus(status int32) error {
	c.result.Status = status
	return nil
}

func (c *collector) Output(name string, _ int, t value.Type, v value.Value) error {
	if c.result.Outputs == nil {
		c.result.Outputs = map[string]any{}
	}
	c.result.Outputs[strings.TrimPrefix(name, "@")] = goValue(v, t)
	return nil
}

func (c *collector) DatabaseChanged(string, string) error { return nil }
func (c *collector) TransactionBegan(uint64) error        { return nil }
func (c *collector) TransactionCommitted(uint64) error    { return nil }
func (c *collector) TransactionRolledBack(uint64) error   { return nil }
