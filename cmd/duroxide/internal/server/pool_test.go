package server

import (
	"errors"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// The environment replaces the default. What is no number of connections is refused by name.
func TestPoolFromEnv(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]int{"": 10, "25": 25, "1": 1, "many": 0, "0": 0, "-1": 0} {
		got, err := poolSizeOf(env)
		if got != want || errors.Is(err, provider.ErrInvalidArgument) != (want == 0) || (err == nil) != (want != 0) {
			t.Errorf("%s=%q: got %d, %v", poolEnv, env, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), poolEnv) {
			t.Errorf("error %q does not name the variable", err)
		}
	}
}
