// Package drift compares the files that a generator writes with those that are there, names every one that is missing,
// changed or left over, and makes the one like the other.
//
// A generator that only writes its files leaves those of scripts that are gone, which go on compiling. So generating
// and verifying are the same comparison of whole folders, and differ in what becomes of the differences: one carries
// them out, the other prints them and fails. The folder must hold nothing but generated files.
package drift

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

// A Tree is the content of every file of a folder, by slash-separated path from a root: the same on every system, so
// that what is printed is, too.
type Tree map[string][]byte

// ReadTree reads the files below folder, a direct child of root. A folder that does not exist is an empty tree.
func ReadTree(root, folder string) (Tree, error) {
	files := Tree{}
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

// A Kind says in which way a file differs from what the generator writes.
type Kind string

// The kinds of differences.
const (
	Missing  Kind = "missing"
	Changed  Kind = "changed"
	Leftover Kind = "leftover"
)

// A Difference is one file that is not as the generator would leave it.
type Difference struct {
	Kind Kind
	Path string
	Line int // the first line that differs, when the kind is Changed
}

// String is the line that a developer reads. The line where a file begins to differ says whether somebody edited it or
// the generator has changed.
func (d Difference) String() string {
	if d.Kind == Changed {
		return fmt.Sprintf("%-8s %s (from line %d)", d.Kind, d.Path, d.Line)
	}
	return fmt.Sprintf("%-8s %s", d.Kind, d.Path)
}

// Compare lists what has to change in have to make it equal to want, sorted by path.
func Compare(want, have Tree) []Difference {
	var differences []Difference
	for path, content := range want {
		if old, ok := have[path]; !ok {
			differences = append(differences, Difference{Kind: Missing, Path: path})
		} else if !bytes.Equal(old, content) {
			differences = append(differences, Difference{Kind: Changed, Path: path, Line: firstDifference(old, content)})
		}
	}
	for path := range have {
		if _, ok := want[path]; !ok {
			differences = append(differences, Difference{Kind: Leftover, Path: path})
		}
	}
	slices.SortFunc(differences, func(a, b Difference) int { return cmp.Compare(a.Path, b.Path) })
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

// Apply makes the files below root what want says and tells out what it did. Files that are the same already keep their
// times, so that nothing is built again for them. It stops at the first error, and can be run again.
func Apply(root string, want Tree, differences []Difference, out io.Writer) error {
	for _, d := range differences {
		name := filepath.Join(root, filepath.FromSlash(d.Path))
		if d.Kind == Leftover {
			if err := os.Remove(name); err != nil {
				return err
			}
			fmt.Fprintln(out, "removed", d.Path)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, want[d.Path], 0o644); err != nil {
			return err
		}
		fmt.Fprintln(out, "wrote", d.Path)
	}
	fmt.Fprintf(out, "%d files up to date\n", len(want))
	return nil
}
