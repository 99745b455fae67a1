package orchestrationtest_test

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/orchestrationtest"
)

// Two keys that are not valid UTF-8 could become one, so each is refused, as a worker refuses it.
func TestKeysThatAreNoUTF8(t *testing.T) {
	t.Parallel()
	keys := orchestration.New("K", func(ctx *orchestration.Context, _ int) (int, error) {
		orchestration.NewKey[int]("k\xff").Set(ctx, 1)
		orchestration.NewKey[int]("k\xfe").Set(ctx, 2)
		return len(ctx.KV().Keys()), nil
	})
	env := orchestrationtest.New(t, keys)
	_, err := orchestrationtest.Run(env, keys, 0)
	if err == nil || !strings.Contains(err.Error(), `a key must be valid UTF-8: "k\xff"`) {
		t.Errorf("error %v", err)
	}
}
