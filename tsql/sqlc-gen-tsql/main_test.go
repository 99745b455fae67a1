package main

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMatch says which files a pattern names.
func TestMatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"p/a.sql": "", "p/b.sql": "", "p/b.txt": "", "p/deep/c.sql": "", "p/deep/er/d.sql": "", "up.sql": "", "q/x.sql": "", "s/deep/y.sql": "", "s/deep/er/z.sql": "",
	})
	cases := map[string]struct {
		dir, pattern string
		want         []string // files, or the text of an error
	}{
		"stars":          {dir: "p", pattern: "*.sql", want: []string{"a.sql", "b.sql"}},
		"a folder":       {pattern: "p", want: []string{"p/a.sql", "p/b.sql"}},
		"the folder":     {dir: "p", pattern: ".", want: []string{"a.sql", "b.sql"}},
		"any depth":      {pattern: "p/**/*.sql", want: []string{"p/a.sql", "p/b.sql", "p/deep/c.sql", "p/deep/er/d.sql"}},
		"all below":      {pattern: "p/**", want: []string{"p/a.sql", "p/b.sql", "p/b.txt", "p/deep/c.sql", "p/deep/er/d.sql"}},
		"a folder below": {pattern: "p/*/*.sql", want: []string{"p/deep/c.sql"}},
		"a file":         {pattern: "p/b.txt", want: []string{"p/b.txt"}},
		"above":          {dir: "p", pattern: "../up.sql", want: []string{"../up.sql"}},
		"beside":         {dir: "p", pattern: "../q/*.sql", want: []string{"../q/x.sql"}},
		"nothing":        {pattern: "r/*.sql", want: []string{"no file matches r/*.sql"}},
		"only below":     {pattern: "s", want: []string{"no file matches s: a folder stands for the scripts in it, and 2 files below it only for s/**/*.sql"}},
		"stars below":    {pattern: "s/*.sql", want: []string{"no file matches s/*.sql: a folder stands for the scripts in it, and 2 files below it only for s/**/*.sql"}},
		"empty":          {pattern: "p/*.go", want: []string{"no file matches p/*.go"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := match(filepath.Join(dir, c.dir), c.pattern)
			if err != nil {
				got = []string{err.Error()}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
