package model

import (
	"path"
	"strings"
	"unicode"
)

// fileNames names the Go file of each script after it; the folders join in where two scripts have the same name.
func fileNames(sources []string) map[string]string {
	names := map[string]string{}
	taken := map[string]int{}
	for _, source := range sources {
		names[source] = fileName(path.Base(source))
		taken[strings.ToLower(names[source])]++
	}
	for _, source := range sources {
		if taken[strings.ToLower(names[source])] > 1 {
			names[source] = fileName(strings.ReplaceAll(strings.Trim(path.Clean(source), "./"), "/", "_"))
		}
	}
	return names
}

// fileName returns the name of a Go file that every system compiles: fetch_windows.sql must not become a file for
// Windows, nor order_test.sql a test.
func fileName(script string) string {
	stem := strings.TrimSuffix(strings.TrimSuffix(script, path.Ext(script)), ".sql")
	stem = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, stem)
	// Go ignores files that begin with a dot or a line, and takes the last words in front of the first dot for the
	// system that the file is for.
	stem = strings.TrimLeft(stem, "._")
	if stem == "" {
		stem = "script"
	}
	word, rest, dotted := strings.Cut(stem, ".")
	parts := strings.Split(strings.TrimSuffix(word, "_test"), "_")
	if systems[parts[len(parts)-1]] {
		word += "_"
	}
	if dotted {
		word += "." + rest
	}
	return word + ".sql.go"
}

// systems are the words that make Go compile a file for some systems only.
var systems = wordSet(`aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris
	unix wasip1 windows zos 386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32
	mips64p32le ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm`)
