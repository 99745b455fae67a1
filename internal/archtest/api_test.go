package archtest

import (
	"bytes"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	// closed matches the packages that nobody outside the project imports.
	closed = regexp.MustCompile(`/(internal|tools|examples)(/|$)`)
	// mark matches the mark of a rule, finding or pitfall, which says nothing to a reader without the list of them.
	mark = regexp.MustCompile(`\b[A-SU-Z]\d{1,2}\b`)
)

// TestPublicDocs reads what `go doc -all` prints of every package that users can import, in every module for users. It
// needs no other document, and has no type that a user can neither name nor make.
func TestPublicDocs(t *testing.T) {
	t.Parallel()
	packages := 0
	for _, module := range []string{".", "otel", "provider/mssql/azuread", "duroxidevet"} {
		dir := path.Join(root, module)
		graph, err := decode(bytes.NewReader(goCommand(t, dir, "list", "-json=Name,ImportPath,Imports", "./...")), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range graph.Packages {
			if p.Name == "main" || closed.MatchString(p.ImportPath) {
				continue
			}
			packages++
			for line := range strings.Lines(string(goCommand(t, dir, "doc", "-all", p.ImportPath))) {
				for _, objection := range []string{marks(line), internalType(p, line)} {
					if objection != "" {
						t.Errorf("go doc -all %s %s: %s", p.ImportPath, objection, strings.TrimSpace(line))
					}
				}
			}
		}
	}
	if packages < 20 {
		t.Fatalf("only %d public packages", packages)
	}
}

// marks reports a section of the contract, or the mark of a rule.
func marks(line string) string {
	switch {
	case strings.Contains(line, "§"):
		return "refers to a section of a document"
	case mark.MatchString(line):
		return "has the mark of a rule"
	}
	return ""
}

// internalType reports a declaration with a type of an internal package that p imports.
func internalType(p Package, line string) string {
	if strings.HasPrefix(line, "    ") {
		return "" // prose
	}
	if !strings.HasPrefix(line, "type ") {
		line, _, _ = strings.Cut(line, " = ") // the value of a variable may come from anywhere
	}
	for _, imported := range p.Imports {
		if !strings.Contains(imported, "/internal/") || !strings.HasPrefix(imported, "github.com/duroxide/") {
			continue
		}
		if regexp.MustCompile(`\b` + path.Base(imported) + `\.[A-Z]`).MatchString(line) {
			return "has a type of " + imported
		}
	}
	return ""
}
