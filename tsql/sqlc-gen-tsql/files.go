package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/generate"
)

// readSources reads the scripts that a configuration names; dir is the folder to which its patterns are relative.
// Within a role the patterns count in their order and the matches of each are sorted: the order of scripts is the
// order of definitions. A file that several patterns match is one source, with all its roles.
func readSources(dir string, c config.Config) ([]generate.Source, error) {
	var sources []generate.Source
	for _, group := range []struct {
		key      string
		patterns []string
		role     generate.Role
	}{
		{"schema", c.Schema, generate.Schema},
		{"procedures", c.Procedures, generate.Procedures},
		{"queries", c.Queries, generate.Queries},
		{"the command line", c.Any, generate.Any},
	} {
		for _, pattern := range group.patterns {
			names, err := match(dir, pattern)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", group.key, err)
			}
			for _, name := range names {
				text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
				if err != nil {
					return nil, err
				}
				sources = append(sources, generate.Source{Name: name, Text: decode(text), Role: group.role})
			}
		}
	}
	return generate.Merge(sources), nil
}

// decode turns a file into text. The tools of SQL Server write UTF-16 unless told otherwise, and begin it with a mark.
func decode(content []byte) string {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(content, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(content, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return string(content)
	}
	units := make([]uint16, 0, len(content)/2)
	for pair := range slices.Chunk(content[2:], 2) {
		if len(pair) == 2 {
			units = append(units, order.Uint16(pair))
		}
	}
	return string(utf16.Decode(units))
}

// match returns the files below dir that a pattern names, sorted, with slashes. A folder stands for the .sql files in
// it, and ** for any number of folders. No match is an error: it is a misspelt path more often than an empty folder.
func match(dir, pattern string) ([]string, error) {
	// A pattern may begin with ../, which a walk below dir would never see, so the walk starts at its fixed part.
	base, rest := splitPattern(pattern)
	root := filepath.Join(dir, filepath.FromSlash(base))
	if info, err := os.Stat(filepath.Join(root, filepath.FromSlash(rest))); err == nil && info.IsDir() {
		root, base, rest = filepath.Join(root, filepath.FromSlash(rest)), path.Join(base, rest), "*.sql"
	}
	var names []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && matches(strings.Split(rest, "/"), strings.Split(name, "/")) {
			names = append(names, path.Join(base, name))
		}
		// The pattern names files of this folder only: the folders below may be large.
		if err == nil && entry.IsDir() && name != "." && !strings.Contains(rest, "/") && rest != "**" {
			return fs.SkipDir
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(names) == 0 {
		return nil, noMatch(root, pattern, rest)
	}
	slices.Sort(names)
	return names, nil
}

// noMatch is the error of a pattern that names no file. A folder whose scripts are in the folders below it is the one
// mistake of which more can be said.
func noMatch(root, pattern, rest string) error {
	if rest == "*.sql" {
		below, err := match(root, "**/*.sql")
		if err == nil {
			folder := strings.TrimSuffix(path.Clean(pattern), "/*.sql")
			return fmt.Errorf("no file matches %s: a folder stands for the scripts in it, and %s below it only for %s/**/*.sql",
				pattern, filesOf(len(below)), folder)
		}
	}
	return fmt.Errorf("no file matches %s", pattern)
}

// splitPattern splits a pattern before the first element that has a wildcard, or before the last one. Either part may
// be empty, which path.Join takes for here.
func splitPattern(pattern string) (base, rest string) {
	elements := strings.Split(path.Clean(pattern), "/")
	// Without a wildcard the last element is the file, and the rest the folder to look in.
	n := slices.IndexFunc(elements, func(e string) bool { return strings.ContainsAny(e, "*?[") })
	if n < 0 {
		n = len(elements) - 1
	}
	return path.Join(elements[:n]...), strings.Join(elements[n:], "/")
}

// matches reports whether the elements of a path are what those of a pattern say. path.Match alone knows no **. A
// pattern that it calls malformed matches nothing; the configuration has refused it already.
func matches(pattern, name []string) bool {
	switch {
	case len(pattern) == 0:
		return len(name) == 0
	case pattern[0] == "**":
		return matches(pattern[1:], name) || len(name) > 0 && matches(pattern, name[1:])
	case len(name) == 0:
		return false
	}
	ok, err := path.Match(pattern[0], name[0])
	return err == nil && ok && matches(pattern[1:], name[1:])
}
