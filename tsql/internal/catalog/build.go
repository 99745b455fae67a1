package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
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
// first branch that defines something counts. A loop is taken as executed once. Text that is executed counts like
// statements, as far as it is known; what isn't known is in [Catalog.Unread]. Temporary objects are left out: they last
// no longer than the script's session. Alias types may be used in files before that of their definition: projects of
// Visual Studio, whose build finds the order by itself, keep them behind the tables.
func Build(scripts []*syntax.Script, options Options) (*Catalog, diag.List) {
	if options.DefaultSchema == "" {
		options.DefaultSchema = "dbo"
	}
	b := &builder{c: newCatalog(options.DefaultSchema), definitions: map[string]definition{}, defaults: map[string]bool{}, changing: map[*Procedure]bool{}}
	b.laterTypes(scripts)
	for _, script := range scripts {
		b.script, b.off = script, nil
		maps.DeleteFunc(b.c.later, func(_ string, a *AliasType) bool { return a.File == script.File })
		for _, batch := range script.Batches {
			b.batch, b.known = batch, NewKnown(b.c)
			b.stmts(batch.Stmts)
		}
	}
	b.live()
	b.bindDefaults()
	b.addHistories()
	b.resolveParams()
	b.found.Sort()
	return b.c, b.found
}

// newCatalog returns an empty catalog.
// The maps are never nil, so that a module may be entered without asking.
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
		FullText:      map[string]string{},
		Unread:        map[*syntax.Exec]string{},
		renamed:       map[string]Name{},
		later:         map[string]*AliasType{},
	}
}

// builder walks over scripts. Modules are only entered, not looked into: what their bodies do happens when they are
// called.
type builder struct {
	c       *Catalog
	script  *syntax.Script // the script, the batch and the statement that are being read
	batch   *syntax.Batch
	known   *Known            // the variables of the batch
	outer   *syntax.Exec      // the outermost EXEC that is being followed; nil if there is none
	guard   syntax.Stmt       // the outermost IF or WHILE around the statement; nil if there is none
	guardIn *syntax.Script    // where that stands: around the EXEC of a text, in another script than the text is
	off     *syntax.SetOption // what keeps the statement from running; nil if nothing does
	// histories are the history tables that scripts name, in the order in which they do.
	histories []history
	step      int // the number of the statement, in the order of all scripts
	// definitions has each name of a table, view or function, by its key.
	definitions map[string]definition
	defaults    map[string]bool     // the alias types and columns that a default is bound to, by their key
	changing    map[*Procedure]bool // whether procedures that were called change definitions
	found       diag.List
}

// fail reports what is wrong in the script that is being read.
// Findings about what is resolved after the scripts were left name their file themselves.
func (b *builder) fail(at diag.Span, fix, format string, args ...any) {
	b.found.Add(b.script.File, at, ruleCatalog, fix, format, args...)
}

// stmts applies statements in their order.
func (b *builder) stmts(list []syntax.Stmt) {
	for _, s := range list {
		b.stmt(s)
	}
}

// stmt applies a statement outside of modules. What it doesn't list leaves the catalog as it is: data, permissions,
// settings. Package analyze checks those that have types to check.
func (b *builder) stmt(s syntax.Stmt) {
	b.step++
	b.checkRuns(s)
	if b.outer != nil && b.gap(s) {
		return
	}
	switch s := s.(type) {
	case *syntax.SetOption:
		b.switchOff(s)
	case *syntax.If:
		b.conditional(s)
	case *syntax.While:
		b.known.Forget(s)
		b.guarded(s, s.Body)
		b.known.Forget(s)
	case *syntax.Block:
		b.stmts(s.Stmts)
	case *syntax.TryCatch:
		// CATCH is for what went wrong, which nothing does here.
		b.stmts(s.Try)
		for _, c := range s.Catch {
			b.known.Forget(c)
		}
	case *syntax.Label:
		b.known.forgetAll()
	case *syntax.Exec:
		b.exec(s)
		b.known.Forget(s)
	case *syntax.Insert:
		if s.Exec != nil {
			b.exec(s.Exec)
		}
	case *syntax.Other:
		b.other(s)
	default:
		b.definition(s)
		b.known.Follow(s)
	}
}

// definition applies CREATE, ALTER and DROP.
func (b *builder) definition(s syntax.Stmt) {
	switch s := s.(type) {
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
	case *syntax.CreateTrigger:
		b.createTrigger(s)
	case *syntax.CreateSequence:
		b.createSequence(s)
	case *syntax.CreateSynonym:
		b.createSynonym(s)
	case *syntax.Drop:
		b.drop(s)
	}
}

// other applies what the syntax knows by its leading words.
func (b *builder) other(s *syntax.Other) {
	switch detail := s.Detail.(type) {
	case *syntax.AlterIndex:
		b.alterIndex(detail)
	case *syntax.SpecialIndex:
		if e := b.edit(detail.Table, true); e != nil {
			e.t.special = append(e.t.special, Fold(detail.Name.Value))
		}
	case *syntax.FullTextIndex:
		if table, err := b.c.Resolve(detail.Table); err == nil {
			b.c.FullText[table.Key()] = detail.Key.Value
		}
	case *syntax.SwitchTrigger:
		b.switchTrigger(detail)
	case *syntax.AlterSchema:
		b.transfer(detail)
	}
}

// conditional takes the branch that defines something as executed: the scripts run against an empty database, in which
// IF OBJECT_ID(N'dbo.t') IS NULL holds. Conditions aren't evaluated; their forms are too many.
func (b *builder) conditional(s *syntax.If) {
	// IF OBJECT_ID(…) IS NOT NULL PRINT 'there' ELSE CREATE TABLE … defines in its second branch.
	first := s.Else == nil || b.defines(s.Then)
	if first || !b.defines(s.Else) {
		b.guarded(s, s.Then)
	}
	if !first {
		b.guarded(s, s.Else)
	}
	b.known.Forget(s)
}

// guarded applies a statement that is executed or not. The outermost IF stays the guard: its comment is the one that
// describes what is inside.
func (b *builder) guarded(guard, s syntax.Stmt) {
	outer := b.guard
	if outer == nil {
		b.guard, b.guardIn = guard, b.script
	}
	b.stmt(s)
	b.guard = outer
}

// defines reports whether a statement contains one that changes the catalog, or a text that would do so if it is
// executed.
func (b *builder) defines(s syntax.Stmt) bool {
	found, executes := false, false
	var texts []string
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Exec:
			found = found || renames(n)
			if x := Executed(n); x != nil {
				executes = true
				texts = append(texts, b.known.Text(x))
			}
		case *syntax.Literal:
			texts = append(texts, n.Value)
		case syntax.Stmt:
			found = found || isDefinition(n)
		}
		return !found
	})
	return found || executes && slices.ContainsFunc(texts, defining.MatchString)
}

// isDefinition reports whether a statement is one that changes the catalog.
func isDefinition(s syntax.Stmt) bool {
	switch s := s.(type) {
	case *syntax.CreateTable, *syntax.AlterTable, *syntax.CreateIndex, *syntax.CreateType, *syntax.CreateView,
		*syntax.CreateFunction, *syntax.CreateProcedure, *syntax.CreateSequence, *syntax.CreateSynonym, *syntax.Drop:
		return true
	case *syntax.Other:
		_, transfers := s.Detail.(*syntax.AlterSchema)
		return transfers
	}
	return false
}

// resolve returns the full name of what a statement defines or changes. It is false for temporary objects and for names
// that are refused, which it reports: those of other databases, and sys and INFORMATION_SCHEMA, where nobody creates.
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
// The syntax keeps them as two flags, one of which is set at most.
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
	// First of all, because it is wrong under a condition too: on a server whose collation tells case apart these
	// are two
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
