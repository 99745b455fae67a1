// Command duroxidevet runs the analyser of package duroxidevet, by itself or under go vet:
//
//	duroxidevet ./...
//	duroxidevet -fix ./...
//	go vet -vettool=$(which duroxidevet) ./...
//
// The first form is the third in fewer words, and takes the flags of go vet.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/duroxide/duroxide-go/duroxidevet"
)

func main() {
	if underVet(os.Args[1:]) {
		unitchecker.Main(duroxidevet.Analyzer)
	}
	if err := vet(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "duroxidevet:", err)
		os.Exit(1)
	}
}

// underVet reports whether go vet has started this program, or help is asked for.
func underVet(args []string) bool {
	if len(args) == 0 {
		return false
	}
	last := args[len(args)-1]
	return args[0] == "help" || args[0] == "-flags" || strings.HasPrefix(args[0], "-V") || strings.HasSuffix(last, ".cfg")
}

// vet starts go vet with this program as its tool.
func vet(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	//nolint:gosec // it is this program, and go vet's own arguments
	cmd := exec.CommandContext(context.Background(), "go", append([]string{"vet", "-vettool=" + self}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
