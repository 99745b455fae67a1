package binder

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// scope is what an expression sees. The scope of a subquery has that of the query around it as its outer one. A scope
// is not changed once expressions have been bound in it; in makes copies.
type scope struct {
	level

	outer   *scope
	ctes    *cte
	group   *grouping // the rows are groups; nil if they aren't
	windows *windows  // where window functions are put; nil where there can be none
	action  *Node     // the column $action of MERGE
}

// level is what a scope has of one query.
type level = lookup.Level[*Source]

// Source is a table of a FROM clause, as names refer to it.
type Source struct {
	Name    string // the alias, or the table's own name; empty if nothing can refer to it
	schema  string // of a table without an alias
	columns []sourceColumn
	table   *schema.Table // nil for what has no columns of its own
	Rel     Rel
	// reads notes that a column is read, which takes a permission; nil if it takes none.
	reads func(i int)
}

// sourceColumn is a column of a source. Its node is made when it is first asked for.
type sourceColumn struct {
	name   string
	hidden bool
	node   *Node
	make   func() (*Node, error)
}

// Exposed returns what columns can be qualified with.
func (s *Source) Exposed() (name, schemaName string) { return s.Name, s.schema }

// Width returns how many columns there are.
func (s *Source) Width() int { return len(s.columns) }

// NameOf returns the name of a column.
func (s *Source) NameOf(i int) string { return s.columns[i].name }

// Column returns the node of a column that is read.
func (s *Source) Column(i int) (*Node, error) {
	if s.reads != nil {
		s.reads(i)
	}
	return s.node(i)
}

// node returns the node of a column for whatever the server does with it by itself.
func (s *Source) node(i int) (*Node, error) {
	c := &s.columns[i]
	if c.node == nil {
		n, err := c.make()
		if err != nil {
			return nil, err
		}
		c.node = n
	}
	return c.node, nil
}

// in returns the scope as another clause sees it.
func (s *scope) in(c lookup.Clause) *scope {
	inner := *s
	inner.Clause = c
	return &inner
}

// inner returns the scope of a query that stands in this one.
func (s *scope) inner() *scope {
	return &scope{outer: s, ctes: s.ctes, level: level{Clause: lookup.InFrom}}
}

// found is where a name was found.
type found struct {
	source *Source
	index  int
	owner  *scope
}

// column binds a reference to a column.
func (b *Binder) column(s *scope, ref *syntax.ColumnRef) (*Node, error) {
	if n, err := b.pseudoColumn(s, ref); n != nil || err != nil {
		return n, err
	}
	f, err := b.find(s, ref)
	if err != nil {
		return nil, err
	}
	n, err := f.source.Column(f.index)
	if err != nil {
		return nil, err
	}
	if f.owner.group == nil || f.owner.InAggregate {
		return n, nil
	}
	return f.owner.group.column(n, f)
}

// find looks a column up from the inside out. A table that is found by its qualifier ends the search, also if it has no
// such column.
func (b *Binder) find(s *scope, ref *syntax.ColumnRef) (found, error) {
	name := ref.Last().Value
	qualifier := ref.Parts[:len(ref.Parts)-1]
	for at := s; at != nil; at = at.outer {
		hits, candidates := at.Find(ref, b.Same)
		switch {
		case len(hits) == 1:
			return found{hits[0].Table, hits[0].Column, at}, nil
		case len(hits) > 1:
			return found{}, fault.New(209, name)
		case len(qualifier) > 0 && len(candidates) > 0:
			return found{}, fault.New(207, name)
		}
	}
	if len(qualifier) > 0 {
		if b.isCLRColumn(s, qualifier) {
			return found{}, b.Unsupported(ref.Span, "the property %s", name)
		}
		return found{}, fault.New(4104, syntax.Dotted(ref.Parts))
	}
	return found{}, b.unknown(s, ref.Parts[0])
}

// unknown is the error for an unqualified name that is no column. Where no table is read, a word is more likely meant
// to be something else.
func (b *Binder) unknown(s *scope, name syntax.Ident) error {
	for at := s; at != nil; at = at.outer {
		if len(at.Sources) > 0 {
			return fault.New(207, name.Value)
		}
	}
	if s.Clause == lookup.Outside && !name.Quoted {
		return fault.New(128, name.Value)
	}
	return fault.New(207, name.Value)
}

// pseudoColumn binds $action, $identity and $rowguid; nil if the name is none of them.
func (b *Binder) pseudoColumn(s *scope, ref *syntax.ColumnRef) (*Node, error) {
	last := ref.Last()
	if last.Quoted {
		return nil, nil
	}
	var wanted func(c *schema.Column) bool
	switch strings.ToUpper(last.Value) {
	case "$ACTION":
		if s.action == nil {
			return nil, fault.New(207, last.Value)
		}
		return s.action, nil
	case "$IDENTITY", "IDENTITYCOL":
		wanted = func(c *schema.Column) bool { return c.Identity }
	case "$ROWGUID", "ROWGUIDCOL":
		wanted = func(c *schema.Column) bool { return c.RowGUID }
	default:
		return nil, nil
	}
	for _, src := range s.Qualified(ref.Parts[:len(ref.Parts)-1], b.Same) {
		if src.table == nil {
			continue
		}
		for _, c := range src.table.Columns {
			if wanted(c) {
				parts := []syntax.Ident{{Span: last.Span, Value: c.Name, Quoted: true}}
				return b.column(s, &syntax.ColumnRef{Span: ref.Span, Parts: append(ref.Parts[:len(ref.Parts)-1:len(ref.Parts)-1], parts...)})
			}
		}
	}
	return nil, fault.New(207, last.Value)
}

// expose checks that no two sources of a FROM clause have one name.
func (b *Binder) expose(sources []*Source) error {
	for i, src := range sources {
		for _, other := range sources[:i] {
			if src.Name != "" && b.Same(src.Name, other.Name) && b.Same(src.schema, other.schema) {
				if src.schema == "" && other.schema == "" && src.table == nil {
					return fault.New(1011, src.Name)
				}
				return fault.New(1013, other.Name, src.Name)
			}
		}
	}
	return nil
}
