package duroxidevet_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestReplayCatchesTheRest runs the example's replay check (orchestrationtest.ReplayDir and its tests) with each mistake
// that the analyser leaves to it. It builds the example once for each, so it runs when DUROXIDE_MUTATIONS is set.
func TestReplayCatchesTheRest(t *testing.T) {
	if os.Getenv("DUROXIDE_MUTATIONS") == "" {
		t.Skip("takes seconds for each mistake; DUROXIDE_MUTATIONS=1 runs it")
	}
	t.Parallel()
	caught, all := 0, 0
	for _, m := range mutations {
		all++
		if m.kind != "" {
			caught++
			continue
		}
		if tellsOfReplay(replayed(t, m)) {
			caught++
		} else {
			t.Logf("not caught: %s", m.name)
		}
	}
	t.Logf("the analyser and the replay check together tell of %d of %d", caught, all)
	if 100*caught < 95*all {
		t.Errorf("that is less than 95 percent")
	}
}

// tellsOfReplay reports whether the output of a test has a finding of the replay check, and not only a wrong result.
func tellsOfReplay(output string) bool {
	for _, text := range []string{"does not repeat itself", "the code now asks for", "but history goes on with", "is not registered (versions that are"} {
		if strings.Contains(output, text) {
			return true
		}
	}
	return false
}

// replayed runs the example's tests on the clock that jumps with one mistake in its sources.
func replayed(t *testing.T, m mutation) (output string) {
	t.Helper()
	folder := filepath.Dir(m.file)
	path, err := filepath.Abs(filepath.Join(root, "examples", m.file))
	if err != nil {
		t.Fatal(err)
	}
	mutant, overlay := filepath.Join(t.TempDir(), "mutant.go"), filepath.Join(t.TempDir(), "overlay.json")
	source := withImports(t, m.apply(t, example(t, folder)[filepath.Base(m.file)]))
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutant}})
	if err == nil {
		err = os.WriteFile(mutant, []byte(source), 0o600)
	}
	if err == nil {
		err = os.WriteFile(overlay, list, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "go", "test", "-count=1", "-overlay", overlay,
		"-run", "TestRunning|TestALargeOrder|TestOrdersThatEndEarly", "./examples/"+folder)
	command.Dir = root
	text, err := command.CombinedOutput()
	if strings.Contains(string(text), "[build failed]") {
		t.Fatalf("%s: %v, %s", m.name, err, text)
	}
	return string(text)
}
