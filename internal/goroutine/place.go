package goroutine

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// module is the path before all packages of this library.
const module = "github.com/duroxide/duroxide-go/"

// library are the packages through which a user's code is called, or calls.
var library = [...]string{"internal/goroutine", "internal/replay", "internal/payload", "internal/registry", "orchestration", "orchestrationtest", "activity", "worker"}

// Caller is the innermost line of the user's code on the calling goroutine's stack, such
// as "orders/pay.go:31", or empty.
func Caller() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if frame.Function != "" && usersCode(frame.Function, frame.File) {
			return short(fmt.Sprintf("%s:%d", frame.File, frame.Line))
		}
		if !more {
			return ""
		}
	}
}

// usersCode reports whether a function, by its full name, belongs neither to Go nor to
// this library. The function of an iterator that the compiler has put into the user's loop
// bears the name of the user's package, so its file counts, too.
func usersCode(function, file string) bool {
	name := packageOf(function)
	local, module := strings.CutPrefix(name, module)
	switch {
	case ours(file), module && slices.Contains(library[:], local):
		return false
	default:
		return module || !standard(name, file)
	}
}

// ours reports a file of the library that is no test.
func ours(file string) bool {
	local, ok := strings.CutPrefix(file, moduleRoot())
	slash := strings.LastIndexByte(local, '/')
	return ok && slash > 0 && slices.Contains(library[:], local[:slash]) && !strings.Contains(local, "_test.go")
}

// moduleRoot is the folder of this module when this program was built, with a slash at its end.
var moduleRoot = sync.OnceValue(func() string {
	_, file, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(file, "internal/goroutine/place.go")
})

// packageOf cuts a function's name off: "a.com/b/c.(*T).F" is in "a.com/b/c". In names of
// functions, a dot in the last element of a path is written as %2e.
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/') + 1
	if dot := strings.IndexByte(function[slash:], '.'); dot >= 0 {
		return function[:slash+dot]
	}
	return function
}

// standard reports a package of the standard library. A program that was built with
// -trimpath has no paths to go by; there a package is Go's own if its path has no
// domain and is not below the main module.
func standard(name, file string) bool {
	if root := sourceRoot(); root != "" {
		return strings.HasPrefix(file, root)
	}
	first, _, _ := strings.Cut(name, "/")
	if first == "main" || strings.Contains(first, ".") {
		return false
	}
	main := mainModule()
	return main == "" || (name != main && !strings.HasPrefix(name, main+"/"))
}

// sourceRoot is the folder of the standard library when this program was built, empty
// with -trimpath.
var sourceRoot = sync.OnceValue(func() string {
	file, _ := runtime.FuncForPC(funcPC()).FileLine(funcPC())
	root, found := strings.CutSuffix(file, "runtime/extern.go")
	if !found {
		return ""
	}
	return root
})

// funcPC is a place in package runtime.
func funcPC() uintptr {
	var pcs [1]uintptr
	runtime.Callers(0, pcs[:]) // 0 is Callers itself
	return pcs[0]
}

var mainModule = sync.OnceValue(func() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Path
	}
	return ""
})

// short leaves the file and its folder of a path: the rest is about the machine on which
// the program was built.
func short(file string) string {
	last := strings.LastIndexByte(file, '/')
	if last < 0 {
		return file
	}
	return file[strings.LastIndexByte(file[:last], '/')+1:]
}
