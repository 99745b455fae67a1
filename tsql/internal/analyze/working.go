package analyze

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// working holds the tables that a procedure makes for itself in the database, and that no script defines. Its
// statements see them as it made them; others don't know them.
//
//	IF OBJECT_ID('dbo.work') IS NOT NULL DROP TABLE dbo.work;
//	CREATE TABLE dbo.work (id int NOT NULL);
type working struct {
	tables map[string]*catalog.Table // by the key of their name
	// makes reports whether a table is as the procedure makes it from the present statement on.
	makes func(name catalog.Name) bool
}

// workingTable returns a working table; nil if there is none of that name.
func (e *env) workingTable(name catalog.Name) *catalog.Table {
	if e.working == nil {
		return nil
	}
	return e.working.tables[name.Key()]
}

// makes reports whether a table is as the statement that is being followed makes it. A statement that need not be
// executed makes it certain if no procedure makes the table in another way: it is then as that says, or missing, which
// is an error.
func (w *walker) makes(name catalog.Name) bool {
	if w.jumps || w.body.module != inProcedure || w.cat.Lookup(name) != nil {
		return false
	}
	return w.nested == 0 || len(w.makersOf(name)) == 1
}

// workingName resolves the name of a table that a statement makes or drops. Without a schema it is in that of the user
// who calls, which is taken for the default one.
func (w *walker) workingName(n *syntax.ObjectName) (catalog.Name, bool) {
	name, err := w.cat.Resolve(n)
	if err != nil || n.IsTemp() {
		return name, false
	}
	return name, len(n.Parts) > 1 || w.e.schema == "" || same(w.e.schema, w.cat.DefaultSchema)
}

// createWorking makes the table of a CREATE TABLE known, and reports whether that is all there is to say. A table of
// the scripts is there already, unless a procedure drops it: then it must be made as it was.
func (w *walker) createWorking(s *syntax.CreateTable) bool {
	name, ok := w.workingName(s.Name)
	switch {
	case !ok:
		return false
	case w.cat.Table(name) == nil && !w.makes(name), w.body.module != inProcedure:
		return false
	}
	table, found := w.cat.TableFromDef(w.e.file, name, s.Def)
	if known := w.cat.Table(name); known != nil {
		return w.nested > 0 && !w.dropped(name) || restores(table, known)
	}
	*w.a.found = append(*w.a.found, found...)
	w.a.computeColumns(table)
	w.e.working.tables[name.Key()] = table
	return true
}

// alterWorking follows ALTER TABLE of a working table, and reports whether it is one.
func (w *walker) alterWorking(s *syntax.AlterTable) bool {
	name, ok := w.workingName(s.Name)
	table := w.e.workingTable(name)
	if !ok || table == nil || w.nested > 0 {
		return false
	}
	after, found := w.cat.Altered(w.e.file, table, s)
	*w.a.found = append(*w.a.found, found...)
	w.a.computeColumns(after)
	w.e.working.tables[name.Key()] = after
	return true
}

// restores reports whether a table that is made again is what the scripts define: no reader sees a difference.
func restores(made, known *catalog.Table) bool {
	alike := slices.EqualFunc(made.Columns, known.Columns, func(m, k catalog.Column) bool {
		return same(m.Name, k.Name) && m.Type == k.Type && (k.Nullable || !m.Nullable) && m.Identity == k.Identity && !m.Computed && !k.Computed
	})
	return alike && keepsKeys(made, known)
}

// alterKeeps reports whether ALTER TABLE leaves all that is known of a table of the scripts: constraints that are no
// keys come and go, keys come.
func (w *walker) alterKeeps(s *syntax.AlterTable) bool {
	name, ok := w.workingName(s.Name)
	table := w.cat.Table(name)
	if !ok || table == nil || w.body.module != inProcedure || s.Add == nil && s.Other != "DROP CONSTRAINT" && s.Other != "SET" {
		return false
	}
	after, found := w.cat.Altered(w.e.file, table, s)
	return len(found) == 0 && keepsKeys(after, table) && slices.EqualFunc(after.Columns, table.Columns, func(x, y catalog.Column) bool {
		return x.Name == y.Name && x.Type == y.Type && x.Nullable == y.Nullable && x.Identity == y.Identity && x.Expr == y.Expr &&
			x.Generated == y.Generated && x.Hidden == y.Hidden && x.HasDefault == y.HasDefault
	})
}

// keepsKeys reports whether a table has all keys that another one has.
func keepsKeys(made, known *catalog.Table) bool {
	return !slices.ContainsFunc(known.Keys, func(k catalog.Key) bool {
		return !slices.ContainsFunc(made.Keys, func(m catalog.Key) bool { return slices.EqualFunc(m.Columns, k.Columns, strings.EqualFold) })
	})
}

// dropWorking follows DROP of what no script defines, and reports whether it is about nothing else: it changes nothing
// that is known here. A working table that is dropped in one branch only stays known, as a temp table does.
func (w *walker) dropWorking(s *syntax.Drop) bool {
	if s.On != nil || s.Kind == "INDEX" || slices.ContainsFunc(s.Names, func(n *syntax.ObjectName) bool { return !w.dropsUnknown(s.Kind, n) }) {
		return false
	}
	for _, n := range s.Names {
		if name, _ := w.workingName(n); w.nested == 0 && s.Kind == "TABLE" && w.e.working != nil {
			delete(w.e.working.tables, name.Key())
		}
	}
	return true
}

// dropsUnknown reports whether a name of DROP is none of the scripts, or a table that a procedure makes again.
func (w *walker) dropsUnknown(kind string, n *syntax.ObjectName) bool {
	name, ok := w.workingName(n)
	switch {
	case !ok:
		return false
	case kind == "TYPE":
		return w.cat.TableTypes[name.Key()] == nil && w.cat.AliasTypes[name.Key()] == nil
	case kind == "TRIGGER":
		return !slices.ContainsFunc(w.cat.Triggers, func(t *catalog.Trigger) bool { return t.Name.Key() == name.Key() })
	case kind == "TABLE" && w.cat.Table(name) != nil:
		return w.body.module == inProcedure && len(w.makersOf(name)) > 0
	case kind == "TABLE", kind == "VIEW", kind == "PROCEDURE", kind == "FUNCTION":
		return w.cat.Lookup(name) == nil
	default:
		return false
	}
}

// dropped reports whether a procedure drops a table.
func (p *program) dropped(name catalog.Name) bool {
	p.makersOf(name)
	return p.drops[name.Key()]
}

// makersOf returns the texts of the statements of all procedures that make a table, or change one that is there.
func (p *program) makersOf(name catalog.Name) map[string]bool {
	if p.makers == nil {
		p.makers, p.drops = map[string]map[string]bool{}, map[string]bool{}
		for _, proc := range p.cat.Procedures {
			for _, s := range proc.Def.Body {
				syntax.Walk(s, func(n syntax.Node) bool {
					p.noteMaker(proc, n)
					return true
				})
			}
		}
	}
	return p.makers[name.Key()]
}

// noteMaker notes a statement that makes or changes a table. Two CREATE TABLE with one text make the same table; what
// SELECT … INTO makes depends on more than its text.
func (p *program) noteMaker(proc *catalog.Procedure, n syntax.Node) {
	var target *syntax.ObjectName
	text := ""
	switch n := n.(type) {
	case *syntax.Drop:
		for _, dropped := range n.Names {
			if name, err := p.cat.Resolve(dropped); err == nil && n.Kind == "TABLE" {
				p.drops[name.Key()] = true
			}
		}
	case *syntax.CreateTable:
		target, text = n.Name, strings.ToLower(strings.Join(strings.Fields(withoutComments(proc.File.Slice(n.Def.Span))), ""))
	case *syntax.Select:
		target, text = n.Into, proc.Name.Key()+proc.File.Slice(n.Span)
	case *syntax.AlterTable:
		target, text = n.Name, proc.Name.Key()+proc.File.Slice(n.Span)
	}
	if target == nil || target.IsTemp() {
		return
	}
	if name, err := p.cat.Resolve(target); err == nil {
		if p.makers[name.Key()] == nil {
			p.makers[name.Key()] = map[string]bool{}
		}
		p.makers[name.Key()][text] = true
	}
}
