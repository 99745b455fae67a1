package syntax

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// A Node is any part of the tree. What a node holds is what the text says, not what it means: names are not resolved,
// and a default that isn't written is nil or "".
type Node interface {
	Range() diag.Span
}

// A Script is one file: its batches in order and all its comments.
type Script struct {
	File     *diag.File
	Batches  []*Batch
	Comments []Comment `walk:"-"` // in the order of the text
}

// A Batch is the text between two GO lines.
type Batch struct {
	diag.Span
	Stmts []Stmt // a module's definition is the only one of its batch
	Count int    // the repetition of "GO 5"; 1 when none is given
	// Module is what the batch defines, also if the definition can't be read; nil if it defines no module, or if not
	// even the name can be read.
	Module *ModuleName
	// Torn says that the module is one of those that [ParseExcept] passes over and that there are mistakes in it: what
	// the tree has of it is a part.
	Torn bool
}

// A ModuleName is the beginning of a module's definition: CREATE OR ALTER VIEW dbo.v.
type ModuleName struct {
	Kind string // "PROCEDURE", "FUNCTION", "VIEW", "TRIGGER"
	Name *ObjectName
}

// A Comment is a -- line comment (to the end of the line, without it) or a block comment, with its delimiters.
type Comment struct {
	diag.Span
	Text string // without the delimiters, not trimmed
	Line bool   // -- rather than /* */
}

// An Ident is a name: total, [order total], "order total". Value is the name itself: brackets and quotes are gone
// and doubled ones undone.
type Ident struct {
	diag.Span
	Value  string
	Quoted bool // written in brackets or double quotes
}

// An ObjectName is a name of up to four parts, server.database.schema.name. Parts left out ("db..t") are empty. The
// last
// part is the object's own name, so that code that looks only at that one counts from the end.
type ObjectName struct {
	diag.Span
	Parts []Ident // at least one
}

// Last returns the part that names the object itself.
func (n *ObjectName) Last() Ident { return n.Parts[len(n.Parts)-1] }

// Schema returns the part that names the schema; empty if it isn't written.
func (n *ObjectName) Schema() string {
	if i := len(n.Parts) - 2; i >= 0 {
		return n.Parts[i].Value
	}
	return ""
}

// Dotted is a qualified name as messages show it.
func Dotted(parts []Ident) string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.Value
	}
	return strings.Join(names, ".")
}

// HasOption reports whether a list has an option.
func HasOption(list []Option, name string) bool {
	return slices.ContainsFunc(list, func(o Option) bool { return o.Name == name })
}

// IsTemp reports names of temp tables: #t, ##t and tempdb..#t. The server puts them in tempdb whatever is written in
// front, so that the last part tells.
func (n *ObjectName) IsTemp() bool { return strings.HasPrefix(n.Last().Value, "#") }

// A TypeName is a data type as it is written. Name is the type's possibly qualified name; synonyms of several words
// ("character varying", "double precision") are one part with single blanks.
type TypeName struct {
	diag.Span
	Name *ObjectName
	// Args are the facets: numbers, or "max" for (max). Whether a type takes them, and which, is for package sqltype to
	// say.
	Args []Ident
	// Collection is the XML schema collection of xml (collection); nil if there is none.
	Collection *ObjectName
}

// Option is a word or phrase of an option list: a table hint, a query hint, WITH options of a module. Name is upper
// case with single blanks between words ("ALLOW_PAGE_LOCKS"); Value is the text after = or in parentheses, if any.
type Option struct {
	diag.Span
	Name  string
	Value string
}
