// Command sqlc-gen-tsql writes typed Go for T-SQL procedures and queries. It needs only the .sql files, not a server.
// From them it infers the type of every parameter, the type of every column of every result set, and the error
// numbers. Whatever it cannot infer is an error with the place and the reason.
//
// It runs by itself, or as a process plugin of sqlc. The README describes both.
//
// This package alone touches disk, network and environment; the stages below internal are functions of their
// arguments. Reading order: main.go picks the command; input.go and files.go read what it works on; generate.go,
// vet.go, rules.go, verify.go and plugin.go are the commands.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
)

// What the command's exit code says. Builds tell drift, which a developer repairs, from a command that couldn't run.
const (
	exitFine  = 0
	exitFound = 1 // there are findings, or drift
	exitUsage = 2 // the command was called wrongly, or a file or a server could not be reached
)

// errFound ends a command that has printed what it found. Nothing is left to say then but the exit code.
var errFound = errors.New("found")

// main ends on the first interrupt by way of the context, so that verify can roll back what it is doing.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := (&app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, dir: ".", getenv: os.Getenv}).run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// An app is the command with everything it reaches the world through, so that tests run it in a folder and an
// environment of their own.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	dir            string // the working directory
	getenv         func(string) string
}

// A command is one verb of the command line. Its run gets the arguments behind the verb.
type command struct {
	name, usage, short string
	run                func(*app, context.Context, []string) error
}

// commands are the verbs in the order of the help. A function, because help prints them.
func commands() []command {
	return []command{
		{"generate", "generate [flags] [file.sql …]", "write the Go files; with -verify, only say what would change", (*app).generate},
		{"diff", "diff [flags] [file.sql …]", "show what generate would change, line by line", (*app).diff},
		{"vet", "vet [flags] [file.sql …]", "apply the lint rules", (*app).vet},
		{"verify", "verify [flags] [file.sql …]", "compare with a server: parameters, result sets, types, texts, grants", (*app).verify},
		{"rules", "rules [id …]", "list the lint rules, or explain some", (*app).rules},
		{"version", "version", "print the version", (*app).version},
	}
}

// run carries out a command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	if len(args) == 0 {
		a.help(a.stderr)
		return exitUsage
	}
	// sqlc starts a plugin with the name of the method as the only argument; it looks like no command.
	if args[0] == pluginMethod {
		return a.plugin()
	}
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
		a.help(a.stdout)
		return exitFine
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return a.exitCode(c, c.run(a, ctx, args[1:]))
		}
	}
	fmt.Fprintf(a.stderr, "sqlc-gen-tsql: unknown command %s\n", args[0])
	a.help(a.stderr)
	return exitUsage
}

// exitCode reports what ended a command, unless the command has done so already.
func (a *app) exitCode(c command, err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitFine
	case errors.Is(err, errFound):
		return exitFound
	default:
		fmt.Fprintf(a.stderr, "sqlc-gen-tsql %s: %s\n", c.name, err)
		return exitUsage
	}
}

// help writes what the command can do. It goes to stdout for those who asked and to stderr for those who got it
// wrong.
func (a *app) help(w io.Writer) {
	fmt.Fprint(w, "sqlc-gen-tsql writes typed Go for T-SQL procedures and queries.\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  sqlc-gen-tsql %-32s %s\n", c.usage, c.short)
	}
	fmt.Fprint(w, "\nWithout files a command reads sqlc-gen-tsql.yaml, or what -config names: that, or a sqlc.yaml that runs\n"+
		"sqlc-gen-tsql as a plugin. The exit code is 0 if all is well, 1 if something was found, 2 if the command could not\n"+
		"do its work. sqlc-gen-tsql generate -h lists flags and configuration.\n")
}

// version prints which build this is.
func (a *app) version(context.Context, []string) error {
	version := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	fmt.Fprintln(a.stdout, "sqlc-gen-tsql", version)
	return nil
}
