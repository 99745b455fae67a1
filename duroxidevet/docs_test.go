package duroxidevet_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// declared is what the document's code takes for granted.
const declared = `package snippet

type bill struct {
	Key   string
	Cents int
}

var (
	charge    = activity.Declare[bill, string]("Charge")
	release   = activity.Declare[string, string]("Release")
	readPrice = activity.Declare[string, string]("ReadPrice")
)
`

// TestDocument compiles the code in docs/duroxidevet.md: of each finding the first block is reported, and the second
// has no finding. Every kind of finding has its heading, to which a finding's link leads.
func TestDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs/duroxidevet.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, findings, _ := strings.Cut(string(text), "## Findings\n")
	findings, _, _ = strings.Cut(findings, "\n## ")
	l := newLoader(t)
	told := []string{"directive"}
	for _, section := range strings.Split(findings, "\n### ")[1:] {
		kind, body, _ := strings.Cut(section, "\n")
		told = append(told, kind)
		blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(body, -1)
		if len(blocks) != 2 {
			t.Errorf("%s has %d blocks of code, want a bad and a good one", kind, len(blocks))
			continue
		}
		if kinds := l.kinds(t, kind+"1", blocks[0][1]); !slices.Contains(kinds, kind) {
			t.Errorf("%s: the findings of the bad code are %q", kind, kinds)
		}
		if kinds := l.kinds(t, kind+"2", blocks[1][1]); kinds != nil {
			t.Errorf("%s: the findings of the good code are %q", kind, kinds)
		}
	}
	for _, m := range mutations {
		if m.kind != "" && !slices.Contains(told, m.kind) {
			t.Errorf("the document does not tell of %s", m.kind)
		}
	}
	_, accepted, _ := strings.Cut(string(text), "## Accept a finding")
	block := regexp.MustCompile("(?s)```go\n(.*?)```").FindStringSubmatch(accepted)
	if kinds := l.kinds(t, "accepted", block[1]); kinds != nil {
		t.Errorf("what a comment accepts has the findings %q", kinds)
	}
}

// kinds analyses a block of code: declarations, or the body of an orchestration function.
func (l *loader) kinds(t *testing.T, name, code string) (kinds []string) {
	t.Helper()
	if !regexp.MustCompile(`(?m)^(func|type|var) \w+.* [{=(]`).MatchString(code) && !strings.Contains(code, "\nfunc ") {
		code = "func orchestrate(ctx *orchestration.Context, in struct{ Limit int }, bills []bill, byName map[string]bill) (string, error) {\n" + code + "}\n"
	}
	for _, d := range l.findings(t, "example.com/"+name, map[string]string{name + ".go": declared + code}) {
		kinds = append(kinds, d.Category)
	}
	return kinds
}
