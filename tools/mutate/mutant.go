package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// kind is what a mutation does.
type kind string

const (
	hintRemoved      kind = "hint removed"
	indexHintRemoved kind = "index hint removed"
	conditionRemoved kind = "condition of a write removed"
	lockRemoved      kind = "lock removed"
	orderSwapped     kind = "lock order swapped"
	commitMoved      kind = "commit moved"
	clockEarlier     kind = "clock read earlier"
	readpastAdded    kind = "READPAST added"
	comparedWrong    kind = "compared the wrong way"
)

// kinds are all of them, in the order of the report.
var kinds = []kind{
	hintRemoved, indexHintRemoved, conditionRemoved, lockRemoved, orderSwapped, commitMoved, clockEarlier, readpastAdded, comparedWrong,
}

// mutant is one change of one procedure or function.
type mutant struct {
	// what says what is wrong with it.
	what string
	kind kind
	// module is the procedure or function: the name of its file without ".sql".
	module string
	// whole is the mutated text of the module. Where it is empty, old, whose tokens occur once, is replaced by new.
	whole    string
	old, new string
	// foundBy is the finder that noticed it last, if somebody has noted that; it is asked first.
	foundBy string
	// survives says why nothing can find it, if so.
	survives string
}

// trial is a mutant with its text, and what has found it.
type trial struct {
	mutant

	name string
	path string // of the module, below sql/
	text string // of the module, mutated
	// before is who has found it in an older text of the module.
	before result
	outcome
}

// outcome is who has found a mutant and what it said.
type outcome struct {
	finder, finding string
	asked           []string // the finders that have found nothing
}

// texts are the modules by their paths below sql/.
type texts map[string]string

// readTexts reads the procedures and functions of a repository.
func readTexts(root string) (texts, error) {
	all := texts{}
	for _, pattern := range []string{"procedures/*.sql", "schema/functions/*.sql"} {
		files, err := filepath.Glob(filepath.Join(root, "sql", pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			all[filepath.ToSlash(filepath.Join(filepath.Dir(pattern), filepath.Base(file)))] = string(text)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no procedures in %s", root)
	}
	return all, nil
}

// paths are the paths of all modules, sorted.
func (t texts) paths() []string { return slices.Sorted(maps.Keys(t)) }

// path is where a module is.
func (t texts) path(module string) (string, error) {
	for path := range t {
		if moduleOf(path) == module {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no procedure or function %s", module)
}

func moduleOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".sql") }

// prepare applies the mutants: those of the list, and a sample of those that are made mechanically, or all of them.
func prepare(all texts, everything bool, only *regexp.Regexp) ([]*trial, error) {
	var trials []*trial
	seen := map[string]string{}
	written, err := listed()
	if err != nil {
		return nil, err
	}
	for i, m := range append(written, mechanical(all, everything)...) {
		t, err := apply(all, m)
		if err != nil {
			return nil, err
		}
		words := []string{t.path}
		for _, token := range tokens(t.text) {
			words = append(words, token.text)
		}
		key := strings.Join(words, " ")
		if seen[key] != "" && i >= len(written) {
			continue // somebody has thought of it
		}
		if seen[key] != "" {
			return nil, fmt.Errorf("%s is the same as %s", t.name, seen[key])
		}
		seen[key] = t.name
		if only.MatchString(t.name) {
			trials = append(trials, t)
		}
	}
	return trials, nil
}

// apply makes the mutated text.
func apply(all texts, m mutant) (*trial, error) {
	path, err := all.path(m.module)
	if err != nil {
		return nil, err
	}
	t := &trial{mutant: m, path: path, name: m.module + ": " + m.what, text: m.whole}
	if m.whole != "" {
		return t, nil
	}
	if t.text, err = patch(all[path], m.old, m.new); err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	return t, nil
}

// comments are lines of them, but for those that the rules and the generator read.
var comments = regexp.MustCompile(`(?m)^[ \t]*--[^\n]*\n`)

// fingerprint tells a mutated text from others. Comments do not count, but for those that rules and generator read.
func (t *trial) fingerprint() string {
	text := comments.ReplaceAllStringFunc(t.text, func(line string) string {
		if strings.Contains(line, "vet:") || strings.Contains(line, "gen:") {
			return line
		}
		return ""
	})
	sum := sha256.Sum256([]byte(t.path + "\n" + text))
	return hex.EncodeToString(sum[:8])
}
