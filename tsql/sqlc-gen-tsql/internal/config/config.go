// Package config reads the options of the generator: from its own YAML file, from the configuration of a sqlc that runs
// it as a plugin, or from the JSON that sqlc then hands to it, which is YAML too. A key that it doesn't know is an
// error at its place, with the key that was probably meant: one that is passed over in silence costs an afternoon.
//
// The file is read as a tree of nodes and not into a struct, because only nodes know their lines, and because a table
// of keys is also what the help and the README are made of.
//
// Reading order: config.go has the result and the checks of values; keys.go is the table of keys; read.go walks the
// YAML; sqlc.go finds the generator's part in sqlc's configuration.
package config

import (
	"errors"
	"go/token"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/model"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/vet"
)

// FileName is the configuration that the command looks for, in the working directory only, when it is given none.
const FileName = "sqlc-gen-tsql.yaml"

// rule marks the findings of this package.
const rule = "config"

// Config is everything that can be chosen. Paths and patterns are slash-separated and relative to the configuration
// file, or to the folder that sqlc runs in.
type Config struct {
	Out string // folder of the Go files, slash-separated

	// Patterns of the scripts, relative to the configuration: what defines tables, types, views and functions; what
	// defines procedures; and what holds annotated queries. Any is for scripts of all kinds; only the command line
	// has it.
	Schema, Procedures, Queries, Any []string

	DefaultSchema string            // what an unqualified name belongs to
	Exclude       []string          // procedures that get no code; each must exist
	Placeholders  map[string]string // values by name
	Model         model.Options     // package, nulls, tables, rename and so on
	Vet           vet.Options
}

// Default returns the configuration in which nothing has been chosen. The defaults of the lint rules are package
// vet's own.
func Default() Config {
	return Config{DefaultSchema: "dbo", Model: model.Options{Nulls: model.NullsPointer, Tables: model.TablesJSON}}
}

// Read reads a configuration of the generator, as its own file and a plugin's options have it, and checks it. All
// findings of the file are returned at once; with any, the configuration is of no use.
func Read(file *diag.File) (Config, diag.List) {
	c := Default()
	r := reader{file: file}
	if root := r.parse(); root != nil {
		r.mapping(root, "", fields, &c)
	}
	// A key that was refused would be reported as missing, too.
	if len(r.findings) == 0 {
		c.check(file, &r.findings)
	}
	r.findings.Sort()
	return c, r.findings
}

// Set stores a single value under a key, as if a file said so: the flags of the command have the same checks and the
// same words for what is wrong. A list gets one value more.
func (c *Config) Set(key, value string) error {
	r := reader{file: diag.NewFile("", value)}
	f := find(fields, key)
	if f == nil {
		return errors.New("unknown key " + key)
	}
	f.read(&r, &yaml.Node{Kind: yaml.ScalarNode, Value: value, Line: 1, Column: 1}, c)
	if len(r.findings) > 0 {
		return errors.New(r.findings[0].Message)
	}
	return nil
}

// check looks at what no single key can know. Findings about keys that are missing stand at the top of the file.
func (c *Config) check(file *diag.File, findings *diag.List) {
	add := func(fix, message string) { findings.Add(file, diag.Span{}, rule, fix, "%s", message) }
	if c.Model.Package == "" {
		add("package: db", "package is not set")
	}
	if len(c.Schema)+len(c.Procedures)+len(c.Queries) == 0 {
		add("name the scripts, as in procedures: [sql/*.sql]", "none of schema, procedures and queries is set")
	}
}

// packageProblem says why a name can't be a package's; it is empty for one that can. Package main could be generated,
// but nobody could call it.
func packageProblem(name string) string {
	switch {
	case !token.IsIdentifier(name):
		return "package " + name + " is not a Go identifier"
	case name == "_" || name == "main":
		return "package " + name + " can't be imported"
	default:
		return ""
	}
}

// folderProblem says why a path can't be where files are written. What is generated must be the same on every
// machine, and an absolute path is not.
func folderProblem(folder string) string {
	switch {
	case strings.Contains(folder, `\`):
		return "write the path with slashes, not backslashes"
	// C: is absolute on one system and a plain name on the others.
	case path.IsAbs(folder) || len(folder) > 1 && folder[1] == ':':
		return "the path has to be relative: to the configuration, or to the working directory if there is none"
	default:
		return ""
	}
}

// patternProblem says why a pattern of files can't be matched: in its syntax, or as a path. That it matches nothing
// is found out when the files are read.
func patternProblem(pattern string) string {
	if problem := folderProblem(pattern); problem != "" {
		return problem
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return "the pattern " + pattern + " is malformed"
	}
	return ""
}
