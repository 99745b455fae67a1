package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A tree is the content of every file of a folder, by slash-separated path from the root of the repository.
type tree map[string][]byte

// readTree reads the files below folder, a direct child of root. A folder that does not exist is an empty tree.
func readTree(root, folder string) (tree, error) {
	files := tree{}
	fsys := os.DirFS(root)
	err := fs.WalkDir(fsys, folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[path], err = fs.ReadFile(fsys, path)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) && len(files) == 0 {
		return files, nil
	}
	return files, err
}

// A kind says in which way a file of the repository differs from what the generator writes.
type kind string

const (
	missing  kind = "missing"
	changed  kind = "changed"
	leftover kind = "leftover"
)

// A difference is one file that is not as the generator would leave it.
type difference struct {
	kind kind
	path string
	line int // the first line that differs, when the kind is changed
}

// String is the line that a developer reads.
func (d difference) String() string {
	if d.kind == changed {
		return fmt.Sprintf("%-8s %s (from line %d)", d.kind, d.path, d.line)
	}
	return fmt.Sprintf("%-8s %s", d.kind, d.path)
}

// compare lists what has to change in have to make it equal to want, sorted by path.
func compare(want, have tree) []difference {
	var differences []difference
	for path, content := range want {
		if old, ok := have[path]; !ok {
			differences = append(differences, difference{kind: missing, path: path})
		} else if !bytes.Equal(old, content) {
			differences = append(differences, difference{kind: changed, path: path, line: firstDifference(old, content)})
		}
	}
	for path := range have {
		if _, ok := want[path]; !ok {
			differences = append(differences, difference{kind: leftover, path: path})
		}
	}
	slices.SortFunc(differences, func(a, b difference) int { return cmp.Compare(a.path, b.path) })
	return differences
}

// firstDifference returns the number of the first line in which a and b differ, counted from one.
func firstDifference(a, b []byte) int {
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	return 1 + bytes.Count(a[:same], []byte("\n"))
}

// apply makes the files below root what want says and tells out what it did.
func apply(root string, want tree, differences []difference, out io.Writer) error {
	for _, d := range differences {
		name := filepath.Join(root, filepath.FromSlash(d.path))
		if d.kind == leftover {
			if err := os.Remove(name); err != nil {
				return err
			}
			fmt.Fprintln(out, "removed", d.path)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, want[d.path], 0o644); err != nil {
			return err
		}
		fmt.Fprintln(out, "wrote", d.path)
	}
	fmt.Fprintf(out, "%d files up to date\n", len(want))
	return nil
}
