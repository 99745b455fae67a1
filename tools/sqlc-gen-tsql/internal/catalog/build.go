package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/syntax"
)

// ruleCatalog is the id of every finding of this package.
const ruleCatalog = "catalog"

// Options are the choices of a configuration.
type Options struct {
	DefaultSchema string // "dbo" if empty
}

// Build collects what scripts define. They are read in the given order as if they were run once, against an empty
// database: ALTER and DROP apply to what came before them. Parameters of procedures and functions are resolved last, so
// that a table type may be defined in a later script than the procedures that take it.
//
// Conditional definitions outside of modules, IF OBJECT_ID(…) IS NULL CREATE TABLE … or IF NOT EXISTS (…) BEGIN … END,
// are taken as executed unless what they define exists already, or what they drop or alter does not; of IF … ELSE, the
// first branch that defines something counts. Loops and dynamic SQL are not looked into, and sp_rename is refused.
// Temporary objects are left out: they last no longer than the script's session.
//
// The sets of directives are those of the scripts; no directive changes what is defined so far.
func Build(scripts []*syntax.Script, _ []*directive.Set, options Options) (*Catalog, diag.List) {
	if options.DefaultSchema == "" {
		options.DefaultSchema = "dbo"
	}
	b := &builder{c: newCatalog(options.DefaultSchema)}
	for _, script := range scripts {
		b.script = script
		for _, batch := range script.Batches {
			b.batch = batch
			b.stmts(batch.Stmts)
		}
	}
	b.resolveParams()
	b.found.Sort()
	return b.c, b.found
}

// newCatalog returns an empty catalog.
func newCatalog(schema string) *Catalog {
	return &Catalog{
		DefaultSchema: schema,
		Tables:        map[string]*Table{},
		TableTypes:    map[string]*Table{},
		AliasTypes:    map[string]*AliasType{},
		Views:         map[string]*View{},
		Functions:     map[string]*Function{},
		Procedures:    map[string]*Procedure{},
		Sequences:     map[string]*Sequence{},
		Synonyms:      map[string]*Synonym{},
	}
}

// builder walks over scripts. Where it is: script, batch, and guard, the outermost IF around the statement.
type builder struct {
	c      *Catalog
	script *syntax.Script
	batch  *syntax.Batch
	guard  *syntax.If
	found  diag.List
}

// fail reports what is wrong in the script that is being read.
func (b *builder) fail(at diag.Span, fix, format string, args ...any) {
	b.found.Add(b.script.File, at, ruleCatalog, fix, format, args...)
}

// stmts applies statements in their order.
func (b *builder) stmts(list []syntax.Stmt) {
	for _, s := range list {
		b.stmt(s)
	}
}

// stmt applies a statement outside of modules.
func (b *builder) stmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.If:
		b.conditional(s)
	case *syntax.Block:
		b.stmts(s.Stmts)
	case *syntax.TryCatch:
		// CATCH is for what went wrong, which nothing does here.
		b.stmts(s.Try)
	case *syntax.CreateTable:
		b.createTable(s)
	case *syntax.AlterTable:
		b.alterTable(s)
	case *syntax.CreateIndex:
		b.createIndex(s)
	case *syntax.CreateType:
		b.createType(s)
	case *syntax.CreateView:
		b.createView(s)
	case *syntax.CreateFunction:
		b.createFunction(s)
	case *syntax.CreateProcedure:
		b.createProcedure(s)
	case *syntax.CreateSequence:
		b.createSequence(s)
	case *syntax.CreateSynonym:
		b.createSynonym(s)
	case *syntax.Drop:
		b.drop(s)
	case *syntax.Exec:
		b.exec(s)
	}
}

// conditional takes the branch that defines something as executed.
func (b *builder) conditional(s *syntax.If) {
	// The outermost IF stays the guard: its comment is the one that describes what is inside.
	outer := b.guard
	if outer == nil {
		b.guard = s
	}
	branch := s.Then
	if s.Else != nil && !defines(s.Then) {
		branch = s.Else
	}
	b.stmt(branch)
	b.guard = outer
}

// defines reports whether a statement contains one that changes the catalog.
func defines(s syntax.Stmt) bool {
	found := false
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CreateTable, *syntax.AlterTable, *syntax.CreateIndex, *syntax.CreateType, *syntax.CreateView,
			*syntax.CreateFunction, *syntax.CreateProcedure, *syntax.CreateSequence, *syntax.CreateSynonym, *syntax.Drop:
			found = true
		}
		return !found
	})
	return found
}

// exec refuses the one procedure that changes what scripts define behind their back.
func (b *builder) exec(s *syntax.Exec) {
	if s.Name == nil {
		return
	}
	if last := s.Name.Parts[len(s.Name.Parts)-1]; Fold(last.Value) == "sp_rename" {
		b.fail(s.Name.Span, "write the definitions with the new name", "sp_rename is not followed: the old name would stay in use")
	}
}

// resolve returns the full name of what a statement defines or changes. It is false for temporary objects and for names
// that are refused, which it reports.
func (b *builder) resolve(name *syntax.ObjectName) (Name, bool) {
	n, err := b.c.Resolve(name)
	if err != nil {
		b.fail(name.Span, "", "%v", err)
		return n, false
	}
	if n.IsSystem() {
		b.fail(name.Span, "choose another schema", "the schema %s belongs to the server", n.Schema)
		return n, false
	}
	return n, !strings.HasPrefix(n.Name, "#")
}

// place returns where an object of that name is defined.
func (b *builder) place(name *syntax.ObjectName) Place {
	return Place{File: b.script.File, Span: name.Span}
}

// replace says what a definition does with an object of the same name.
type replace int

const (
	create        replace = iota // CREATE: there must be none
	createOrAlter                // CREATE OR ALTER: it must be of the same sort
	alter                        // ALTER: likewise; one that is not known was made by dynamic SQL
)

// form returns the form of a module's definition.
func form(orAlter, alters bool) replace {
	switch {
	case orAlter:
		return createOrAlter
	case alters:
		return alter
	default:
		return create
	}
}

// free makes the name of a new object free, and reports whether that was possible. Types have names of their own, apart
// from those of other objects.
func (b *builder) free(o Object, how replace) bool {
	name, at := o.ObjectName(), o.Where().Span
	old := b.c.object(name)
	if isType(o) {
		old = b.c.typeObject(name)
	}
	if old == nil {
		return true
	}
	was, sort := old.ObjectName(), sortOf(old)
	same := sort == sortOf(o)
	switch {
	// First of all, because it is wrong under a condition too: on a server whose collation tells case apart these are two
	// objects, and on others one.
	case was != name:
		b.fail(at, "write "+was.String()+" in all places",
			"%s differs only in case from %s %s, defined at %s", name, sort, was, position(old))
	case how != create && same:
		// The replacement stands where it is written, since what comes between may matter to it.
		b.c.remove(old)
		return true
	case b.guard != nil && same:
		// IF OBJECT_ID(…) IS NULL: the server would skip the statement, and the first definition stays.
	case how != create:
		b.fail(at, "", "%s is %s, defined at %s", name, sort, position(old))
	default:
		b.fail(at, "remove one of them", "%s is defined twice: it is %s, defined at %s", name, sort, position(old))
	}
	return false
}

// position returns "file:line" of an object.
func position(o Object) string {
	at := o.Where()
	if at.File == nil {
		return "the server"
	}
	line, _ := at.File.Position(at.Span.From)
	return fmt.Sprintf("%s:%d", at.File.Name, line)
}

// isType reports whether an object is a type.
func isType(o Object) bool {
	t, table := o.(*Table)
	_, alias := o.(*AliasType)
	return alias || table && t.Type
}

// sortOf names the sort of an object, with an article.
func sortOf(o Object) string {
	switch o := o.(type) {
	case *Table:
		if o.Type {
			return "a table type"
		}
		return "a table"
	case *AliasType:
		return "an alias type"
	case *View:
		return "a view"
	case *Function:
		return "a function"
	case *Procedure:
		return "a procedure"
	case *Sequence:
		return "a sequence"
	case *Synonym:
		return "a synonym"
	default:
		return "an object"
	}
}

// add enters an object.
func (c *Catalog) add(o Object) {
	key := o.ObjectName().Key()
	c.Order = append(c.Order, o)
	switch o := o.(type) {
	case *Table:
		if o.Type {
			c.TableTypes[key] = o
		} else {
			c.Tables[key] = o
		}
	case *AliasType:
		c.AliasTypes[key] = o
	case *View:
		c.Views[key] = o
	case *Function:
		c.Functions[key] = o
	case *Procedure:
		c.Procedures[key] = o
	case *Sequence:
		c.Sequences[key] = o
	case *Synonym:
		c.Synonyms[key] = o
	}
}

// remove takes an object out.
func (c *Catalog) remove(o Object) {
	key := o.ObjectName().Key()
	c.Order = slices.DeleteFunc(c.Order, func(other Object) bool { return other == o })
	switch o := o.(type) {
	case *Table:
		if o.Type {
			delete(c.TableTypes, key)
		} else {
			delete(c.Tables, key)
		}
	case *AliasType:
		delete(c.AliasTypes, key)
	case *View:
		delete(c.Views, key)
	case *Function:
		delete(c.Functions, key)
	case *Procedure:
		delete(c.Procedures, key)
	case *Sequence:
		delete(c.Sequences, key)
	case *Synonym:
		delete(c.Synonyms, key)
	}
}
