package catalog

import (
	"regexp"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// exec follows what changes definitions by a call outside of modules: text that is executed, the procedures of the
// server that rename and define, those that make a view see the present columns of its tables, and procedures of the
// scripts. Other procedures don't change names or types, as far as is known.
func (b *builder) exec(s *syntax.Exec) {
	if b.outer == nil {
		b.outer = s
		defer func() { b.outer = nil }()
	}
	if x := Executed(s); x != nil {
		b.text(x)
		return
	}
	if s.Name == nil || elsewhere(s.Name) {
		return
	}
	switch last := s.Name.Last().Value; {
	case Fold(last) == "sp_rename":
		b.rename(s)
	case Fold(last) == "sp_addtype":
		b.addType(s)
	case Fold(last) == "sp_droptype":
		b.dropType(s)
	case Fold(last) == "sp_bindefault":
		b.bindDefault(argumentNamed(s, 1, "@objname"), argumentNamed(s, 2, "@futureonly") == nil)
	case Fold(last) == "sp_unbindefault":
		b.bindDefault(argumentNamed(s, 0, "@objname"), false)
	case refreshes(last):
		b.refresh(s)
	default:
		b.callsChange(s)
	}
}

// Executed returns the text that an EXEC executes: that in parentheses, or the first argument of sp_executesql. It is
// nil if it executes none, or sends it to another server.
func Executed(s *syntax.Exec) syntax.Expr {
	if len(s.SQL) > 0 {
		away := func(o syntax.Option) bool { return strings.HasPrefix(o.Name, "AT") }
		if slices.ContainsFunc(s.Options, away) {
			return nil
		}
		return s.SQL[0]
	}
	if s.Name == nil || elsewhere(s.Name) || Fold(s.Name.Last().Value) != "sp_executesql" {
		return nil
	}
	return argumentNamed(s, 0, "@stmt", "@statement")
}

// elsewhere reports whether a procedure is called in another database, where it changes other definitions.
func elsewhere(name *syntax.ObjectName) bool {
	return len(name.Parts) > 2 && name.Parts[len(name.Parts)-3].Value != ""
}

// argumentNamed returns the argument at a place, or the one of a name. It is nil if there is none.
func argumentNamed(s *syntax.Exec, at int, names ...string) syntax.Expr {
	for i := range s.Args {
		a := &s.Args[i]
		if a.Name == "" && i == at || slices.Contains(names, Fold(a.Name)) {
			return a.X
		}
	}
	return nil
}

// defining finds what may define, change or drop something that a catalog has.
var defining = regexp.MustCompile(`(?i)\b(?:create|alter|drop)\s+(?:or\s+alter\s+)?(?:unique\s+)?(?:(?:non)?clustered\s+)?` +
	`(?:table|index|view|type|function|proc|procedure|sequence|synonym|trigger|schema)\b|\bsp_(?:rename|addtype|droptype)\b`)

// undeciding finds a text that defines nothing, whatever stands in those parts of it that aren't known.
var undeciding = regexp.MustCompile(`(?i)^\s*(?:alter\s+(?:database|login|user|role|authorization)|backup|create\s+(?:database|login|user|role)|` +
	`dbcc|delete|deny|drop\s+(?:database|login|user|role|statistics)|grant|insert|kill|print|restore|revoke|truncate|update|use)\b`)

// text follows the text that an EXEC executes. It has variables of its own, and what it SETs ends with it.
func (b *builder) text(x syntax.Expr) {
	file := b.known.Part(b.script.File, x)
	text := file.Text
	script, found := syntax.Parse(file)
	switch {
	case len(found) > 0 && !defining.MatchString(text) && (!HasHole(text) || undeciding.MatchString(text)):
		return // whatever it is, it changes no definition
	case len(found) > 0 && HasHole(text):
		b.unread("which text this executes is not known")
		return
	}
	b.found = append(b.found, found...)
	script0, batch0, known0, off0 := b.script, b.batch, b.known, b.off
	b.script, b.off = script, nil
	for _, b.batch = range script.Batches {
		b.known = NewKnown(b.c)
		b.stmts(b.batch.Stmts)
		if b.batch.Module != nil {
			b.c.Texts = append(b.c.Texts, script)
		}
	}
	b.script, b.batch, b.known, b.off = script0, batch0, known0, off0
}

// unread notes that the effect of the EXEC that is being followed isn't known.
func (b *builder) unread(why string) {
	if b.c.Unread[b.outer] == "" {
		b.c.Unread[b.outer] = why
	}
}

// gap handles a statement of a text with a part that isn't known in it. It reports whether that is all there is to do.
func (b *builder) gap(s syntax.Stmt) bool {
	if !HasHole(b.script.File.Slice(s.Range())) {
		return false
	}
	switch s := s.(type) {
	case *syntax.If, *syntax.While, *syntax.Block, *syntax.TryCatch, *syntax.Exec:
		return false // the part is in one of the statements below, or in a text that is looked at by itself
	case *syntax.AlterTable:
		switch whole := !HasHole(b.script.File.Slice(s.Name.Span)); {
		case s.Add == nil && s.Column == nil && !strings.HasPrefix(s.Other, "DROP"):
			return true // triggers, and whether constraints are checked
		case s.Other == "DROP CONSTRAINT" && !slices.ContainsFunc(s.Names, func(id syntax.Ident) bool { return !strings.Contains(id.Value, noKey) }):
			return true
		case whole && s.Other == "DROP CONSTRAINT":
			b.dropUnnamed(s)
			return true
		case whole && s.Add != nil && addsKnown(s.Add):
			return false
		}
	}
	if b.defines(s) {
		b.unread("what this text changes is not known")
	}
	return true
}

// addsKnown reports whether an ADD is of constraints of which at most the name or the value isn't known.
func addsKnown(def *syntax.TableDef) bool {
	for i := range def.Constraints {
		k := &def.Constraints[i]
		if k.For != nil && HasHole(k.For.Value) ||
			slices.ContainsFunc(k.Columns, func(c syntax.IndexColumn) bool { return HasHole(c.Name.Value) }) {
			return false
		}
	}
	return len(def.Columns)+len(def.Indexes) == 0
}

// dropUnnamed drops a constraint whose name isn't known. It may be that of any key, unless it was looked up among
// constraints that are none: then all rows might have the same values from now on.
//
//	EXEC ('ALTER TABLE dbo.orders DROP CONSTRAINT ' + @name)
func (b *builder) dropUnnamed(s *syntax.AlterTable) {
	e := b.edit(s.Name, false)
	if e == nil || !slices.ContainsFunc(s.Names, func(id syntax.Ident) bool { return strings.Contains(id.Value, Hole) }) {
		return
	}
	for _, k := range e.t.Keys {
		e.t.Indexes = slices.DeleteFunc(e.t.Indexes, func(i Index) bool { return i.Name == "" && slices.Equal(i.Columns, k.Columns) })
	}
	e.t.Keys, e.t.disabled = nil, nil
}

// callsChange notes that a procedure of the scripts is called which changes definitions.
func (b *builder) callsChange(s *syntax.Exec) {
	name, err := b.c.Resolve(s.Name)
	if err != nil {
		return
	}
	proc := b.c.Procedure(name)
	if proc == nil {
		return
	}
	changes, known := b.changing[proc]
	if !known {
		changes = b.changes(proc, map[*Procedure]bool{})
		b.changing[proc] = changes
	}
	if changes {
		b.unread("the procedure " + proc.Name.String() + " changes what the scripts define")
	}
}

// changes reports whether a procedure, or one that it calls, changes a definition: by a statement, or by a text that
// has the words for it. Temp tables are its own.
func (b *builder) changes(proc *Procedure, seen map[*Procedure]bool) bool {
	if seen[proc] {
		return false
	}
	seen[proc] = true
	found := false
	for _, s := range proc.Def.Body {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Literal:
				text := n.Kind == syntax.StringLiteral || n.Kind == syntax.NStringLiteral
				found = found || text && defining.MatchString(n.Value)
			case *syntax.Exec:
				found = found || b.changesByCall(n, seen)
			case syntax.Stmt:
				found = found || isDefinition(n) && !isTemporary(n)
			}
			return !found
		})
	}
	return found
}

// changesByCall is changes for a call in a procedure.
func (b *builder) changesByCall(s *syntax.Exec, seen map[*Procedure]bool) bool {
	if s.Name == nil {
		return false
	}
	if renames(s) {
		return true
	}
	name, err := b.c.Resolve(s.Name)
	if err != nil {
		return false
	}
	callee := b.c.Procedure(name)
	return callee != nil && b.changes(callee, seen)
}

// isTemporary reports whether a definition is of temp tables only.
func isTemporary(s syntax.Stmt) bool {
	switch s := s.(type) {
	case *syntax.CreateTable:
		return s.Name.IsTemp()
	case *syntax.AlterTable:
		return s.Name.IsTemp()
	case *syntax.CreateIndex:
		return s.Table.IsTemp()
	case *syntax.Drop:
		if s.On != nil {
			return s.On.IsTemp()
		}
		// DROP INDEX #t.i has its table in front.
		return !slices.ContainsFunc(s.Names, func(n *syntax.ObjectName) bool { return !n.IsTemp() && !strings.HasPrefix(n.Parts[0].Value, "#") })
	}
	return false
}

// live leaves those texts that define what is there in the end, and those that can't be read.
func (b *builder) live() {
	there := map[*diag.File]bool{}
	for _, o := range b.c.Order {
		there[o.Where().File] = true
	}
	for _, t := range b.c.Triggers {
		there[t.File] = true
	}
	b.c.Texts = slices.DeleteFunc(b.c.Texts, func(s *syntax.Script) bool {
		return !there[s.File] && !slices.ContainsFunc(s.Batches, func(batch *syntax.Batch) bool { return len(batch.Stmts) == 0 })
	})
}
