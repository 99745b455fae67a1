package orchestrationtest_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/orchestrationtest"
)

// TestReplayDirDecodes: an encoded history is replayed with the codec, and without one the error
// says what is missing.
func TestReplayDirDecodes(t *testing.T) {
	t.Parallel()
	c, err := codec.New(codec.Compress(1))
	if err != nil {
		t.Fatal(err)
	}
	env := orchestrationtest.New(t, orchestrationtest.Codec(c))
	text := strings.Repeat("long ", 100)
	echo := func(suffix string) orchestration.Definition[string, string] {
		return orchestration.New("Echoes", func(ctx *orchestration.Context, text string) (string, error) {
			ctx.SetCustomStatus("begins")
			orchestration.NewKey[string]("key").Set(ctx, text+suffix)
			return text, nil
		})
	}
	if _, err := orchestrationtest.Run(env, echo(""), text); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env.Save(dir, "test")
	file := filepath.Join(dir, "test.json")
	plain, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, payload := range []string{strconv.Quote(text), text} { // the key's value is JSON
		encoded, err := c.Encode(t.Context(), payload)
		if err != nil {
			t.Fatal(err)
		}
		plain = bytes.ReplaceAll(plain, []byte(strings.ReplaceAll(payload, `"`, `\"`)), []byte(encoded))
	}
	if err := os.WriteFile(file, plain, 0o600); err != nil || bytes.Contains(plain, []byte(text)) {
		t.Fatalf("%s, %v", plain, err)
	}
	if err := orchestrationtest.ReplayFile(t.Context(), file, echo(""), orchestrationtest.Codec(c)); err != nil {
		t.Error(err)
	}
	err = orchestrationtest.ReplayFile(t.Context(), file, echo("!"), orchestrationtest.Codec(c))
	if err == nil || !strings.Contains(err.Error(), "event 3 was") || strings.Contains(err.Error(), "long") {
		t.Errorf("other code: %v", err)
	}
	err = orchestrationtest.ReplayFile(t.Context(), file, echo(""))
	if !errors.Is(err, codec.ErrNotDecoded) || !strings.Contains(err.Error(), "give ReplayDir the workers' codec, as orchestrationtest.Codec(c)") {
		t.Errorf("without a codec: %v", err)
	}
	if err := registry.New().Add(orchestrationtest.Codec(c)); err == nil || !strings.Contains(err.Error(), "orchestrationtest.Codec is only for tests; for a worker, set worker.Options.Codec") {
		t.Errorf("a worker takes it: %v", err)
	}
}
