package cli_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/cli"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestHelp compares the help texts with the golden ones, so that a change to what
// users read is seen in review.
func TestHelp(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"", "start", "status", "history", "replay", "raise", "cancel", "retry", "list", "metrics",
		"migrate", "migrate plan", "migrate up", "migrate status", "migrate verify", "migrate export", "migrate drop", "doctor", "dead-letters", "dead-letters show", "dead-letters send",
		"dead-letters delete", "purge", "bench",
		"bench parity", "bench sequence", "bench single", "bench cities", "bench claim", "bench children", "bench history", "bench timers",
		"bench startup", "bench idle", "bench memory", "bench compare",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			env := cli.System(nil)
			env.Args = append(strings.Fields(command), "--help")
			env.Stdout, env.Stderr = &stdout, &stderr
			if code := cli.Run(t.Context(), env); code != cli.ExitOK {
				t.Fatalf("exit code %d: %s", code, stderr.String())
			}
			golden := "testdata/help/" + strings.ReplaceAll("duroxide "+command, " ", "_") + ".txt"
			if *update {
				if err := os.WriteFile(golden, stdout.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), stdout.String()); diff != "" {
				t.Errorf("help (-want +got); -update accepts it:\n%s", diff)
			}
		})
	}
}
