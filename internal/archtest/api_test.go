package archtest

import (
	"encoding/json"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// A publicPackage is one that users can import, with what `go doc -all` prints of it.
type publicPackage struct {
	Name, ImportPath string
	Imports          []string
	docs             string
}

// publicPackages reads the documentation of every package that users can import, in every module for users.
var publicPackages = sync.OnceValues(func() (packages []publicPackage, err error) {
	for _, module := range []string{".", "otel", "provider/mssql/azuread", "duroxidevet"} {
		list := exec.Command("go", "list", "-json=Name,ImportPath,Imports", "./...")
		list.Dir = path.Join(root, module)
		out, err := list.Output()
		if err != nil {
			return nil, err
		}
		for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
			var p publicPackage
			if err := decoder.Decode(&p); err != nil {
				return nil, err
			}
			if p.Name == "main" || closed.MatchString(p.ImportPath) {
				continue
			}
			show := exec.Command("go", "doc", "-all", p.ImportPath)
			show.Dir = list.Dir
			out, err := show.Output()
			if err != nil {
				return nil, err
			}
			p.docs = string(out)
			packages = append(packages, p)
		}
	}
	return packages, nil
})

var (
	// closed matches the packages that nobody outside the project imports.
	closed = regexp.MustCompile(`/(internal|tools|examples)(/|$)`)
	// mark matches the mark of a rule, finding or pitfall, which says nothing to a reader without the list of them.
	mark = regexp.MustCompile(`\b[A-SU-Z]\d{1,2}\b`)
)

// TestPublicDocsNeedNoOtherDocument looks for sections of the contract and marks of rules in what users read.
func TestPublicDocsNeedNoOtherDocument(t *testing.T) {
	t.Parallel()
	forEachPublicLine(t, func(_ publicPackage, line string) string {
		switch {
		case strings.Contains(line, "§"):
			return "refers to a section of a document"
		case mark.MatchString(line):
			return "has the mark of a rule"
		}
		return ""
	})
}

// TestPublicSignaturesHaveNoInternalTypes looks for types that a user can neither name nor make.
func TestPublicSignaturesHaveNoInternalTypes(t *testing.T) {
	t.Parallel()
	forEachPublicLine(t, func(p publicPackage, line string) string {
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
	})
}

// forEachPublicLine reports the lines in which objection finds something.
func forEachPublicLine(t *testing.T, objection func(p publicPackage, line string) string) {
	t.Helper()
	packages, err := publicPackages()
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 20 {
		t.Fatalf("only %d public packages", len(packages))
	}
	for _, p := range packages {
		for line := range strings.Lines(p.docs) {
			if is := objection(p, line); is != "" {
				t.Errorf("go doc -all %s %s: %s", p.ImportPath, is, strings.TrimSpace(line))
			}
		}
	}
}
