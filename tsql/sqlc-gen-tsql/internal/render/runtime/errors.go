//nolint:unused // package render copies it into generated packages, which use it
package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"

	mssql "github.com/microsoft/go-mssqldb"
)

// ErrShape says that a call yielded other result sets than those that this package was generated for: the procedures on
// the server are not those of the scripts. Deploy them, or regenerate the package.
var ErrShape = errors.New(packageName + ": unexpected result sets")

// ErrArgument says that an argument doesn't fit its parameter. Nothing was sent, and the error says what doesn't fit
// without quoting the value.
var ErrArgument = errors.New(packageName + ": argument out of range")

// A failure is the error of a call: a text that names the statement, and what is behind it. Values of arguments and
// columns are never put into the text; a message of the server may quote one.
type failure struct {
	text   string
	causes []error // for errors.Is and errors.As
}

// misshapen returns an error that is ErrShape. It is wrapped once more with the name of the statement.
func misshapen(format string, args ...any) error {
	return &failure{text: fmt.Sprintf(format, args...) + "; regenerate", causes: []error{ErrShape}}
}

func (f *failure) Error() string   { return f.text }
func (f *failure) Unwrap() []error { return f.causes }

// failure returns an error of the statement.
func (s *statement) failure(text string, causes ...error) error {
	return &failure{text: packageName + ": " + s.name + ": " + text, causes: causes}
}

// failed returns the error of a call that the driver or the reading of its result ended with.
func (s *statement) failed(ctx context.Context, err error) error {
	causes := []error{err}
	// The driver may report what the end of the context led to, such as a broken connection, rather than the end itself.
	if done := ctx.Err(); done != nil && !errors.Is(err, done) {
		causes = append(causes, done)
	}
	if reported, ok := errors.AsType[mssql.Error](err); ok {
		if meaning := sentinel(reported); meaning != nil {
			causes = append(causes, meaning)
		}
	}
	return s.failure(err.Error(), causes...)
}

// sentinel returns the error that stands for a number. The number of the whole is that of the last error, and others may
// follow the one that matters, such as the complaint that the number of open transactions has changed.
func sentinel(reported mssql.Error) error {
	if err := sentinels[reported.Number]; err != nil {
		return err
	}
	for _, e := range slices.Backward(reported.All) {
		if err := sentinels[e.Number]; err != nil {
			return err
		}
	}
	return nil
}
