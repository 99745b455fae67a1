// Package columns lies between the contract's values and the columns that a store
// keeps them in: it checks and encodes what goes in, before any transaction, and
// decodes what comes out. Every store does the same here, whatever its database, and
// refuses in the same words.
//
// Errors are [*provider.Error] values of the operation that the caller names.
package columns
