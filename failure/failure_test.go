package failure_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/failure"
	"github.com/duroxide/duroxide-go/tsql/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

type decline struct {
	Code int `json:"code"`
}

var (
	errCardDeclined = failure.NewKind[decline]("CardDeclined")
	errOutOfStock   = failure.NewKind[struct{}]("OutOfStock")
)

// A failure has its text, matches its kind and no other, and has its details, also wrapped.
func TestKinds(t *testing.T) {
	t.Parallel()
	plain := errCardDeclined.New(decline{51}, "the card was declined")
	for _, err := range []error{
		plain, fmt.Errorf("charging: %w", plain), failure.Final(plain), errors.Join(errors.New("other"), plain),
		errors.Join(failure.NewKind[string]("Other").New("details", "other"), fmt.Errorf("charging: %w", plain)),
		fmt.Errorf("%w, %w", failure.NewKind[string]("Other"), plain),
	} {
		if !errors.Is(err, errCardDeclined) || errors.Is(err, errOutOfStock) || !strings.Contains(err.Error(), "the card was declined") {
			t.Errorf("%q matches the wrong kind", err)
		}
		if details, ok := errCardDeclined.Details(err); !ok || details.Code != 51 {
			t.Errorf("%q has the details %+v, %v", err, details, ok)
		}
		if _, ok := errOutOfStock.Details(err); ok {
			t.Errorf("%q has details of another kind", err)
		}
	}
	if got := errCardDeclined.Error(); got != "CardDeclined" || errCardDeclined.Name() != got {
		t.Errorf("the kind is %q", got)
	}
}

// A kind that is returned itself is a failure of the kind, named like it and without details.
func TestKindsAreFailures(t *testing.T) {
	t.Parallel()
	f, ok := errors.AsType[*failure.Error](fmt.Errorf("charging: %w", errCardDeclined))
	if !ok || f.Kind != "CardDeclined" || f.Message != "CardDeclined" || f.Details != "" || f.Final {
		t.Errorf("the kind is found as %+v, %v", f, ok)
	}
	if _, ok := errCardDeclined.Details(errCardDeclined); ok {
		t.Error("a kind has details")
	}
	if !failure.IsFinal(failure.Final(errCardDeclined)) || failure.IsFinal(errCardDeclined) {
		t.Error("whether a kind is final does not go by Final")
	}
}

// Other errors have no kind and no details; nor has nil.
func TestOtherErrors(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, errors.New("CardDeclined"), &failure.Error{Message: "no"}, failure.NewKind[int]("CardDeclinedToo").New(1, "no")} {
		if _, ok := errCardDeclined.Details(err); ok || errors.Is(err, errCardDeclined) {
			t.Errorf("%v is a declined card", err)
		}
	}
}

// Details that another process has written in another form are none.
func TestForeignDetails(t *testing.T) {
	t.Parallel()
	err := &failure.Error{Kind: "CardDeclined", Details: `{"code":"fifty-one"}`}
	if _, ok := errCardDeclined.Details(err); ok || !errors.Is(err, errCardDeclined) {
		t.Errorf("details of another form were read, or the kind is lost")
	}
}

// Details without JSON cost the details and not the failure.
func TestDetailsWithoutJSON(t *testing.T) {
	t.Parallel()
	err := failure.NewKind[func()]("Odd").New(func() {}, "it failed")
	if !strings.HasPrefix(err.Error(), "it failed (its details have no JSON: ") {
		t.Errorf("error %q", err)
	}
}

func TestFinal(t *testing.T) {
	t.Parallel()
	no := errors.New("no")
	err := fmt.Errorf("charging: %w", failure.Final(no))
	if !failure.IsFinal(err) || !errors.Is(err, no) || err.Error() != "charging: no" {
		t.Errorf("%q is final: %v", err, failure.IsFinal(err))
	}
	if both := errors.Join(errCardDeclined.New(decline{51}, "declined"), &failure.Error{Final: true}); !failure.IsFinal(both) {
		t.Error("a final failure behind another one is not final")
	}
	if !failure.IsFinal(&failure.Error{Final: true}) || failure.IsFinal(no) || failure.IsFinal(nil) || failure.Final(nil) != nil {
		t.Error("other errors are final, or nil is an error")
	}
}
