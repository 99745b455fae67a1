package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/generate"
)

// An input is what a command works on: a configuration and the scripts it names.
type input struct {
	dir     string // the folder to which all paths are relative
	config  config.Config
	sources []generate.Source
	args    string // what to type after a verb to get the same input
}

// chosen holds what flags say, by key of the configuration. Flags are for trying the command on a script; whatever is
// worth keeping is in a file, which is why few keys have one.
type chosen map[string]string

// A keyFlag is a key of the configuration that has a flag.
type keyFlag struct{ key, usage string }

// keyFlags are the flags that stand for keys, in the order in which a command that repeats the call has them.
var keyFlags = []keyFlag{
	{"package", "`name` of the Go package"},
	{"out", "`folder` of the Go files"},
	{"default_schema", "`schema` of unqualified names"},
	{"nulls", "how NULL is written in Go, `pointer|sql`"},
	{"tables", "how table arguments travel, `json|tvp|both`"},
}

// name returns the flag's name: the key with dashes, as flags are spelt.
func (f keyFlag) name() string { return strings.ReplaceAll(f.key, "_", "-") }

// register adds the flags that say what a command works on; the name of a flag is its key with dashes.
func (c chosen) register(flags *flag.FlagSet) (file *string) {
	for _, f := range keyFlags {
		flags.Func(f.name(), f.usage+", when scripts are named", func(value string) error {
			c[f.key] = value
			return nil
		})
	}
	return flags.String("config", "", "configuration `file`, of "+
		"sqlc-gen-tsql or of sqlc; "+config.FileName+" if no scripts are named")
}

// parse reads the flags of a command; what it adds to the common ones is registered already. Scripts come from the
// command line or from a configuration, never from both: a mixture would be a third way to say what is generated, and
// one that nobody could repeat.
func (a *app) parse(flags *flag.FlagSet, args []string) (*input, error) {
	c := chosen{}
	file := c.register(flags)
	flags.SetOutput(a.stderr)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "flags of sqlc-gen-tsql %s:\n", flags.Name())
		flags.PrintDefaults()
		fmt.Fprintf(flags.Output(), "keys of %s:\n", config.FileName)
		config.Describe(flags.Output())
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, fmt.Errorf("see sqlc-gen-tsql %s -h", flags.Name()) // the flag package has said what is wrong
	}
	switch {
	// A flag that silently lost to the configuration would be worse than an error.
	case flags.NArg() == 0 && len(c) > 0:
		return nil, errors.New("flags such as -package are for scripts on the command line; without any, the configuration says it all")
	case flags.NArg() == 0:
		return a.configured(*file)
	case *file != "":
		return nil, errors.New("either -config or scripts on the command line, not both")
	default:
		return a.quick(c, flags.Args())
	}
}

// configured reads a configuration file and its scripts. All paths in it are relative to its own folder, so that it
// means the same wherever the command is started.
func (a *app) configured(file string) (*input, error) {
	in := &input{args: "-config " + file}
	name := filepath.ToSlash(file)
	if file == "" {
		// The default name needs no flag in the command that repairs drift.
		name, in.args = config.FileName, ""
	}
	full := filepath.FromSlash(name)
	if !filepath.IsAbs(full) {
		full = filepath.Join(a.dir, full)
	}
	text, err := os.ReadFile(full)
	if errors.Is(err, fs.ErrNotExist) && file == "" {
		return nil, fmt.Errorf("there is no %s here; write one, or name scripts: generate -package db -out db sql/*.sql", name)
	} else if err != nil {
		return nil, err
	}
	var findings diag.List
	in.config, findings = config.ReadFile(diag.NewFile(name, string(text)))
	// Package config doesn't ask for it, since a plugin isn't told where its files go.
	if in.config.Out == "" && len(findings) == 0 {
		findings.Add(nil, diag.Span{}, "config", "out: internal/db", "out is not set in %s", name)
	}
	if err := a.report(findings); err != nil {
		return nil, err
	}
	// From here on paths are relative to the configuration, wherever the command was started.
	in.dir = filepath.Dir(full)
	in.sources, err = readSources(in.dir, in.config)
	return in, err
}

// quick makes a configuration of flags. The keys go in a fixed order for the same reason as the files: what is
// printed is the same every time.
func (a *app) quick(c chosen, scripts []string) (*input, error) {
	in := &input{dir: a.dir, config: config.Default()}
	for _, f := range keyFlags {
		value, ok := c[f.key]
		if !ok {
			continue
		}
		if err := in.config.Set(f.key, filepath.ToSlash(value)); err != nil {
			return nil, fmt.Errorf("-%s: %w", f.name(), err)
		}
		in.args += "-" + f.name() + " " + value + " "
	}
	in.args += strings.Join(scripts, " ")
	for _, script := range scripts {
		in.config.Any = append(in.config.Any, filepath.ToSlash(script))
	}
	sources, err := readSources(in.dir, in.config)
	in.sources = sources
	return in, err
}

// report prints findings and returns errFound if there are any.
func (a *app) report(findings diag.List) error {
	if len(findings) == 0 {
		return nil
	}
	fmt.Fprint(a.stderr, findings.Format())
	return errFound
}
