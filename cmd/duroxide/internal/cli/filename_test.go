package cli

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// Ids are compared byte for byte, and the names of files on Windows and macOS are not.
func TestFileNamesDifferByMoreThanCase(t *testing.T) {
	t.Parallel()
	of := map[string]string{}
	for _, id := range []string{"order-7", "Order-7", "ORDER-7", "a/b", "a:b", "é", "e\u0301"} {
		name := fileName(provider.InstanceInfo{OrchestrationName: "Order", OrchestrationVersion: "1.0.0", InstanceID: id})
		folded := strings.ReplaceAll(strings.ToLower(name), "e\u0301", "é")
		if other, taken := of[folded]; taken {
			t.Errorf("%q and %q come to the same file %s", other, id, name)
		}
		of[folded] = id
	}
	if of["order-1.0.0-order-7"] != "order-7" {
		t.Errorf("a plain id has a name that nobody can find: %q", of)
	}
}
