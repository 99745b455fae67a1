//nolint:unused // package render copies it into generated packages, which use it
package runtime

import (
	"database/sql"
	"fmt"

	mssql "github.com/microsoft/go-mssqldb"
)

// args are the arguments of a call on their way to the driver.
type args struct {
	list []any // in front of the arguments is room for those of sp_executesql
	err  error // the first argument that doesn't fit
}

// reserved is the room in front of the arguments: for the text and for the declarations.
const reserved = 2

// newArgs returns room for n arguments.
func newArgs(n int) args {
	return args{list: make([]any, reserved, reserved+n)}
}

// A kind is a T-SQL type: how a value of it is checked and put on the wire. T-SQL cuts an argument to the declared
// length without a word, so what doesn't fit is an error before anything is sent.
type kind[T any] interface {
	// wire returns what the driver turns into the type. With an error the value isn't used.
	wire(v T) (any, error)
	// null is the NULL of the type. The driver's nil has no type.
	null() any
}

// An outKind is a kind that a procedure can return.
type outKind[T any] interface {
	kind[T]
	// out returns what receives the value, holding the value to send, and how to read it after the call. It has to
	// keep the type in the NULL, too: the driver takes it from what receives the value.
	out(v *T) (dest any, value func() *T)
}

// send adds an argument as it is.
func (a *args) send(name string, v any) {
	a.list = append(a.list, sql.Named(name, v))
}

// has says whether an argument was added.
func (a *args) has(name string) bool {
	for _, arg := range a.list[reserved:] {
		if named, ok := arg.(sql.NamedArg); ok && named.Name == name {
			return true
		}
	}
	return false
}

// status adds the receiver of the return status. It has no name: the driver takes it out of the arguments.
func (a *args) status() *mssql.ReturnStatus {
	var status mssql.ReturnStatus
	a.list = append(a.list, &status)
	return &status
}

// fail keeps the first error, so that what adds arguments needn't stop at it.
func (a *args) fail(name string, err error) {
	if a.err == nil {
		a.err = &failure{text: fmt.Sprintf("argument @%s %v", name, err), causes: []error{ErrArgument}}
	}
}

// required adds an argument that is never NULL.
func required[T any, K kind[T]](a *args, name string, k K, v T) {
	wire, err := k.wire(v)
	if err != nil {
		a.fail(name, err)
		return
	}
	a.send(name, wire)
}

// nullable adds an argument; nil is NULL.
func nullable[T any, K kind[T]](a *args, name string, k K, v *T) {
	if v == nil {
		a.send(name, k.null())
		return
	}
	required(a, name, k, *v)
}

// nullableSQL adds an argument that may be NULL.
func nullableSQL[T any, K kind[T]](a *args, name string, k K, v sql.Null[T]) {
	nullable(a, name, k, pointer(v))
}

// nullableBytes adds an argument; nil is NULL, which an empty value is not.
func nullableBytes[K kind[[]byte]](a *args, name string, k K, v []byte) {
	if v == nil {
		a.send(name, k.null())
		return
	}
	required(a, name, k, v)
}

// optional adds an argument unless it is nil, which leaves the parameter to its default.
func optional[T any, K kind[T]](a *args, name string, k K, v *T) {
	if v != nil {
		required(a, name, k, *v)
	}
}

// optionalBytes adds an argument unless it is nil, which leaves the parameter to its default.
func optionalBytes[K kind[[]byte]](a *args, name string, k K, v []byte) {
	if v != nil {
		required(a, name, k, v)
	}
}

// optionalNull adds an argument unless it is nil, which leaves the parameter to its default. A value that is not valid is
// NULL.
func optionalNull[T any, K kind[T]](a *args, name string, k K, v *sql.Null[T]) {
	if v != nil {
		nullable(a, name, k, pointer(*v))
	}
}

// output adds an argument that comes back changed; nil is NULL. The function tells the value after the call: the driver
// has it only when all rows have been read. What v points to is never changed.
func output[T any, K outKind[T]](a *args, name string, k K, v *T) func() *T {
	if v != nil {
		if _, err := k.wire(*v); err != nil {
			a.fail(name, err)
		}
	}
	dest, value := k.out(v)
	a.send(name, sql.Out{Dest: dest})
	return value
}

// outputSQL is output for sql.Null.
func outputSQL[T any, K outKind[T]](a *args, name string, k K, v sql.Null[T]) func() sql.Null[T] {
	value := output(a, name, k, pointer(v))
	return func() sql.Null[T] {
		if p := value(); p != nil {
			return sql.Null[T]{V: *p, Valid: true}
		}
		return sql.Null[T]{}
	}
}

// outputBytes is output for binary values, of which nil is NULL.
func outputBytes[K outKind[[]byte]](a *args, name string, k K, v []byte) func() []byte {
	var sent *[]byte
	if v != nil {
		sent = &v
	}
	value := output(a, name, k, sent)
	return func() []byte {
		if p := value(); p != nil {
			return *p
		}
		return nil
	}
}

// told returns the value of an output parameter that is never NULL. The error is that of those before, if there is
// one.
func told[T any](s *statement, name string, v *T, err error) (value T, _ error) {
	if v != nil {
		return *v, err
	}
	if err == nil {
		err = s.failure("output parameter @"+name+" is NULL; regenerate", ErrShape)
	}
	return value, err
}

// pointer returns nil for NULL.
func pointer[T any](v sql.Null[T]) *T {
	if !v.Valid {
		return nil
	}
	return &v.V
}
