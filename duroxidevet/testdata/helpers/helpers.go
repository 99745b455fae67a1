// Package helpers is used by orchestrations and knows nothing of them.
package helpers

import (
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"example.com/app/helpers/deep"
)

var Debug bool // want Debug:"mutable"

var Fixed = true

func SetDebug(on bool) { Debug = on } // want SetDebug:"global"

func Stamp() string { return "at " + deep.Clock() } // want Stamp:"clock"

func Pure(names []string) string {
	sort.Strings(names)
	return strings.Join(names, ",")
}

// WithNow returns an option that somebody else runs.
func WithNow() func() time.Time { return func() time.Time { return time.Now() } }

type Names struct {
	mu    sync.Mutex
	known map[string]int
}

func (n *Names) Next(name string) string { // want Next:"lock"
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known[name]++
	return fmt.Sprint(name, n.known[name])
}

type Numbers[T any] []T

func (n Numbers[T]) Draw() T { return n[deep.Draw(len(n))] } // want Draw:"random"

// Even and Odd call each other.
func Even(n int) bool { // want Even:"io"
	if n == 0 {
		fmt.Println("done")
		return true
	}
	return Odd(n - 1)
}

func Odd(n int) bool { return n != 0 && Even(n-1) } // want Odd:"io"

//duroxide:deterministic the clock only names a file that nobody reads
func Trusted() string { return deep.Clock() }
