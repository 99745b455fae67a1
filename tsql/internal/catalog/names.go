package catalog

import "github.com/duroxide/duroxide-go/tsql/internal/syntax"

// Names is a list of objects as an option has it: each with its schema, or without if that is the default one. Case
// doesn't count.
type Names struct {
	schema string
	keys   map[string]bool
}

// NewNames reads such a list. The default schema is "dbo" if empty.
func NewNames(list []string, defaultSchema string) Names {
	if defaultSchema == "" {
		defaultSchema = "dbo"
	}
	names := Names{schema: defaultSchema, keys: map[string]bool{}}
	for _, name := range list {
		names.keys[Fold(name)] = true
	}
	return names
}

// Has reports whether an object is in the list.
func (n Names) Has(name Name) bool {
	return n.keys[name.Key()] || n.short(name) && n.keys[Fold(name.Name)]
}

// HasWritten is Has for a name as a definition writes it, with or without its schema.
func (n Names) HasWritten(name *syntax.ObjectName) bool {
	parts := name.Parts
	full := Name{Schema: n.schema, Name: parts[len(parts)-1].Value}
	if len(parts) > 1 && parts[len(parts)-2].Value != "" {
		full.Schema = parts[len(parts)-2].Value
	}
	return n.Has(full)
}

// short reports whether an object may be named without its schema.
func (n Names) short(name Name) bool { return Fold(name.Schema) == Fold(n.schema) }
