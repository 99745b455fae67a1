// Package directive reads what comments tell the generator: the name and command of an annotated query, "gen:"
// directives, "vet:allow" suppressions, and the header comments that become documentation. The README of the command
// describes them for users.
//
// The files in reading order: directive.go has what is read and how other packages ask for it, read.go reads it,
// place.go tells which comment speaks about what, and header.go makes text for people of the comments that are no
// directives.
//
// Reading and using are apart: a directive says nothing about whether it makes sense where it stands. The stage that
// understands a statement asks for the directives above it and marks as used those it follows; those that nobody did
// are reported in the end. So a misplaced directive is an error, and no stage has to know about those of the others.
package directive

import (
	"cmp"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// A Kind names a directive.
type Kind string

// The directives.
const (
	Query    Kind = "name"         // -- name: GetOrder :one
	Null     Kind = "gen:null"     // -- gen:null @a @b
	Param    Kind = "gen:param"    // -- gen:param @x nvarchar(20) null
	Result   Kind = "gen:result"   // -- gen:result Header :optional
	Columns  Kind = "gen:columns"  // -- gen:columns (id bigint not null), or -- gen:columns none
	Changes  Kind = "gen:changes"  // -- gen:changes none
	Internal Kind = "gen:internal" // -- gen:internal
	Embed    Kind = "gen:embed"    // -- gen:embed dbo.first dbo.second
	Allow    Kind = "vet:allow"    // -- vet:allow P4: reason
)

// A Directive is one such comment, parsed.
type Directive struct {
	diag.Span
	Kind    Kind
	Name    string             // of Query and Result
	Command string             // of Query (":one", …) and Result (":optional", …); empty if none
	Params  []string           // of Null: with the @, as written
	Names   []string           // of Embed: as written
	Param   *ParamDef          // of Param
	Columns []syntax.ColumnDef // of Columns: names, types, nullability
	None    bool               // of Columns: nothing is sent
	Rule    string             // of Allow
	Reason  string             // of Allow
	// Trailing says that code stands before the comment on its line.
	Trailing bool
}

// ParamDef is what a gen:param directive says. Its type is as written: only the catalog knows what an alias stands for.
type ParamDef struct {
	Name string // with the @
	Type *syntax.TypeName
	Null bool // null is written; nothing and "not null" mean the same
}

// A Header is the comment above a procedure, or between AS and its first statement: sentences for people, and the
// errors it lists.
type Header struct {
	Text   string // everything, directives left out
	Doc    string // the part before the first section ("Errors:", "Results:", …): it becomes the Go doc comment
	Errors []ErrorName
	// Sections are in the order of the text.
	Sections []Section
}

// A Section is a part of a header below a title such as "Result sets:".
type Section struct {
	diag.Span        // of the line with the title
	Title     string // folded to lower case, without the colon: "errors", "result sets", "locks"
	Text      string // in one line
}

// An ErrorName is one line "50010 lock_lost: text" of the section Errors.
type ErrorName struct {
	diag.Span
	Number int32
	Name   string
	Text   string
}

// A Set holds the directives of one script.
type Set struct {
	File *diag.File
	All  []*Directive // in the order of the text

	script  *syntax.Script      // for the comments and the text between them
	used    map[*Directive]bool // grows while the stages ask; the directives themselves never change
	misread []diag.Span         // comments that are meant to be directives and can't be read
}

// Above returns the directives that speak about what begins at a place: those in the contiguous comment block directly
// above its line, and those on the line itself, in the order of the text. Without kinds, it returns those of all kinds.
// When several statements share a line, each of them has the same directives.
func (s *Set) Above(at diag.Span, kinds ...Kind) []*Directive {
	return s.of(append(above(s.script, at), beside(s.script, at.From)...), kinds)
}

// InHeader returns the directives that speak about a whole procedure: those directly above CREATE and those between AS
// and the first statement.
func (s *Set) InHeader(proc *syntax.CreateProcedure, kinds ...Kind) []*Directive {
	outer, inner := headerBlocks(s.script, proc)
	return s.of(append(outer, inner...), kinds)
}

// Allows returns the vet:allow that suppresses a finding of a rule at a place, and marks it as used. It returns nil if
// there is none. Rules are compared without regard to case.
func (s *Set) Allows(at diag.Span, rule string) *Directive {
	for _, d := range s.Above(at, Allow) {
		if strings.EqualFold(d.Rule, rule) {
			s.Use(d)
			return d
		}
	}
	return nil
}

// Astray reports whether a comment before something is meant to speak about it and fails to: a directive that can't be
// read, or the name of a query with blank lines behind it. Such a comment has a finding of its own, and a second one,
// that the statement has no name, would only repeat it.
func (s *Set) Astray(at diag.Span) bool {
	return slices.ContainsFunc(preceding(s.script, at, true), func(c syntax.Comment) bool {
		return slices.Contains(s.misread, c.Span) || len(s.of([]syntax.Comment{c}, []Kind{Query})) > 0
	})
}

// Use marks a directive as used. That is the asker's to say, not [Set.Above]'s: one may look at a directive and not
// follow it.
func (s *Set) Use(d *Directive) { s.used[d] = true }

// Unused returns the directives that were never marked as used, in the order of the text. Without kinds, it returns
// those of all kinds.
func (s *Set) Unused(kinds ...Kind) []*Directive {
	var unused []*Directive
	for _, d := range s.All {
		if !s.used[d] && wanted(d, kinds) {
			unused = append(unused, d)
		}
	}
	return unused
}

// of returns the directives of the given kinds that some comments are. A directive begins where its comment does, and
// the set is sorted by that.
func (s *Set) of(comments []syntax.Comment, kinds []Kind) []*Directive {
	var found []*Directive
	for _, c := range comments {
		i, ok := slices.BinarySearchFunc(s.All, c.From, func(d *Directive, at diag.Pos) int {
			return cmp.Compare(d.From, at)
		})
		if ok && wanted(s.All[i], kinds) {
			found = append(found, s.All[i])
		}
	}
	return found
}

// wanted reports whether a directive is of one of the kinds; no kinds are all.
func wanted(d *Directive, kinds []Kind) bool {
	return len(kinds) == 0 || slices.Contains(kinds, d.Kind)
}
