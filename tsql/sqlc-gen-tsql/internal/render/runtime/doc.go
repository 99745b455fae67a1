// Package runtime is what every generated package holds besides its methods: how statements are called, how arguments
// are put on the wire and how result sets are read.
//
// It is ordinary code, compiled, linted and tested here, and is never imported: package render copies into a generated
// package the declarations that its methods reach, file by file, so that what is generated depends on the driver only
// and holds nothing that it doesn't use.
//
//nolint:unused // as in the files beside this one
package runtime

// What follows stands for what is generated.

// packageName begins the text of errors.
const packageName = "runtime"

// sentinels are the errors that stand for the numbers of THROW.
var sentinels = map[int32]error{}

// statements are all statements of the package.
var statements []*statement
