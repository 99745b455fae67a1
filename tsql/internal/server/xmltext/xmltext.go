// Package xmltext reads and writes the text of xml values: what SQL Server takes for well-formed, which errors it has
// for the rest, and how it writes a value.
//
//	xmltext.go  the tree
//	read.go     Parse; markup.go what stands in angle brackets; error.go its errors
//	write.go    Append, and how characters are escaped
package xmltext

// Kind says what a node is.
type Kind uint8

// The kinds of nodes.
const (
	Element Kind = iota
	Text
	Comment
	Instruction
)

// Node is a part of a document or of a list of fragments.
type Node struct {
	Kind       Kind
	Name       string // of an element or an instruction
	Text       string // of a text, a comment or an instruction
	Attributes []Attribute
	Children   []*Node
}

// Attribute is an attribute of an element, declarations of namespaces included.
type Attribute struct{ Name, Value string }

// Options say how a text is read.
type Options struct {
	// KeepSpace keeps texts that are blank, which are dropped otherwise.
	KeepSpace bool
	// Encoding is that of the text before it became a string: "utf-16", "utf-8", or "" for a code page. A declaration
	// that says another one is a mistake or means other characters.
	Encoding string
}
