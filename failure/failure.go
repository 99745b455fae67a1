// Package failure defines failures that keep what they are: a kind, details, and whether
// another attempt may help, from an activity to the orchestration that called it, on to its
// parent and to the client.
//
//	var ErrCardDeclined = failure.NewKind[Decline]("CardDeclined")
//
//	return "", ErrCardDeclined.New(Decline{Code: 51}, "the card was declined")
//
// Whoever gets the error asks:
//
//	if errors.Is(err, ErrCardDeclined) { … }
//	decline, ok := ErrCardDeclined.Details(err)
//
// Any other error arrives as its text alone. An error that wraps a failure keeps the failure
// and adds its text. Kind and details stand in the history beside the text, where runtimes of
// other languages see the text only and hand the text on.
package failure

import (
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/internal/payload"
)

// Kind is a kind of failure with details of type D; struct{} has none. Kinds are made once,
// usually as package variables. A Kind is itself an error, as the target of errors.Is.
type Kind[D any] struct { //nolint:errname // what errors.Is compares with
	name string
}

// NewKind names a kind. The name is recorded and is how other processes know the kind: it must
// not change while orchestrations run that may see it.
func NewKind[D any](name string) Kind[D] { return Kind[D]{name: name} }

// Name is the name the kind is recorded under.
func (k Kind[D]) Name() string { return k.name }

// Error returns the name.
func (k Kind[D]) Error() string { return k.name }

// As lets errors.As find an [Error] in a Kind that somebody returns or wraps.
func (k Kind[D]) As(target any) bool {
	f, ok := target.(**Error)
	if ok {
		*f = &Error{Kind: k.name, Message: k.name}
	}
	return ok
}

// New returns a failure of that kind with that text. Details that have no JSON are left out,
// and the text says so.
func (k Kind[D]) New(details D, message string) error {
	text, err := payload.EncodeAs(details)
	if err != nil {
		message = fmt.Sprintf("%s (its details have no JSON: %v)", message, err)
	}
	return &Error{Kind: k.name, Message: message, Details: text}
}

// Details returns the details of the failure of this kind that err is or wraps. ok is false when there is none,
// or when its details do not fit D.
func (k Kind[D]) Details(err error) (details D, ok bool) {
	f := find(err, func(f *Error) bool { return f.Kind == k.name })
	if f == nil {
		return details, false
	}
	details, err = payload.Decode[D](f.Details)
	return details, err == nil
}

// Error is a failure as it is recorded.
type Error struct {
	// Kind is the name of its [Kind], empty when it has none.
	Kind string
	// Message is its text.
	Message string
	// Details are the JSON of its details, empty when it has none.
	Details string
	// Final means that another attempt does not help; see [Final].
	Final bool
}

// Error returns the text.
func (f *Error) Error() string { return f.Message }

// Is matches the failure's [Kind].
func (f *Error) Is(target error) bool {
	kind, ok := target.(interface{ Name() string })
	return ok && f.Kind != "" && kind.Name() == f.Kind
}

// Final says that another attempt does not help, so that no retry policy makes one. The error
// stays what it is. Final(nil) is nil.
func Final(err error) error {
	if err == nil {
		return nil
	}
	return &final{err}
}

// IsFinal reports whether err is or wraps an error of [Final], also one that comes from an
// activity or a sub-orchestration.
func IsFinal(err error) bool {
	if _, ok := errors.AsType[*final](err); ok {
		return true
	}
	return find(err, func(f *Error) bool { return f.Final }) != nil
}

// find returns the first failure among err and the errors that it wraps which matches, nil if none does. It looks at
// all of them; errors.As would stop at the first failure.
func find(err error, matches func(f *Error) bool) *Error {
	if f := itself(err); f != nil && matches(f) {
		return f
	}
	switch wrapper := err.(type) { //nolint:errorlint // what err itself wraps
	case interface{ Unwrap() error }:
		return find(wrapper.Unwrap(), matches)
	case interface{ Unwrap() []error }:
		for _, wrapped := range wrapper.Unwrap() {
			if f := find(wrapped, matches); f != nil {
				return f
			}
		}
	}
	return nil
}

// itself is the failure that err is, without what it wraps, or nil.
func itself(err error) (f *Error) {
	switch e := err.(type) { //nolint:errorlint // what err wraps is looked at later
	case *Error:
		f = e
	case interface{ As(target any) bool }:
		e.As(&f)
	}
	return f
}

type final struct{ error }

func (f *final) Unwrap() error { return f.error }
