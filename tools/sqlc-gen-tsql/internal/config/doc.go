package config

import (
	"fmt"
	"io"
)

// Describe writes every key with what it is good for.
func Describe(w io.Writer) {
	for _, f := range fields {
		fmt.Fprintf(w, "  %-20s %s\n", f.key, f.doc)
	}
	for _, f := range vetFields {
		fmt.Fprintf(w, "  %-20s %s\n", "vet."+f.key, f.doc)
	}
}
