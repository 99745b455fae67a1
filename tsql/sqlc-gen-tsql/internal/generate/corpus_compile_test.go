package generate

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// vetGenerated compiles and vets a generated package.
func vetGenerated(t *testing.T, files map[string][]byte) {
	t.Helper()
	// Inside the module, which has what the package imports, and where ./... does not look.
	folder := filepath.Join("testdata", "generated")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll("testdata")
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := exec.CommandContext(t.Context(), "go", "vet", "./"+folder).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}
