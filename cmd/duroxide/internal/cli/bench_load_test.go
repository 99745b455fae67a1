package cli_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/program"
)

// A client in a process of its own does the same as one inside, and its calls are counted: one that starts an
// orchestration, and at least one that asks for its end.
func TestBenchWithClientInAnotherProcess(t *testing.T) {
	t.Parallel()
	for place, least := range map[string]float64{"inside": 1, "process": 2} {
		cmd := exec.CommandContext(t.Context(), program.Path(t), "bench", "single", "--client", place, "--slots", "1", "--in-flight", "1", "--duration", "1ns",
			"--activity", "0", "--json", "--store", "sqlite:"+filepath.Join(t.TempDir(), "bench.db"))
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var document struct {
			Client         string `json:"client"`
			Configurations []struct {
				Completed   int     `json:"completed"`
				ClientCalls float64 `json:"client_calls"`
			} `json:"configurations"`
		}
		if err := json.Unmarshal(out, &document); err != nil {
			t.Fatal(err)
		}
		c := document.Configurations
		if document.Client != place || len(c) != 1 || c[0].Completed != 1 || c[0].ClientCalls < least {
			t.Errorf("%s: %+v", place, document)
		}
	}
}
