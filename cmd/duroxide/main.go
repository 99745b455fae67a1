// Command duroxide looks at the orchestrations of a store, acts on them, and measures
// durable execution. See docs/cli.md, or run it without arguments.
package main

import "github.com/duroxide/duroxide-go/cmd/duroxide/commandline"

func main() { commandline.Main(commandline.Options{}) }
