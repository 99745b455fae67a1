package failure_test

import (
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/failure"
)

// Decline is why a card was declined.
type Decline struct{ Code int }

// ErrCardDeclined is declared once, for activities, orchestrations and clients.
var ErrCardDeclined = failure.NewKind[Decline]("CardDeclined")

// An activity returns a failure with details, final because another attempt does not help. The
// orchestration, its parent and the client find out the same.
func Example() {
	err := failure.Final(ErrCardDeclined.New(Decline{Code: 51}, "the card was declined"))
	err = fmt.Errorf("charging: %w", err) // keeps what the failure is

	decline, ok := ErrCardDeclined.Details(err)
	fmt.Println(errors.Is(err, ErrCardDeclined), decline.Code, ok, failure.IsFinal(err))
	fmt.Println(err)
	// Output:
	// true 51 true true
	// charging: the card was declined
}
