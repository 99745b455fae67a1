package details_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/failure"
	"github.com/duroxide/duroxide-go/internal/details"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/tsql/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// An error is recorded with what it says of itself, and comes back so.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	kind := failure.NewKind[int]("Declined")
	for _, test := range []struct {
		err      error
		recorded provider.ApplicationFailure
		back     *failure.Error
	}{
		{errors.New("no"), provider.ApplicationFailure{Message: "no"}, nil},
		{
			fmt.Errorf("charging: %w", kind.New(51, "no")),
			provider.ApplicationFailure{Message: "charging: no", FailureKind: "Declined", FailureDetails: "51"},
			&failure.Error{Kind: "Declined", Message: "charging: no", Details: "51"},
		},
		{failure.Final(errors.New("no")), provider.ApplicationFailure{Message: "no", Final: true}, &failure.Error{Message: "no", Final: true}},
		{
			failure.Final(kind.New(51, "no")),
			provider.ApplicationFailure{Message: "no", FailureKind: "Declined", FailureDetails: "51", Final: true},
			&failure.Error{Kind: "Declined", Message: "no", Details: "51", Final: true},
		},
	} {
		test.recorded.Kind = provider.AppActivityFailed
		recorded := details.Of(provider.AppActivityFailed, test.err)
		if diff := cmp.Diff(test.recorded, recorded); diff != "" {
			t.Errorf("%v is recorded otherwise (-want +got):\n%s", test.err, diff)
		}
		if diff := cmp.Diff(test.back, details.Failure(recorded)); diff != "" {
			t.Errorf("%v comes back otherwise (-want +got):\n%s", test.err, diff)
		}
	}
	if got := details.Failure(provider.InfrastructureFailure{Message: "no"}); got != nil {
		t.Errorf("a failure of another sort is %+v", got)
	}
}
