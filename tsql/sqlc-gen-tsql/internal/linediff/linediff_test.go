package linediff

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestUnified(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ before, after, want string }{
		"the same":    {"a\nb\n", "a\nb\n", ""},
		"both empty":  {"", "", ""},
		"a new text":  {"", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		"all gone":    {"a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n"},
		"one line":    {"a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		"no last end": {"a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		"context": {
			"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
			"@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
		},
		"near differences are one": {
			"1\n2\n3\n4\n5\n6\n7\n8\n", "one\n2\n3\n4\n5\n6\n7\neight\n",
			"@@ -1,8 +1,8 @@\n-1\n+one\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+eight\n",
		},
		"far ones are two": {
			"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n",
			"@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+nine\n",
		},
		"lines that occur twice": {
			"{\n}\nf\n{\n}\n", "{\n}\ng\n{\n}\nf\n{\n}\n",
			"@@ -1,5 +1,8 @@\n {\n }\n+g\n+{\n+}\n f\n {\n }\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := c.want
			if want != "" {
				want = "diff a b\n--- a\n+++ b\n" + want
			}
			if got := string(Unified("a", []byte(c.before), "b", []byte(c.after))); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestEditsMakeOneTextOfTheOther takes random texts of few different lines.
func TestEditsMakeOneTextOfTheOther(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	text := func() (list []string) {
		for range random.IntN(30) {
			list = append(list, string(rune('a'+random.IntN(12)))+"\n")
		}
		return list
	}
	for range 10_000 {
		x, y := text(), text()
		var old, now []string
		for _, e := range compare(x, y) {
			if e.kind != '+' {
				old = append(old, e.line)
			}
			if e.kind != '-' {
				now = append(now, e.line)
			}
		}
		if strings.Join(old, "") != strings.Join(x, "") || strings.Join(now, "") != strings.Join(y, "") {
			t.Fatalf("%q and %q became %q and %q", x, y, old, now)
		}
	}
}

// TestPatchUnderstands hands a difference of several hunks to patch, if there is one.
func TestPatchUnderstands(t *testing.T) {
	t.Parallel()
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("there is no patch here")
	}
	before := strings.Repeat("x\n", 5) + "a\n" + strings.Repeat("y\n", 20) + "b\nc"
	after := "new\n" + strings.Repeat("x\n", 5) + "A\n" + strings.Repeat("y\n", 20) + "b\n"
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), patch, "-s", "-o", "-", "before", "-")
	cmd.Dir = dir
	if err := os.WriteFile(filepath.Join(dir, "before"), []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = bytes.NewReader(Unified("before", []byte(before), "before", []byte(after)))
	if got, err := cmd.Output(); err != nil || string(got) != after {
		t.Errorf("%v: %q, want %q", err, got, after)
	}
}
