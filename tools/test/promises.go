package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// promises are the names of the tests that docs/guarantees.md names, each once, in their order.
type promises []string

func promisesOf(root string) (promises, error) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "guarantees.md"))
	if err != nil {
		return nil, err
	}
	var named promises
	seen := map[string]bool{}
	for _, match := range regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]*(?:/[a-z_]+)?)`").FindAllStringSubmatch(string(text), -1) {
		if !seen[match[1]] {
			seen[match[1]] = true
			named = append(named, match[1])
		}
	}
	return named, nil
}

// promised reports whether a promise is kept by a test of that name, or by a part of it.
func (named promises) promised(test string) bool {
	return slices.ContainsFunc(named, func(name string) bool {
		top, _, _ := strings.Cut(name, "/")
		return top == test
	})
}

// pattern is what go test takes to run these tests only.
func (named promises) pattern() string {
	var all []string
	for _, name := range named {
		all = append(all, "^"+strings.ReplaceAll(name, "/", "$/^")+"$")
	}
	return strings.Join(all, "|")
}

// check compares the promises with how the tests ended, by their names.
func (named promises) check(ended map[string]string, out io.Writer) error {
	var missing, skipped []string
	for _, name := range named {
		switch ended[name] {
		case "":
			missing = append(missing, name)
		case "skip":
			skipped = append(skipped, name)
		}
	}
	fmt.Fprintf(out, "Of the %d tests that docs/guarantees.md names, %d have run", len(named), len(named)-len(missing)-len(skipped))
	if len(skipped) > 0 {
		fmt.Fprintf(out, ", and %d are not for this machine: %s", len(skipped), strings.Join(skipped, ", "))
	}
	fmt.Fprintln(out, ".")
	if len(missing) > 0 {
		return fmt.Errorf("docs/guarantees.md names tests that have not run: %s", strings.Join(missing, ", "))
	}
	return nil
}
